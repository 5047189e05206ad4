//! Stored conversations as people look at them: what they hold, what stands for it, what is found in it, what is taken back.
//!
//! The command, the control API and the dashboard all ask here, so that they say the same.

mod growth;
mod lines;
mod messages;
mod models;
mod objects;
mod path;
mod pins;
mod recall;
mod rounds;
mod span;
mod undo;

pub use growth::{Growth, Savings, growth};
pub use lines::{SummaryLine, summary_lines};
pub use messages::{ListedMessage, Look, MessageState, look, message, title};
pub use models::{BelievedModel, believed_models};
pub use objects::{compaction_object, compaction_with_record, conversation_object};
pub use path::{MOST_FORKS, path};
pub use pins::{ListedPin, ListedPinState, PinList, mark_pin, pins};
pub use recall::{Cover, Found, Hit, Within, excerpt, one_line, recall};
pub use rounds::{LineChange, line_changes};
pub use span::span;
pub use undo::{Regardless, Undo, Undone, undo};

use crate::record::RecordError;

/// Why a question about a stored conversation has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] epitome_store::Error),
    /// What is stored beside a compaction or a change cannot be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// What is believed of a model is not written as it should be.
    #[error("what is believed of a model cannot be read: {0}")]
    Belief(#[from] serde_json::Error),
    /// Others were faster, again and again.
    #[error("the conversation is being changed by somebody else; try again")]
    Busy,
}
