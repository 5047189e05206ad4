//! Events in each preset's own words.

use crate::one_line::one_line;
use crate::preset_name::PresetName;
use crate::reason::Reason;
use crate::reference::vibe::grouped;
use crate::reference::{layer, micro, vibe};

use super::{Event, Finished, Started};

/// The longest text of somebody else that a line quotes, in characters.
const QUOTED_CHARS: usize = 200;

impl Event {
    /// What `preset` shows people, each item one line; nothing where its reference is silent.
    #[must_use]
    pub fn lines(&self, preset: PresetName) -> Vec<String> {
        match self {
            Self::Started(started) => start_lines(started, preset),
            Self::Finished(finished) => done_lines(finished, preset),
            Self::Failed { reason, error } => vec![failure_line(*reason, error, preset)],
            Self::MemoryFlushDue { .. } if preset == PresetName::Openclaw => Vec::new(),
            _ => vec![self.common_line()],
        }
    }

    /// What no reference has words for.
    fn common_line(&self) -> String {
        match self {
            Self::Started(_) => vibe::START_LINE.to_owned(),
            Self::Finished(finished) => {
                vibe::done_line(finished.tokens_before, finished.tokens_after)
            }
            Self::Failed { reason, error } => failure_line(*reason, error, PresetName::Default),
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
        }
    }
}

fn start_lines(started: &Started, preset: PresetName) -> Vec<String> {
    match preset {
        PresetName::Micro => vec![micro::start_line(
            started.context_tokens,
            started.threshold_tokens.unwrap_or(micro::THRESHOLD_TOKENS),
            started.compacting_count,
        )],
        PresetName::Layer => Vec::new(),
        PresetName::Openclaw if started.reason == Reason::Overflow => {
            vec!["context overflow detected; attempting auto-compaction".to_owned()]
        }
        PresetName::Default | PresetName::Vibe | PresetName::Openclaw | PresetName::Spacebot => {
            vec![vibe::START_LINE.to_owned()]
        }
    }
}

fn done_lines(finished: &Finished, preset: PresetName) -> Vec<String> {
    let (before, after) = (finished.tokens_before, finished.tokens_after);
    let messages = finished.compacted_count;
    match preset {
        PresetName::Micro => {
            let freed = before.saturating_sub(after);
            vec![micro::done_line(messages, finished.summary_tokens, freed)]
        }
        PresetName::Layer => vec![layer::done_line(finished.round, before, after, messages)],
        PresetName::Openclaw if finished.reason == Reason::Overflow => vec![
            vibe::done_line(before, after),
            "auto-compaction succeeded; retrying prompt".to_owned(),
        ],
        PresetName::Default | PresetName::Vibe | PresetName::Openclaw | PresetName::Spacebot => {
            vec![vibe::done_line(before, after)]
        }
    }
}

fn failure_line(reason: Reason, error: &str, preset: PresetName) -> String {
    let error = one_line(error, QUOTED_CHARS);
    let error = if error.is_empty() {
        reason.as_str()
    } else {
        error.as_str()
    };
    match preset {
        PresetName::Micro => micro::failure_line(error),
        PresetName::Layer => {
            format!("[Compaction] Failed, continuing without compaction: {error}")
        }
        PresetName::Openclaw => format!("auto-compaction failed: {error}"),
        PresetName::Default | PresetName::Vibe | PresetName::Spacebot => {
            format!("Compaction failed: {error}")
        }
    }
}
