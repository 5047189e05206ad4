//! Events as each design tells them: in its words, under its names.

use crate::design::Design;
use crate::event::{Event, EventFields};
use crate::one_line::one_line;
use crate::reference::vibe::grouped;

/// The longest text of somebody else that a line quotes, in characters.
const QUOTED_CHARS: usize = 200;

impl Event {
    /// What a design shows people, each item one line; nothing where its reference is silent.
    #[must_use]
    pub fn lines(&self, design: impl Into<&'static Design>) -> Vec<String> {
        let events = &design.into().events;
        let line = match self {
            Self::Started(started) => return (events.start_lines)(started),
            Self::Finished(finished) => return (events.done_lines)(finished),
            Self::Failed { reason, error } => {
                let error = one_line(error, QUOTED_CHARS);
                let error = if error.is_empty() {
                    reason.as_str()
                } else {
                    error.as_str()
                };
                (events.failure_line)(error)
            }
            Self::Skipped {
                reason,
                context_tokens,
            } => {
                format!(
                    "Not compacted: {reason} ({} tokens)",
                    grouped(*context_tokens)
                )
            }
            Self::Warning {
                context_tokens,
                threshold_tokens,
            } => format!(
                "Context is at {} tokens; it will be compacted at {}",
                grouped(*context_tokens),
                grouped(*threshold_tokens)
            ),
            Self::SmallWindow { window_tokens } => format!(
                "The context window of {} tokens is small; compaction will be frequent",
                grouped(*window_tokens)
            ),
            Self::PinDemoted { position, text } => format!(
                "An instruction left the view and can be recalled (entry {position}): {}",
                one_line(text, QUOTED_CHARS)
            ),
            Self::BreakerOpened { reason, failures } => format!(
                "Compaction pauses after {failures} failures in a row ({reason}) until the conversation has grown"
            ),
            Self::MemoryFlushDue { .. } if !events.tells_memory_flush => return Vec::new(),
            Self::MemoryFlushDue { .. } => "Saving memories before compaction".to_owned(),
            Self::Pruned(pruning) => format!(
                "Dropped the oldest {} messages ({} tokens) to keep history within {}",
                pruning.dropped_count,
                grouped(pruning.dropped_tokens),
                grouped(pruning.budget_tokens)
            ),
            Self::Truncated { removed_count } => {
                format!("{removed_count} older messages left the view without a summary")
            }
        };
        vec![line]
    }

    /// What a design's reference calls this event; our own name where it has none.
    #[must_use]
    pub fn name(&self, design: impl Into<&'static Design>) -> &'static str {
        let events = &design.into().events;
        match self {
            Self::Started(_) => events.started_name,
            Self::Finished(_) => events.finished_name,
            Self::Failed { .. } => "compaction_failed",
            Self::Skipped { .. } => "compaction_skipped",
            Self::Warning { .. } => "context_warning",
            Self::SmallWindow { .. } => "small_window",
            Self::PinDemoted { .. } => "pin_demoted",
            Self::BreakerOpened { .. } => "breaker_opened",
            Self::MemoryFlushDue { .. } => "memory_flush_due",
            Self::Pruned(_) => "history_pruned",
            Self::Truncated { .. } => "history_truncated",
        }
    }

    /// The fields, with the names and in the order of a design's reference; all of them, under our own names,
    /// where it has none. What is not known is left out.
    #[must_use]
    pub fn fields(&self, design: impl Into<&'static Design>) -> EventFields {
        let events = &design.into().events;
        match self {
            Self::Started(started) => (events.started_fields)(started),
            Self::Finished(finished) => (events.finished_fields)(finished),
            Self::Failed { reason, error } => vec![
                ("reason", reason.as_str().into()),
                ("error", error.as_str().into()),
            ],
            Self::Skipped {
                reason,
                context_tokens,
            } => vec![
                ("reason", reason.as_str().into()),
                ("context_tokens", (*context_tokens).into()),
            ],
            Self::Warning {
                context_tokens,
                threshold_tokens,
            } => vec![
                ("context_tokens", (*context_tokens).into()),
                ("threshold_tokens", (*threshold_tokens).into()),
            ],
            Self::SmallWindow { window_tokens } => {
                vec![("window_tokens", (*window_tokens).into())]
            }
            Self::PinDemoted { position, text } => vec![
                ("position", (*position).into()),
                ("text", text.as_str().into()),
            ],
            Self::BreakerOpened { reason, failures } => vec![
                ("reason", reason.as_str().into()),
                ("failures", u64::from(*failures).into()),
            ],
            Self::MemoryFlushDue {
                context_tokens,
                compaction_count,
            } => vec![
                ("context_tokens", (*context_tokens).into()),
                ("compaction_count", (*compaction_count).into()),
            ],
            Self::Pruned(pruning) => {
                let values = [
                    pruning.dropped_chunks.into(),
                    pruning.dropped_count.into(),
                    pruning.dropped_tokens.into(),
                    pruning.kept_tokens.into(),
                    pruning.budget_tokens.into(),
                ];
                events.pruning_names.into_iter().zip(values).collect()
            }
            Self::Truncated { removed_count } => {
                vec![("removed_count", (*removed_count).into())]
            }
        }
    }
}
