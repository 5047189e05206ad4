//! `layer`: a share of the window after reserves; six sections; each round takes the last one in.

use std::ops::Range;

use crate::message::{Block, Message, ResultPart, Role};
use crate::window::Window;

/// Begins every summary of this design.
pub const SUMMARY_MARK: &str = "## Session Summary";
/// Stands before the summary where a provider wants a user message first.
pub const OPENING: &str = crate::message::OPENING;
/// The task of a conversation without a user message.
pub const UNKNOWN_TASK: &str = "Unknown task";
/// The window of a model that the design does not name.
pub const DEFAULT_WINDOW_TOKENS: u64 = 128_000;

const RESULT_CHARS: usize = 500;
const MESSAGE_CHARS: usize = 2_000;

/// The settings of the design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The window.
    pub model_context_limit: i64,
    /// Kept free for system prompt and tools.
    pub system_reserve: i64,
    /// Kept free for the answer.
    pub output_reserve: i64,
    /// Kept free for what the estimate gets wrong.
    pub safety_buffer: i64,
    /// The share of the rest at which compaction starts.
    pub threshold_percent: f64,
    /// Messages at the end that stay.
    pub recent_messages_to_keep: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Settings {
    /// As the design has them.
    pub const DEFAULT: Self = Self {
        model_context_limit: 128_000,
        system_reserve: 2_000,
        output_reserve: 4_000,
        safety_buffer: 5_000,
        threshold_percent: 0.80,
        recent_messages_to_keep: 10,
    };

    /// The same settings for a window.
    #[must_use]
    pub fn within(self, window: Window) -> Self {
        Self {
            model_context_limit: i64::try_from(window.tokens).unwrap_or(i64::MAX),
            ..self
        }
    }

    /// Tokens from which a conversation is compacted; negative where the reserves exceed the window.
    #[must_use]
    pub fn threshold(&self) -> i64 {
        let available = self
            .model_context_limit
            .saturating_sub(self.system_reserve)
            .saturating_sub(self.output_reserve)
            .saturating_sub(self.safety_buffer);
        (available as f64 * self.threshold_percent).floor() as i64
    }

    /// Whether a conversation is due.
    #[must_use]
    pub fn is_due(&self, messages: &[Message]) -> bool {
        let threshold = self.threshold();
        messages.len() > self.recent_messages_to_keep + 1
            && threshold > 0
            && estimate(messages) >= threshold.unsigned_abs()
    }
}

/// The window of the models this design names.
#[must_use]
pub fn window(model: &str) -> u64 {
    match model {
        "gpt-4" => 8_192,
        "claude-3-5-sonnet-20240620" | "claude-3-haiku-20240307" => 200_000,
        _ => DEFAULT_WINDOW_TOKENS,
    }
}

/// Two per message, and a quarter of the characters of each text, name and argument, rounded up.
#[must_use]
pub fn estimate(messages: &[Message]) -> u64 {
    messages.iter().map(message_tokens).sum()
}

fn message_tokens(message: &Message) -> u64 {
    let quarter = |text: &str| (text.chars().count() as u64).div_ceil(4);
    let parts: u64 = message
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(text) | Block::Injected(text) => quarter(text),
            Block::Call(call) => quarter(&call.name) + quarter(&call.arguments),
            Block::Result(result) => result
                .parts
                .iter()
                .map(|part| match part {
                    ResultPart::Text(text) => quarter(text),
                    ResultPart::Media(_) | ResultPart::Opaque { .. } => 0,
                })
                .sum(),
            Block::Thinking { .. } | Block::Media(_) | Block::Opaque { .. } => 0,
        })
        .sum();
    2 + parts
}

/// What goes, and where the last summary stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The messages to be summarised.
    pub compact: Option<Range<usize>>,
    /// The summary of the round before.
    pub previous_summary: Option<usize>,
}

/// What lies between the system prompt (and the last summary) and the last `keep` messages.
#[must_use]
pub fn select(messages: &[Message], keep: usize) -> Selection {
    if messages.len() <= keep + 1 {
        return Selection {
            compact: None,
            previous_summary: None,
        };
    }
    let mut end = messages.len() - keep;
    while end > 1 && messages.get(end).is_some_and(|m| m.role == Role::Tool) {
        end -= 1;
    }
    let previous_summary = messages.get(1).filter(|m| is_summary(m)).map(|_| 1);
    let start = previous_summary.map_or(1, |at| at + 1);
    Selection {
        compact: (end > start).then_some(start..end),
        previous_summary,
    }
}

fn is_summary(message: &Message) -> bool {
    message.role == Role::Assistant
        && message
            .spoken()
            .next()
            .is_some_and(|text| text.starts_with(SUMMARY_MARK))
}

/// The text of the first message of the user.
#[must_use]
pub fn original_task(messages: &[Message]) -> String {
    messages
        .iter()
        .find(|message| message.role == Role::User)
        .map_or_else(
            || UNKNOWN_TASK.to_owned(),
            |message| message.spoken().collect::<Vec<_>>().join("\n"),
        )
}

/// The transcript that a summariser gets.
#[must_use]
pub fn transcript(messages: &[Message]) -> String {
    let entries: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| {
            let role = message.role.as_str().to_uppercase();
            format!("[{at}] {role}:\n{}", entry_text(message))
        })
        .collect();
    entries.join("\n\n---\n\n")
}

fn entry_text(message: &Message) -> String {
    let lines: Vec<String> = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) | Block::Injected(text) => Some(text.clone()),
            Block::Call(call) => Some(format!("[Tool: {}({})]", call.name, call.arguments)),
            Block::Result(result) => {
                let text = result.texts().collect::<Vec<_>>().join("\n");
                Some(format!("[Result: {}]", cut(&text, RESULT_CHARS, "...")))
            }
            Block::Thinking { .. } | Block::Media(_) | Block::Opaque { .. } => None,
        })
        .collect();
    cut(&lines.join("\n"), MESSAGE_CHARS, "\n[...truncated...]")
}

fn cut(text: &str, chars: usize, sign: &str) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}{sign}", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// The heading of round `round`.
#[must_use]
pub fn heading(round: u32) -> String {
    format!("{SUMMARY_MARK} (Compaction Round {round})")
}

/// The line that says what was done.
#[must_use]
pub fn done_line(round: u32, before: u64, after: u64, messages: usize) -> String {
    format!(
        "[Compaction] Round {round}: {before} → {after} tokens ({messages} messages summarized)"
    )
}
