//! What tests say they could not do.
//!
//! A test that misses something appends one line to the file named by `EPITOME_SKIP_REPORT`:
//! `SUITE-SKIPPED <suite>: <reason>`, or `DATA-ABSENT <suite>: <reason>` when only real data is not there.

#[cfg(test)]
#[path = "notices_tests.rs"]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::needs::{self, Need};

/// The variable that tells the tests where to write.
pub(super) const VARIABLE: &str = "EPITOME_SKIP_REPORT";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Notice {
    pub(crate) suite: String,
    pub(crate) kind: Kind,
    pub(crate) reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The suite could not run: fails the run under CI.
    Skipped,
    /// Real data is not on this machine: listed, never a failure.
    DataAbsent,
}

/// The file the tests append to; removed when dropped.
#[derive(Debug)]
pub(super) struct NoticeFile(PathBuf);

impl NoticeFile {
    pub(super) fn create() -> Result<Self> {
        let name = format!("epitome-skip-report-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, "")
            .with_context(|| format!("could not create {}", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn read(&self) -> Result<Vec<Notice>> {
        let bytes = std::fs::read(&self.0)
            .with_context(|| format!("could not read {}", self.0.display()))?;
        Ok(parse(&String::from_utf8_lossy(&bytes)))
    }
}

impl Drop for NoticeFile {
    fn drop(&mut self) {
        // A file left in the temporary folder harms nobody.
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(super) fn of_unmet_needs(unmet: &[&Need]) -> Vec<Notice> {
    let of_one = |need: &&Need| {
        let reason = needs::reason(need);
        need.suites.iter().map(move |suite| Notice {
            suite: (*suite).to_owned(),
            kind: Kind::Skipped,
            reason: reason.clone(),
        })
    };
    unmet.iter().flat_map(of_one).collect()
}

/// A line of another form counts as a skipped suite: whatever a test wrote there, it did not do its work.
fn parse(text: &str) -> Vec<Notice> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(parse_line).collect()
}

fn parse_line(line: &str) -> Notice {
    let known = [
        ("SUITE-SKIPPED ", Kind::Skipped),
        ("DATA-ABSENT ", Kind::DataAbsent),
    ];
    for (prefix, kind) in known {
        if let Some((suite, reason)) = line
            .strip_prefix(prefix)
            .and_then(|rest| rest.split_once(": "))
        {
            return Notice {
                suite: suite.trim().to_owned(),
                kind,
                reason: reason.trim().to_owned(),
            };
        }
    }
    Notice {
        suite: "unnamed".to_owned(),
        kind: Kind::Skipped,
        reason: line.to_owned(),
    }
}
