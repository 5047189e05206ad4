//! What is written down about a change, so that the conversation can be put together again.

use epitome::{Compaction, Swap};
use serde::{Deserialize, Serialize};

use crate::summarise::Step;

/// The record of a compaction: what the store keeps with it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CompactionRecord {
    /// How many messages were shown when the work on it began.
    pub(super) shown: usize,
    /// The compaction itself.
    pub(super) compaction: Compaction,
    /// The line that no request crosses, at that time: whoever takes the compaction back without this engine can tell
    /// whether the conversation would still fit.
    #[serde(default)]
    pub(super) hard_tokens: Option<u64>,
    /// Which summariser held, and what failed before it.
    #[serde(default)]
    pub(super) steps: Vec<StepRecord>,
    /// The sum by which it was shown before it had to be, where that was so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) swap: Option<Swap>,
}

/// One rung that was tried.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StepRecord {
    /// Its name.
    pub(super) rung: String,
    /// The reason code, where it did not hold.
    pub(super) failed: Option<String>,
}

impl From<&Step> for StepRecord {
    fn from(step: &Step) -> Self {
        Self {
            rung: step.rung.as_str().to_owned(),
            failed: step.failed.map(|reason| reason.as_str().to_owned()),
        }
    }
}

/// Where in the conversation a change took place.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChangePlace {
    /// How many entries there were.
    pub(super) entries: usize,
}

/// What a fork begins from.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ForkPlace {
    /// The other conversation.
    pub(super) parent: String,
    /// How many entries it had.
    pub(super) parent_entries: usize,
    /// How many changes.
    pub(super) parent_changes: u32,
    /// How many entries both share.
    pub(super) entries: usize,
}
