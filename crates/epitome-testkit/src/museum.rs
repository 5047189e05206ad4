//! What earlier versions wrote: databases and session files, each kind with a manifest of what must be true of it.
//!
//! `cargo xtask museum NAME` adds those of the version at hand. What has landed is never changed.

#![expect(clippy::panic, reason = "a test cannot go on without what it is about")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What one version wrote.
#[derive(Clone, Debug)]
pub struct Version {
    name: String,
    folder: PathBuf,
}

/// All versions whose files are kept, by name. There is at least one.
///
/// # Panics
/// When the folder is missing or empty.
#[must_use]
pub fn versions() -> Vec<Version> {
    let museum = Path::new(env!("CARGO_MANIFEST_DIR")).join("museum");
    let mut versions: Vec<Version> = fs::read_dir(&museum)
        .unwrap_or_else(|error| panic!("{}: {error}", museum.display()))
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .map(|entry| Version {
            name: entry.file_name().to_string_lossy().into_owned(),
            folder: entry.path(),
        })
        .collect();
    versions.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(!versions.is_empty(), "{} is empty", museum.display());
    versions
}

impl Version {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What must be true of the files in the folder `part`.
    ///
    /// # Panics
    /// When there is no manifest.
    #[must_use]
    pub fn manifest(&self, part: &str) -> Value {
        let bytes = self.bytes(part, "manifest.json");
        serde_json::from_slice(&bytes)
            .unwrap_or_else(|error| panic!("{} {part}: {error}", self.name))
    }

    /// The bytes of a file.
    ///
    /// # Panics
    /// When there is no such file.
    #[must_use]
    pub fn bytes(&self, part: &str, file: &str) -> Vec<u8> {
        let path = self.folder.join(part).join(file);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Copies a file to the path `to`, for those who open it: what is kept here stays as it is.
    ///
    /// # Panics
    /// When it cannot be copied.
    pub fn copy(&self, part: &str, file: &str, to: &Path) {
        fs::write(to, self.bytes(part, file))
            .unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    }
}

/// How a manifest writes down bytes that are too long for it.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
