//! Events with the names that hooks and logs of each reference know.

use crate::preset_name::PresetName;

use super::{Event, Finished, Pruning, Started};

/// The value of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
}

type Fields = Vec<(&'static str, FieldValue)>;

impl Event {
    /// What `preset`'s reference calls this event; our own name where it has none.
    #[must_use]
    pub const fn name(&self, preset: PresetName) -> &'static str {
        match (self, preset) {
            (Self::Started(_), PresetName::Vibe) => "CompactStartEvent",
            (Self::Finished(_), PresetName::Vibe) => "CompactEndEvent",
            (Self::Started(_), PresetName::Openclaw) => "before_compaction",
            (Self::Finished(_), PresetName::Openclaw) => "after_compaction",
            (Self::Finished(_), PresetName::Layer) => "compactionEvent",
            (Self::Started(_), _) => "compaction_started",
            (Self::Finished(_), _) => "compaction_finished",
            (Self::Failed { .. }, _) => "compaction_failed",
            (Self::Skipped { .. }, _) => "compaction_skipped",
            (Self::Warning { .. }, _) => "context_warning",
            (Self::SmallWindow { .. }, _) => "small_window",
            (Self::PinDemoted { .. }, _) => "pin_demoted",
            (Self::BreakerOpened { .. }, _) => "breaker_opened",
            (Self::MemoryFlushDue { .. }, _) => "memory_flush_due",
            (Self::Pruned(_), _) => "history_pruned",
            (Self::Truncated { .. }, _) => "history_truncated",
        }
    }

    /// The fields, with the names and in the order of `preset`'s reference; all of them, under our own names,
    /// where it has none. What is not known is left out.
    #[must_use]
    pub fn fields(&self, preset: PresetName) -> Vec<(&'static str, FieldValue)> {
        let text = |text: &str| FieldValue::Text(text.to_owned());
        match self {
            Self::Started(started) => started_fields(started, preset),
            Self::Finished(finished) => finished_fields(finished, preset),
            Self::Failed { reason, error } => {
                vec![("reason", text(reason.as_str())), ("error", text(error))]
            }
            Self::Skipped {
                reason,
                context_tokens,
            } => vec![
                ("reason", text(reason.as_str())),
                ("context_tokens", number(*context_tokens)),
            ],
            Self::Warning {
                context_tokens,
                threshold_tokens,
            } => vec![
                ("context_tokens", number(*context_tokens)),
                ("threshold_tokens", number(*threshold_tokens)),
            ],
            Self::SmallWindow { window_tokens } => vec![("window_tokens", number(*window_tokens))],
            Self::PinDemoted {
                position,
                text: words,
            } => {
                vec![("position", count(*position)), ("text", text(words))]
            }
            Self::BreakerOpened { reason, failures } => vec![
                ("reason", text(reason.as_str())),
                ("failures", number(u64::from(*failures))),
            ],
            Self::MemoryFlushDue {
                context_tokens,
                compaction_count,
            } => vec![
                ("context_tokens", number(*context_tokens)),
                ("compaction_count", number(*compaction_count)),
            ],
            Self::Pruned(pruning) => pruning_fields(pruning, preset),
            Self::Truncated { removed_count } => vec![("removed_count", count(*removed_count))],
        }
    }
}

fn started_fields(started: &Started, preset: PresetName) -> Fields {
    let tokens = number(started.context_tokens);
    let threshold = |name| {
        started
            .threshold_tokens
            .map(|tokens| (name, number(tokens)))
    };
    match preset {
        PresetName::Vibe => {
            let mut fields = vec![("currentContextTokens", tokens)];
            fields.extend(threshold("threshold"));
            fields
        }
        PresetName::Openclaw => vec![
            ("messageCount", count(started.message_count)),
            ("tokenCount", tokens),
        ],
        PresetName::Default | PresetName::Micro | PresetName::Spacebot | PresetName::Layer => {
            let mut fields = vec![
                ("reason", FieldValue::Text(started.reason.to_string())),
                ("context_tokens", tokens),
                ("message_count", count(started.message_count)),
                ("compacting_count", count(started.compacting_count)),
            ];
            fields.extend(threshold("threshold_tokens"));
            fields
        }
    }
}

fn finished_fields(finished: &Finished, preset: PresetName) -> Fields {
    let before = number(finished.tokens_before);
    let after = number(finished.tokens_after);
    let round = number(u64::from(finished.round));
    let summary = FieldValue::Text(finished.summary.clone());
    let ids = FieldValue::Texts(finished.compacted_message_ids.clone());
    match preset {
        PresetName::Vibe => vec![
            ("oldContextTokens", before),
            ("newContextTokens", after),
            ("summaryLength", count(finished.summary.chars().count())),
        ],
        PresetName::Openclaw => vec![
            ("messageCount", count(finished.message_count)),
            ("tokenCount", after),
            ("compactedCount", count(finished.compacted_count)),
        ],
        PresetName::Layer => vec![
            ("round", round),
            ("tokensBefore", before),
            ("tokensAfter", after),
            ("summaryContent", summary),
            ("compactedMessageIds", ids),
        ],
        PresetName::Default | PresetName::Micro | PresetName::Spacebot => vec![
            ("reason", FieldValue::Text(finished.reason.to_string())),
            ("round", round),
            ("tokens_before", before),
            ("tokens_after", after),
            ("message_count", count(finished.message_count)),
            ("compacted_count", count(finished.compacted_count)),
            ("compacted_message_ids", ids),
            ("summary", summary),
            ("summary_tokens", number(finished.summary_tokens)),
        ],
    }
}

fn pruning_fields(pruning: &Pruning, preset: PresetName) -> Fields {
    let names = match preset {
        PresetName::Openclaw => [
            "droppedChunks",
            "droppedMessages",
            "droppedTokens",
            "keptTokens",
            "budgetTokens",
        ],
        _ => [
            "dropped_chunks",
            "dropped_count",
            "dropped_tokens",
            "kept_tokens",
            "budget_tokens",
        ],
    };
    let values = [
        count(pruning.dropped_chunks),
        count(pruning.dropped_count),
        number(pruning.dropped_tokens),
        number(pruning.kept_tokens),
        number(pruning.budget_tokens),
    ];
    names.into_iter().zip(values).collect()
}

const fn number(number: u64) -> FieldValue {
    FieldValue::Number(number)
}

const fn count(count: usize) -> FieldValue {
    FieldValue::Number(count as u64)
}
