//! Whose configuration is heard: a file found in a folder belongs to whoever wrote that folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::item::{Item, Setting};
use crate::layers::Layer;
use crate::origin::Origin;
use crate::problem::{Problem, ProblemKind};
use crate::read;
use crate::row::SetBy;
use crate::sources::FILE_NAME;
use crate::standing::Standing;

/// The settings of the presets that any project may set: sizes, shares, and how a design works. Not among them is what
/// decides which model reads a conversation, or what it is told.
const OF_PROJECTS: &[&str] = &[
    "window",
    "on_failure",
    "overflow_attempts",
    "wait",
    "summary_tokens",
    "summary_temperature",
    "threshold",
    "reserve_tokens",
    "prepare_share",
    "auto_compact_threshold",
    "context_warnings",
    "mode",
    "reserve_tokens_floor",
    "keep_recent_tokens",
    "max_history_share",
    "memory_flush.soft_threshold_tokens",
    "compaction_threshold_tokens",
    "protected_tail_messages",
    "compaction_enabled",
    "max_conversation_messages",
    "max_tool_result_chars",
    "summary_input_chars",
    "background_threshold",
    "aggressive_threshold",
    "emergency_threshold",
    "system_reserve",
    "output_reserve",
    "safety_buffer",
    "threshold_percent",
    "recent_messages_to_keep",
];

impl Setting {
    /// Who may set it, for whatever agent or model.
    pub(crate) fn set_by(&self) -> SetBy {
        match self {
            Self::Preset => SetBy::Project,
            Self::Key(key) if OF_PROJECTS.contains(&key.path().as_str()) => SetBy::Project,
            Self::Row(row) | Self::Hook(_, row) | Self::Tenant(_, row) => row.set_by,
            Self::Key(_) | Self::Template(_) | Self::NoHooks => SetBy::Owner,
        }
    }
}

/// The files that a user trusts, each with a digest of what it said then. *Input*: [`Trusted::read`],
/// [`Trusted::add`], [`Trusted::remove`]. *Output*: [`Trusted::standing`], [`Trusted::files`], [`Trusted::text`]:
/// whoever changes the list writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trusted(Vec<(PathBuf, String)>);

impl Trusted {
    /// The list in a file; one that is not there is empty.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(list: &Path) -> Result<Self, String> {
        match list.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(Self::default()),
            _ => {}
        }
        let text = read::text(list)?;
        let entry = |(at, line): (usize, &str)| {
            let value: Option<serde_json::Value> = serde_json::from_str(line).ok();
            let part = |name: &str| Some(value.as_ref()?.get(name)?.as_str()?.to_owned());
            let entry = part("file").map(PathBuf::from).zip(part("blake3"));
            entry.ok_or_else(|| format!("line {} is no trusted file; remove it", at + 1))
        };
        let entries: Result<Vec<_>, String> = text.lines().enumerate().map(entry).collect();
        Ok(Self(entries?))
    }

    /// The list as it is kept.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |(file, digest): &(PathBuf, String)| {
            let object = serde_json::json!({"file": file.to_string_lossy(), "blake3": digest});
            format!("{object}\n")
        };
        self.0.iter().map(line).collect()
    }

    /// The files, in the order in which they were trusted.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|(file, _)| file.as_path())
    }

    /// Trusts a file with what it says now, and tells that of it which only its owner may set, a line each.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn add(&mut self, file: &Path) -> Result<Vec<String>, String> {
        let place = place_of(file)?;
        if place.to_str().is_none() {
            return Err("its path is not UTF-8 text: such a path cannot be kept".to_owned());
        }
        let text = text_of_project(file)?;
        let layer = read::layer_of(file, &text, 0);
        self.0.retain(|(known, _)| *known != place);
        self.0.push((place, digest_of(&text)));
        let of_owner = |item: &&Item| item.setting.set_by() == SetBy::Owner;
        let owned = layer.items.iter().filter(of_owner).map(Item::entry);
        Ok(owned
            .map(|entry| format!("{} = {}", entry.path, entry.toml()))
            .collect())
    }

    /// Takes a file from the list; `false` if it was not there. The file itself may be gone.
    pub fn remove(&mut self, file: &Path) -> bool {
        let place = place_of(file).unwrap_or_else(|_| file.to_owned());
        let before = self.0.len();
        self.0.retain(|(known, _)| *known != place && known != file);
        self.0.len() < before
    }

    /// What is known of a file and the text in it.
    #[must_use]
    pub fn standing(&self, file: &Path, text: &str) -> Standing {
        let Ok(place) = place_of(file) else {
            return Standing::Unknown;
        };
        match self.0.iter().find(|(known, _)| *known == place) {
            Some((_, digest)) if *digest == digest_of(text) => Standing::Trusted,
            Some(_) => Standing::Changed,
            None => Standing::Unknown,
        }
    }
}

/// What a file found by searching sets. Unless it is trusted, what only an owner may set is left out and told.
pub(crate) fn layer(file: &Path, rank: usize, list: Option<&Path>) -> (Layer, Vec<Problem>) {
    let mut told = Vec::new();
    let trusted = match list.map_or_else(|| Ok(Trusted::default()), Trusted::read) {
        Ok(trusted) => trusted,
        Err(reason) => {
            told.extend(list.map(|list| Problem {
                origin: Origin::of_file(list),
                kind: ProblemKind::Unreadable { reason },
            }));
            Trusted::default()
        }
    };
    let text = match text_of_project(file) {
        Ok(text) => text,
        Err(reason) => return (Layer::unreadable(file, reason), told),
    };
    let mut layer = read::layer_of(file, &text, rank);
    let standing = trusted.standing(file, &text);
    if standing == Standing::Trusted {
        return (layer, told);
    }
    let mut ignored = Vec::new();
    layer.items.retain(|item| {
        let is_heard = item.setting.set_by() == SetBy::Project;
        if !is_heard {
            ignored.push(item.written.clone());
        }
        is_heard
    });
    if !ignored.is_empty() {
        told.push(Problem {
            origin: Origin::of_file(file),
            kind: ProblemKind::NotTrusted { ignored, standing },
        });
    }
    (layer, told)
}

/// The text of a project's file. A pipe would keep every command in that folder waiting.
fn text_of_project(file: &Path) -> Result<String, String> {
    match file.metadata() {
        Ok(found) if found.is_dir() => Err("it is a folder".to_owned()),
        Ok(found) if !found.is_file() => Err("it is no ordinary file".to_owned()),
        _ => read::text(file),
    }
}

/// The file by the one name that its folder has. A link in its own place is not followed: what is trusted is what this
/// folder says, and paths in it start here.
fn place_of(file: &Path) -> Result<PathBuf, String> {
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let folder = folder.canonicalize().map_err(|error| error.to_string())?;
    let name = file.file_name();
    Ok(folder.join(name.unwrap_or_else(|| FILE_NAME.as_ref())))
}

fn digest_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
