//! House rules about single files.

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;

use std::borrow::Cow;

const MAX_LINES: usize = 500;
const MAX_BYTES: usize = 800_000;

/// Cut in two so that this file does not offend against its own rule.
const FORBIDDEN_WORDS: &[&str] = &[
    concat!("#[al", "low("),
    concat!("#![al", "low("),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("db", "g!("),
    concat!("#[ig", "nore"),
];

/// Cut in two for the same reason.
const MACHINE_PATHS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/fa", "rm/"),
    concat!("/ro", "ot/"),
];

#[derive(Debug)]
pub(super) struct File {
    /// Relative to the workspace root, with `/`.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

impl File {
    /// `None` for binary files.
    fn text(&self) -> Option<Cow<'_, str>> {
        (!self.bytes.contains(&0)).then(|| String::from_utf8_lossy(&self.bytes))
    }

    fn line_count(&self) -> usize {
        self.text().map_or(0, |text| text.lines().count())
    }

    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

pub(super) fn too_long(files: &[File]) -> Vec<String> {
    let long = product_source(files).filter(|file| file.line_count() > MAX_LINES);
    long.map(|file| format!("{}: {} lines", file.path, file.line_count()))
        .collect()
}

/// One line about the sizes of the product's source files.
pub(super) fn length_summary(files: &[File]) -> String {
    let mut lengths: Vec<usize> = product_source(files).map(File::line_count).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).unwrap_or(&0);
    let longest = lengths.last().unwrap_or(&0);
    let count = lengths.len();
    format!("{count} files, median {median} lines, longest {longest}")
}

pub(super) fn forbidden_words(files: &[File]) -> Vec<String> {
    let rust = files.iter().filter(|file| file.is_rust());
    rust.flat_map(|file| occurrences(file, FORBIDDEN_WORDS))
        .collect()
}

pub(super) fn machine_paths(files: &[File]) -> Vec<String> {
    let written_by_us = files.iter().filter(|file| file.path != "Cargo.lock");
    written_by_us
        .flat_map(|file| occurrences(file, MACHINE_PATHS))
        .collect()
}

pub(super) fn too_heavy(files: &[File]) -> Vec<String> {
    let heavy = files.iter().filter(|file| file.bytes.len() > MAX_BYTES);
    heavy
        .map(|file| format!("{}: {} bytes", file.path, file.bytes.len()))
        .collect()
}

/// The source files of the product: no tests, no tools of developers.
pub(super) fn product_source(files: &[File]) -> impl Iterator<Item = &File> {
    files
        .iter()
        .filter(|file| file.is_rust() && is_product(&file.path))
}

fn is_product(path: &str) -> bool {
    let is_aside = |folder: &str| {
        matches!(
            folder,
            "tests" | "benches" | "examples" | "fuzz" | "xtask" | "epitome-testkit"
        )
    };
    !path.ends_with("_tests.rs") && !path.split('/').any(is_aside)
}

fn occurrences(file: &File, needles: &[&str]) -> Vec<String> {
    let text = file.text().unwrap_or_default();
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for needle in needles.iter().filter(|needle| line.contains(**needle)) {
            found.push(format!("{}:{}: {needle}", file.path, index + 1));
        }
    }
    found
}
