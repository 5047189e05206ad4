//! Where a configuration is looked for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use epitome::settings::Value;

/// The name of the file.
pub const FILE_NAME: &str = "epitome.toml";

/// The name of the list of trusted files, beside the user's own configuration.
pub const TRUSTED_NAME: &str = "trusted.jsonl";

/// Everything a configuration is made of. *Input*: [`Sources::of_process`], or the fields. *Output*: [`Sources::load`].
///
/// ```
/// use epitome_config::{Files, Flag, Sources};
/// use epitome::settings::Value;
///
/// let sources = Sources {
///     files: Files::None,
///     variables: vec![("EPITOME_PRESET".to_owned(), "vibe".to_owned())],
///     flags: vec![Flag::new("--window", "window", Value::Whole(32_000))],
/// };
/// let loaded = sources.load()?;
/// let resolved = loaded.for_agent(None).for_model("gpt-5");
/// assert_eq!(resolved.settings.preset(), Some(epitome::PresetName::Vibe));
/// assert_eq!(resolved.window.tokens, 32_000);
/// assert_eq!(loaded.value("window").unwrap().origin.to_string(), "--window");
/// # Ok::<(), epitome_config::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct Sources {
    /// Which files.
    pub files: Files,
    /// The environment; what does not begin with `EPITOME_` is not looked at.
    pub variables: Vec<(String, String)>,
    /// What the command line says.
    pub flags: Vec<Flag>,
}

/// Which files are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// No file at all.
    #[default]
    None,
    /// This one, which has to be there.
    Named(PathBuf),
    /// Those that are there of: the system's, the user's, and the nearest to a folder, upwards.
    Searched {
        /// The system's file.
        system: Option<PathBuf>,
        /// The user's file.
        user: Option<PathBuf>,
        /// The folder in which the search for the project's file begins.
        folder: Option<PathBuf>,
        /// The list of projects that the user trusts: [`Trusted`](crate::Trusted).
        trusted: Option<PathBuf>,
    },
}

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user's, or the system's.
    User,
    /// Of whoever wrote the folder it was found in.
    Folder,
}

/// A value that the command line gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// The flag, with its dashes.
    pub name: String,
    /// The setting: `window`, `server.listen`.
    pub path: String,
    /// The value.
    pub value: Value,
}

impl Flag {
    /// A flag and what it sets.
    #[must_use]
    pub fn new(name: &str, path: &str, value: Value) -> Self {
        Self {
            name: name.to_owned(),
            path: path.to_owned(),
            value,
        }
    }
}

impl Sources {
    /// The usual places: the file that the command line names, else the one that `EPITOME_CONFIG` names, else
    /// `/etc/epitome/epitome.toml`, then `epitome/epitome.toml` in `XDG_CONFIG_HOME` or `~/.config`, then the nearest
    /// `epitome.toml` in the working folder or above it.
    #[must_use]
    pub fn of_process(
        named: Option<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        working_folder: Option<PathBuf>,
    ) -> Self {
        let environment: Vec<(OsString, OsString)> = environment.into_iter().collect();
        let variable = |name: &str| {
            let found = environment.iter().find(|(key, _)| key == name);
            found
                .map(|(_, value)| PathBuf::from(value))
                .filter(|path| !path.as_os_str().is_empty())
        };
        let named = named.or_else(|| variable("EPITOME_CONFIG"));
        let folder = variable("XDG_CONFIG_HOME")
            .filter(|folder| folder.is_absolute())
            .or_else(|| Some(variable("HOME")?.join(".config")));
        let files = match named {
            Some(file) => Files::Named(file),
            None => Files::Searched {
                system: Some(Path::new("/etc/epitome").join(FILE_NAME)),
                user: folder
                    .as_ref()
                    .map(|folder| folder.join("epitome").join(FILE_NAME)),
                trusted: folder.map(|folder| folder.join("epitome").join(TRUSTED_NAME)),
                folder: working_folder,
            },
        };
        let ours = environment.iter().filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| name.starts_with("EPITOME_"))?;
            Some((name.to_owned(), value.to_string_lossy().into_owned()))
        });
        Self {
            files,
            variables: ours.collect(),
            flags: Vec::new(),
        }
    }

    /// The files that are there now, the lowest layer first. A file that is named is listed whether it is there or not.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.found().into_iter().map(|(path, _)| path).collect()
    }

    /// The files that are there now, and whose each is.
    pub(crate) fn found(&self) -> Vec<(PathBuf, Owner)> {
        match &self.files {
            Files::None => Vec::new(),
            Files::Named(file) => vec![(file.clone(), Owner::User)],
            Files::Searched {
                system,
                user,
                folder,
                ..
            } => {
                let fixed = [system, user].into_iter().flatten();
                let fixed: Vec<PathBuf> = fixed.cloned().filter_map(is_there).collect();
                let mut ancestors = folder.iter().flat_map(|folder| folder.ancestors());
                let project = ancestors
                    .find_map(|folder| is_there(folder.join(FILE_NAME)))
                    // The user's own file may lie above the working folder, by this name or another one.
                    .filter(|project| !fixed.iter().any(|own| is_same(own, project)));
                let fixed = fixed.into_iter().map(|path| (path, Owner::User));
                fixed
                    .chain(project.map(|path| (path, Owner::Folder)))
                    .collect()
            }
        }
    }

    /// The list of trusted projects, where projects are looked for.
    #[must_use]
    pub fn trusted(&self) -> Option<&Path> {
        match &self.files {
            Files::Searched { trusted, .. } => trusted.as_deref(),
            Files::None | Files::Named(_) => None,
        }
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Variables may hold what nobody should see.
impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.variables.iter().map(|(name, _)| name).collect();
        let flags: Vec<&String> = self.flags.iter().map(|flag| &flag.name).collect();
        f.debug_struct("Sources")
            .field("files", &self.files)
            .field("variables", &names)
            .field("flags", &flags)
            .finish()
    }
}

/// Not `exists`: a link that leads nowhere is there, and is a problem. What lies in a folder that may not be entered,
/// such as another user's home, is not for this process.
fn is_there(path: PathBuf) -> Option<PathBuf> {
    path.symlink_metadata().is_ok().then_some(path)
}
