//! Configurations in temporary folders.

use std::path::{Path, PathBuf};

use epitome_config::{Files, Loaded, Sources};
use proptest::prelude::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

/// A folder that holds files of a configuration.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Text without the folder, so that a test can say all of it.
    pub(crate) fn strip(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.path().display()), "")
    }
}

/// One file and nothing else.
pub(crate) fn named(path: PathBuf) -> Sources {
    Sources {
        files: Files::Named(path),
        ..Sources::default()
    }
}

pub(crate) fn load(text: &str) -> Loaded {
    let folder = Folder::new();
    let file = folder.write("epitome.toml", text);
    let loaded = named(file).load();
    loaded.unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

/// What is said about a file, line by line.
pub(crate) fn problems(text: &str) -> Vec<String> {
    let folder = Folder::new();
    let file = folder.write("epitome.toml", text);
    match named(file).load() {
        Ok(_) => Vec::new(),
        Err(error) => folder
            .strip(&error.to_string())
            .lines()
            .map(str::to_owned)
            .collect(),
    }
}

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let value = std::env::var(name).ok()?;
    let parsed = value.parse().ok();
    Some(parsed.unwrap_or_else(|| panic!("{name}={value} is not a number")))
}

/// Runs `test` on `EPITOME_CASES` (1,000) values, or on fewer where a case costs more.
pub(crate) fn property<S: Strategy>(cost: u32, strategy: &S, test: impl Fn(S::Value))
where
    S::Value: std::fmt::Debug,
{
    let config = Config {
        cases: (number("EPITOME_CASES").unwrap_or(1_000) / cost).max(1),
        rng_seed: RngSeed::Fixed(number("EPITOME_SEED").unwrap_or(2_026)),
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(strategy, |value| {
        test(value);
        Ok::<(), TestCaseError>(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
