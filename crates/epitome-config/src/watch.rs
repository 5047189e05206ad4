//! Notices that a configuration has changed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use crate::load::Loaded;
use crate::problem::ConfigError;
use crate::read;
use crate::sources::Sources;

/// Notices that a configuration has changed, when asked. There is no thread inside and no clock: whoever owns it asks
/// as often as it likes, once a second say.
///
/// A change counts once two questions in a row saw the same, so that a file which is just being written, or is away
/// for a moment because another one takes its place, is not read in that state. A file that is wrong gives its errors
/// once, and what was loaded before stays right until it is mended.
///
/// The key files of tenants belong to it: a key that is taken out of one is withdrawn, though no setting is another one.
///
/// ```
/// use epitome_config::{Sources, Watch};
///
/// let sources = Sources::default();
/// let mut watch = Watch::new(sources.clone());
/// let mut loaded = sources.load()?;
/// match watch.poll() {
///     Some(Ok(changed)) => loaded = changed,
///     Some(Err(error)) => eprintln!("{error}\nthe configuration stays as it was"),
///     None => {}
/// }
/// # Ok::<(), epitome_config::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Watch {
    sources: Sources,
    /// The files with keys that the configuration named when it was loaded last.
    key_files: Vec<PathBuf>,
    known: Vec<Seen>,
    changing: Option<Vec<Seen>>,
}

/// A file and a digest of what is in it, or of why it cannot be read.
type Seen = (PathBuf, u64);

impl Watch {
    /// Watches the files of a configuration. Made before the configuration is loaded, it misses nothing.
    #[must_use]
    pub fn new(sources: Sources) -> Self {
        let mut known = look(&sources);
        let key_files = sources
            .load()
            .map_or_else(|_| Vec::new(), |loaded| key_files(&loaded));
        known.extend(key_files.iter().cloned().map(seen));
        Self {
            sources,
            key_files,
            known,
            changing: None,
        }
    }

    /// The configuration, if it is another one than before and has settled.
    pub fn poll(&mut self) -> Option<Result<Loaded, ConfigError>> {
        let mut now = look(&self.sources);
        let files = now.len();
        now.extend(self.key_files.iter().cloned().map(seen));
        if now == self.known {
            self.changing = None;
            return None;
        }
        if self.changing.as_ref() != Some(&now) {
            self.changing = Some(now);
            return None;
        }
        self.changing = None;
        self.known = now;
        let loaded = self.sources.load();
        if let Ok(loaded) = &loaded {
            self.key_files = key_files(loaded);
            self.known.truncate(files);
            self.known.extend(self.key_files.iter().cloned().map(seen));
        }
        Some(loaded)
    }
}

fn key_files(loaded: &Loaded) -> Vec<PathBuf> {
    let tenants = loaded.tenants.values();
    tenants
        .filter_map(|tenant| tenant.key_file.clone())
        .collect()
}

fn seen(path: PathBuf) -> Seen {
    let mut hasher = DefaultHasher::new();
    read::text(&path).hash(&mut hasher);
    (path, hasher.finish())
}

fn look(sources: &Sources) -> Vec<Seen> {
    // Trust comes and goes without the file that is trusted.
    let list = sources.trusted().map(ToOwned::to_owned);
    let files = sources.paths().into_iter().chain(list);
    files.map(seen).collect()
}
