//! What happened, for people, hooks and logs: one event, told in each preset's own way.

mod fields;

use crate::reason::Reason;

pub use fields::{EventFields, FieldValue};

/// Something that happened to a conversation. It carries what every reference tells about it; see
/// [`Event::lines`] for people and [`Event::fields`] for hooks and logs.
///
/// ```
/// use epitome::{Event, Finished, PresetName};
///
/// let event = Event::Finished(Finished {
///     tokens_before: 200_000,
///     tokens_after: 15_000,
///     ..Finished::default()
/// });
/// assert_eq!(event.lines(PresetName::Vibe), ["Compaction complete: 200,000 → 15,000 tokens (-92%)"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A compaction begins.
    Started(Started),
    /// A compaction landed.
    Finished(Finished),
    /// A compaction failed; the conversation is as it was.
    Failed {
        /// The code.
        reason: Reason,
        /// What went wrong, in the words of whoever failed.
        error: String,
    },
    /// Nothing was done, though somebody asked or a line was reached.
    Skipped {
        /// Why.
        reason: Reason,
        /// The size of the context.
        context_tokens: u64,
    },
    /// The context reached half of the threshold.
    Warning {
        /// The size of the context.
        context_tokens: u64,
        /// The threshold.
        threshold_tokens: u64,
    },
    /// The window is small.
    SmallWindow {
        /// The window.
        window_tokens: u64,
    },
    /// A pin left the view; it can be recalled.
    PinDemoted {
        /// The entry it was typed in.
        position: usize,
        /// Its words.
        text: String,
    },
    /// Too many tries failed in a row.
    BreakerOpened {
        /// The newest failure.
        reason: Reason,
        /// Failures in a row.
        failures: u32,
    },
    /// Memories should be saved before the next compaction.
    MemoryFlushDue {
        /// The size of the context.
        context_tokens: u64,
        /// Compactions so far: a flush runs once for each count.
        compaction_count: u64,
    },
    /// The oldest history went, to keep to its share of the window.
    Pruned(Pruning),
    /// The oldest messages left the view without a summary.
    Truncated {
        /// How many, all together.
        removed_count: usize,
    },
}

/// What is known when a compaction begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Why.
    pub reason: Reason,
    /// The size of the context.
    pub context_tokens: u64,
    /// The threshold that was crossed, if it was that.
    pub threshold_tokens: Option<u64>,
    /// Messages in the conversation.
    pub message_count: usize,
    /// Of these, to be summarised.
    pub compacting_count: usize,
}

/// What is known when a compaction has landed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Why.
    pub reason: Reason,
    /// Which compaction of the conversation it is, from 1.
    pub round: u32,
    /// The size of the context before.
    pub tokens_before: u64,
    /// And after.
    pub tokens_after: u64,
    /// Messages in view afterwards.
    pub message_count: usize,
    /// Messages that the summary stands for.
    pub compacted_count: usize,
    /// Their ids, where the host has any.
    pub compacted_message_ids: Vec<String>,
    /// The summary.
    pub summary: String,
    /// What it costs.
    pub summary_tokens: u64,
}

impl Default for Finished {
    fn default() -> Self {
        Self {
            reason: Reason::Manual,
            round: 1,
            tokens_before: 0,
            tokens_after: 0,
            message_count: 0,
            compacted_count: 0,
            compacted_message_ids: Vec::new(),
            summary: String::new(),
            summary_tokens: 0,
        }
    }
}

/// What share pruning did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruning {
    /// Chunks that went.
    pub dropped_chunks: usize,
    /// Messages that went.
    pub dropped_count: usize,
    /// Tokens that went.
    pub dropped_tokens: u64,
    /// Tokens that stay.
    pub kept_tokens: u64,
    /// Tokens that may stay.
    pub budget_tokens: u64,
}
