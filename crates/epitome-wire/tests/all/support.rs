//! How many cases, which seed, where the data is.

use std::io::Write;
use std::path::{Path, PathBuf};

use epitome_testkit::Random;
use proptest::prelude::{Just, Strategy, any};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

/// Cases of a property, unless `EPITOME_CASES` says otherwise.
const CASES: u32 = 1_000;
const SEED: u64 = 2_026;

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let value = std::env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name}={value} is not a number")),
    )
}

/// The seed of everything random.
pub(crate) fn seed() -> u64 {
    number("EPITOME_SEED").unwrap_or(SEED)
}

/// The number of cases for a property whose cases cost `cost` times a cheap one.
pub(crate) fn cases(cost: u32) -> u32 {
    (number("EPITOME_CASES").unwrap_or(CASES) / cost).max(1)
}

/// Runs `test` on many seeds and sizes. A failure is shrunk to the smallest size that still fails.
pub(crate) fn property(cost: u32, largest: usize, test: impl Fn(&mut Random, usize)) {
    let config = Config {
        cases: cases(cost),
        rng_seed: RngSeed::Fixed(seed()),
        failure_persistence: None,
        ..Config::default()
    };
    let seeds = any::<u64>().prop_flat_map(Just).no_shrink();
    let outcome = TestRunner::new(config).run(&(seeds, 0..=largest), |(seed, size)| {
        test(&mut Random::new(seed), size);
        Ok::<(), TestCaseError>(())
    });
    if let Err(failure) = outcome {
        panic!("(seed, size): {failure}");
    }
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder of the real data; when it is not there, that is said and reported.
pub(crate) fn data(test: &str, folder: &str) -> Option<PathBuf> {
    let base = match std::env::var_os("EPITOME_DATA") {
        Some(base) => PathBuf::from(base),
        None => root().join("../shared/data"),
    };
    let path = base.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    let line = format!("DATA-ABSENT {test}: no folder {}", path.display());
    eprintln!("{line}");
    if let Some(report) = std::env::var_os("EPITOME_SKIP_REPORT") {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(report)
            .expect("the report of skipped tests can be written");
        writeln!(file, "{line}").expect("the report of skipped tests can be written");
    }
    None
}

/// The files of a folder with this extension, in order of their names; at least one.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
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
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}
