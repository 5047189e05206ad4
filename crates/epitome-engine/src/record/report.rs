//! What a store keeps of the verification of a summary.

use std::collections::BTreeMap;

use epitome::verify::{AnchorCounts, AnchorKind, VerifyReport};
use serde::{Deserialize, Serialize};

/// A report in few words: what became of the anchors of each kind, and how often which alarm was raised. The summary
/// stands beside it, and the span in the log, so nothing of them is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredReport {
    /// Anchors of the summary that were looked up, with repetitions.
    pub checked: usize,
    /// By the name of the kind.
    pub kinds: BTreeMap<String, StoredCounts>,
    /// By the code of the alarm.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub alarms: BTreeMap<String, usize>,
}

/// What became of the anchors of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCounts {
    /// Anchors of the span.
    pub anchors: usize,
    /// Those that the summary has.
    pub retained: usize,
    /// Those that can be looked up.
    pub recoverable: usize,
    /// Those that are gone.
    pub missing: usize,
    /// Those of the summary that the span does not have.
    pub invented: usize,
}

impl StoredReport {
    /// What is kept of a report.
    #[must_use]
    pub fn of(report: &VerifyReport) -> Self {
        let kinds = AnchorKind::ALL
            .iter()
            .map(|kind| (kind.as_str().to_owned(), StoredCounts::of(report.of(*kind))));
        let mut alarms = BTreeMap::new();
        for alarm in &report.alarms {
            *alarms.entry(alarm.kind.as_str().to_owned()).or_default() += 1;
        }
        Self {
            checked: report.checked,
            kinds: kinds.collect(),
            alarms,
        }
    }
}

impl StoredCounts {
    const fn of(counts: AnchorCounts) -> Self {
        Self {
            anchors: counts.anchors,
            retained: counts.retained,
            recoverable: counts.recoverable,
            missing: counts.missing,
            invented: counts.invented,
        }
    }
}
