//! `micro`: one estimate, one zone between the first message and the last few, one marked summary.

use std::ops::Range;

use crate::message::{Block, Message, ResultPart, Role};

/// Estimated tokens above which a conversation is compacted.
pub const THRESHOLD_TOKENS: u64 = 80_000;
/// Messages at the end that stay.
pub const TAIL_MESSAGES: usize = 6;
/// Messages that stay when a history is only trimmed.
pub const MAX_MESSAGES: usize = 50;
/// Tool results above this are cut when they arrive.
pub const MAX_RESULT_CHARS: usize = 40_000;
/// Stands before the summary inside the first message.
pub const OPEN_MARK: &str = "[CONTEXT SUMMARY]";
/// Stands behind it.
pub const CLOSE_MARK: &str = "[END CONTEXT SUMMARY]";
/// Keeps the roles apart where the tail starts with a user message.
pub const ACKNOWLEDGEMENT: &str = "Understood. Continuing with the current task.";

const PREVIEW_WHOLE: usize = 700;
const PREVIEW_HEAD: usize = 500;
const PREVIEW_TAIL: usize = 200;
const INPUT_CHARS: usize = 100_000;

/// Characters of everything, a quarter, rounded down.
#[must_use]
pub fn estimate(messages: &[Message]) -> u64 {
    messages.iter().map(characters).sum::<usize>() as u64 / 4
}

pub(crate) fn characters(message: &Message) -> usize {
    let count = |text: &str| text.chars().count();
    message
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(text) | Block::Injected(text) => count(text),
            Block::Call(call) => count(&call.name) + count(&call.arguments),
            Block::Result(result) => result
                .parts
                .iter()
                .map(|part| match part {
                    ResultPart::Text(text) => count(text),
                    ResultPart::Media(_) | ResultPart::Opaque { .. } => 0,
                })
                .sum(),
            Block::Thinking { .. } | Block::Media(_) | Block::Opaque { .. } => 0,
        })
        .sum()
}

/// What to do about a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    None,
    /// Keep the newest messages only, as compaction is switched off.
    Trim,
    /// Compact.
    Compact,
}

/// Whether compaction is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// Decides after a message of the user or tool results.
#[must_use]
pub const fn decide(tokens: u64, threshold: u64, switch: Switch, zone_messages: usize) -> Action {
    if tokens <= threshold {
        return Action::None;
    }
    match switch {
        Switch::Off => Action::Trim,
        Switch::On if zone_messages < 2 => Action::None,
        Switch::On => Action::Compact,
    }
}

/// What lies between the first message and the last `tail`; nothing where that is less than two messages.
#[must_use]
pub fn zone(messages: &[Message], tail: usize) -> Option<Range<usize>> {
    let start = 1;
    let mut end = messages.len().checked_sub(tail)?;
    let carries_results = |at: usize| {
        messages
            .get(at)
            .is_some_and(|m| m.role == Role::User && m.results().next().is_some())
    };
    while end > start + 1 && carries_results(end) {
        end -= 1;
    }
    (end >= start + 2 && !carries_results(end)).then_some(start..end)
}

/// The first message's text with the summary between its marks; an earlier one is replaced.
#[must_use]
pub fn merged_text(text: &str, summary: &str) -> String {
    let own = match text.find(OPEN_MARK) {
        Some(at) => text.get(..at).unwrap_or_default().trim_end_matches('\n'),
        None => text,
    };
    format!("{own}\n\n{OPEN_MARK}\n{summary}\n{CLOSE_MARK}")
}

/// Whether the tail needs an acknowledgement before it.
#[must_use]
pub fn needs_acknowledgement(first_kept: Option<&Message>) -> bool {
    first_kept.is_some_and(|message| message.role == Role::User)
}

/// A tool result as the summariser sees it: whole, or its beginning and its end.
#[must_use]
pub fn preview(text: &str) -> String {
    cut_middle(text, PREVIEW_WHOLE, PREVIEW_HEAD, PREVIEW_TAIL)
}

/// The summariser's input, its middle cut where it is too long.
#[must_use]
pub fn capped_input(text: &str) -> String {
    let room = INPUT_CHARS - 100;
    cut_middle(text, INPUT_CHARS, room / 2, room - room / 2)
}

fn cut_middle(text: &str, whole: usize, head: usize, tail: usize) -> String {
    let count = text.chars().count();
    if count <= whole {
        return text.to_owned();
    }
    let first: String = text.chars().take(head).collect();
    let last: String = text.chars().skip(count - tail).collect();
    format!(
        "{first}\n[… {} characters left out …]\n{last}",
        count - head - tail
    )
}

/// The line before a compaction.
#[must_use]
pub fn start_line(tokens: u64, threshold: u64, messages: usize) -> String {
    format!(
        "  Compaction: estimated ~{} tokens, threshold {} — compacting {messages} messages",
        super::vibe::grouped(tokens),
        super::vibe::grouped(threshold)
    )
}

/// The line after a compaction.
#[must_use]
pub fn done_line(messages: usize, summary_tokens: u64, freed_tokens: u64) -> String {
    format!(
        "  Compaction: summarized {messages} messages into ~{} tokens, freed ~{} estimated tokens",
        super::vibe::grouped(summary_tokens),
        super::vibe::grouped(freed_tokens)
    )
}

/// The line after a failure.
#[must_use]
pub fn failure_line(error: &str) -> String {
    format!("  Warning: Compaction failed: {error}. Falling back to history trimming.")
}
