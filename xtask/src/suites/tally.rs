//! Reads the output of `cargo test` line by line and counts per test binary.

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

/// File name of a test binary to the name of its suite.
pub(super) type SuiteNames = BTreeMap<String, String>;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
    /// Cargo said that this one failed, whatever the counts: a crashed binary prints no counts.
    pub(crate) is_broken: bool,
}

impl Suite {
    pub(crate) fn is_failed(&self) -> bool {
        self.is_broken || self.failed > 0
    }

    /// Nothing to tell: no test in it, or none that the filter let through.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_failed() && self.passed + self.ignored == 0
    }
}

#[derive(Debug)]
pub(super) struct Tally {
    names: SuiteNames,
    suites: Vec<Suite>,
}

impl Tally {
    pub(super) fn new(names: SuiteNames) -> Self {
        Self {
            names,
            suites: Vec::new(),
        }
    }

    /// Of a program that is a suite by itself and does not say so.
    pub(super) fn of_one(name: String) -> Self {
        let suite = Suite {
            name,
            ..Suite::default()
        };
        Self {
            names: SuiteNames::new(),
            suites: vec![suite],
        }
    }

    pub(super) fn line(&mut self, line: &str) {
        let line = line.trim();
        if let Some(name) = self.opened_suite(line) {
            self.suites.push(Suite {
                name,
                ..Suite::default()
            });
            return;
        }
        let Some(current) = self.suites.last_mut() else {
            return;
        };
        if let Some(counts) = line.strip_prefix("test result: ") {
            current.passed += count(counts, "passed");
            current.failed += count(counts, "failed");
            current.ignored += count(counts, "ignored");
        } else if line.starts_with("error: ") && line.contains("failed, to rerun pass") {
            current.is_broken = true;
        }
    }

    pub(super) fn finish(self) -> Vec<Suite> {
        self.suites
    }

    /// `Running tests/all.rs (target/debug/deps/all-0123)` and `Doc-tests epitome_wire` open a suite. A binary that
    /// this build did not make is text that some test printed.
    fn opened_suite(&self, line: &str) -> Option<String> {
        if let Some(library) = line.strip_prefix("Doc-tests ") {
            return Some(format!("{} documentation", library.replace('_', "-")));
        }
        let (_, path) = line
            .strip_prefix("Running ")?
            .strip_suffix(')')?
            .rsplit_once('(')?;
        let file = Path::new(path).file_name()?.to_str()?;
        self.names.get(file).cloned()
    }
}

/// The number before `what` in `ok. 12 passed; 0 failed; 1 ignored; …`.
fn count(counts: &str, what: &str) -> u64 {
    let words: Vec<&str> = counts
        .split([' ', ';', '.'])
        .filter(|word| !word.is_empty())
        .collect();
    let number = words.windows(2).find_map(|pair| {
        matches!(pair, [_, word] if *word == what).then(|| pair.first()?.parse().ok())
    });
    number.flatten().unwrap_or(0)
}
