//! Compactions of conversations of an engine.

use epitome::{Compaction, Swap};
use serde::{Deserialize, Serialize};

use super::{RecordError, StepRecord, is_nothing, write};

/// The record of a compaction of an engine: with it the conversation is put together again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// How many messages it was made from: those that were shown when the work on it began, or all.
    pub shown: usize,
    /// The compaction itself.
    pub compaction: Compaction,
    /// The line that no request crosses, at that time: whoever takes the compaction back without this engine can tell
    /// whether the conversation would still fit.
    #[serde(default)]
    pub hard_tokens: Option<u64>,
    /// Which summariser held, and what failed before it.
    #[serde(default)]
    pub steps: Vec<StepRecord>,
    /// The sum by which it was shown before it had to be, where that was so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<Swap>,
    /// What models were paid for it, in billionths of a dollar, with calls before that came to nothing.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub spent_nanodollars: u64,
}

impl SessionRecord {
    /// What is stored for it.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn write(&self) -> Result<String, RecordError> {
        write(self)
    }
}
