//! Where the real data is, which is no part of the repository.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test that cannot go on stops, and says what it skips"
)]

use std::io::Write;
use std::path::{Path, PathBuf};

/// The root of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder of the real data; when it is not there, that is said and reported.
///
/// # Panics
/// When the report cannot be written.
#[must_use]
pub fn data(test: &str, folder: &str) -> Option<PathBuf> {
    let base = match std::env::var_os("EPITOME_DATA") {
        Some(base) => PathBuf::from(base),
        None => root().join("../shared/data"),
    };
    let path = base.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    report(&format!("DATA-ABSENT {test}: no folder {}", path.display()));
    None
}

/// Says what a test cannot do, on the terminal and in the report of the run.
pub(crate) fn report(line: &str) {
    eprintln!("{line}");
    if let Some(report) = std::env::var_os("EPITOME_SKIP_REPORT") {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(report)
            .expect("the report of skipped tests can be written");
        writeln!(file, "{line}").expect("the report of skipped tests can be written");
    }
}

/// The files of a folder with this extension, in order of their names; at least one.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    assert!(
        !files.is_empty(),
        "{} has no .{extension}",
        folder.display()
    );
    files
}

/// A file's name without folder and extension.
///
/// # Panics
/// When the path names no file.
#[must_use]
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}
