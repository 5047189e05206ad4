//! What a design tells people, hooks and logs.

use std::fmt;

use crate::event::{EventFields, FieldValue, Finished, Started};
use crate::reference::vibe;

/// The words and names of a design for what happens. What is not here is told in the same words by all.
#[derive(Clone, Copy)]
pub struct Events {
    /// What the beginning of a compaction is called.
    pub started_name: &'static str,
    /// What its end is called.
    pub finished_name: &'static str,
    /// What people read when one begins, each item one line.
    pub start_lines: fn(&Started) -> Vec<String>,
    /// What they read when it has landed.
    pub done_lines: fn(&Finished) -> Vec<String>,
    /// What they read when it failed, and how.
    pub failure_line: fn(&str) -> String,
    /// The fields of the beginning.
    pub started_fields: fn(&Started) -> EventFields,
    /// The fields of the end.
    pub finished_fields: fn(&Finished) -> EventFields,
    /// What the numbers of share pruning are called: chunks, messages and tokens that went, tokens that stay, and the
    /// most that may stay.
    pub pruning_names: [&'static str; 5],
    /// Whether people are told that memories are saved.
    pub tells_memory_flush: bool,
}

impl Events {
    /// Our own words.
    pub const BASE: Self = Self {
        started_name: "compaction_started",
        finished_name: "compaction_finished",
        start_lines: |_| vec![vibe::START_LINE.to_owned()],
        done_lines: |finished| {
            vec![vibe::done_line(
                finished.tokens_before,
                finished.tokens_after,
            )]
        },
        failure_line: |error| format!("Compaction failed: {error}"),
        started_fields,
        finished_fields,
        pruning_names: [
            "dropped_chunks",
            "dropped_count",
            "dropped_tokens",
            "kept_tokens",
            "budget_tokens",
        ],
        tells_memory_flush: true,
    };
}

/// Functions have no names of their own.
impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("started_name", &self.started_name)
            .field("finished_name", &self.finished_name)
            .finish_non_exhaustive()
    }
}

fn started_fields(started: &Started) -> EventFields {
    let mut fields = vec![
        ("reason", started.reason.as_str().into()),
        ("context_tokens", started.context_tokens.into()),
        ("message_count", started.message_count.into()),
        ("compacting_count", started.compacting_count.into()),
    ];
    let threshold = started.threshold_tokens;
    fields.extend(threshold.map(|tokens| ("threshold_tokens", tokens.into())));
    fields
}

fn finished_fields(finished: &Finished) -> EventFields {
    let ids = FieldValue::Texts(finished.compacted_message_ids.clone());
    vec![
        ("reason", finished.reason.as_str().into()),
        ("round", u64::from(finished.round).into()),
        ("tokens_before", finished.tokens_before.into()),
        ("tokens_after", finished.tokens_after.into()),
        ("message_count", finished.message_count.into()),
        ("compacted_count", finished.compacted_count.into()),
        ("compacted_message_ids", ids),
        ("summary", finished.summary.as_str().into()),
        ("summary_tokens", finished.summary_tokens.into()),
    ]
}
