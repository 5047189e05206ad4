//! `vibe`: an absolute threshold on reported usage; everything after the system prompt becomes one message.

use crate::message::{Block, Message, ResultPart, Role, ToolResult};

/// Reported context tokens from which a conversation is compacted.
pub const THRESHOLD_TOKENS: i64 = 200_000;
/// Stands for a result that never came.
pub const NO_RESPONSE: &str = "Tool no response";
/// Ends a history that would end on a tool result.
pub const UNDERSTOOD: &str = "Understood.";
/// The line shown while it happens.
pub const START_LINE: &str = "Compacting conversation history...";
/// Stands before the last request of the user.
pub const LAST_REQUEST: &str = "Last request from user was: ";

/// What to do before a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeforeTurn {
    /// Go on.
    Continue,
    /// Tell the user that half the threshold is reached.
    Warn,
    /// Compact.
    Compact,
}

/// Whether the user wants to be warned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warnings {
    /// Yes.
    On,
    /// No.
    Off,
}

/// Decides before a turn. A threshold of zero or less switches both off.
#[must_use]
pub fn before_turn(context_tokens: i64, threshold: i64, warnings: Warnings) -> BeforeTurn {
    if threshold <= 0 {
        BeforeTurn::Continue
    } else if context_tokens >= threshold {
        BeforeTurn::Compact
    } else if warnings == Warnings::On && context_tokens as f64 >= threshold as f64 * 0.5 {
        BeforeTurn::Warn
    } else {
        BeforeTurn::Continue
    }
}

/// A history made whole: entries by position, and messages that had to be put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleaned {
    /// An entry as it was.
    Entry(usize),
    /// A message that was missing.
    Filled(Message),
}

/// Gives every call a response and never ends on a tool message.
#[must_use]
pub fn clean(messages: &[Message]) -> Vec<Cleaned> {
    let mut out = Vec::with_capacity(messages.len());
    if messages.len() < 2 {
        out.extend((0..messages.len()).map(Cleaned::Entry));
        return out;
    }
    let mut open: Vec<&str> = Vec::new();
    for (position, message) in messages.iter().enumerate() {
        if message.role == Role::Tool {
            for result in message.results() {
                open.retain(|id| *id != &*result.call_id);
            }
        } else {
            out.extend(open.drain(..).map(|id| Cleaned::Filled(no_response(id))));
            open = message.calls().map(|call| call.id.as_ref()).collect();
        }
        out.push(Cleaned::Entry(position));
    }
    out.extend(open.drain(..).map(|id| Cleaned::Filled(no_response(id))));
    let ends_on_tool = match out.last() {
        Some(Cleaned::Filled(_)) => true,
        Some(Cleaned::Entry(at)) => messages.get(*at).is_some_and(|m| m.role == Role::Tool),
        None => false,
    };
    if ends_on_tool {
        out.push(Cleaned::Filled(Message::text(Role::Assistant, UNDERSTOOD)));
    }
    out
}

fn no_response(id: &str) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: id.into(),
            parts: vec![ResultPart::Text(NO_RESPONSE.to_owned())],
            is_error: false,
        })],
    }
}

/// The text of the message that stands for the whole history.
#[must_use]
pub fn summary_text(messages: &[Message], summary: &str) -> String {
    let last = messages
        .iter()
        .rev()
        .find(|message| message.role == Role::User);
    match last {
        Some(message) => {
            let request = message.spoken().collect::<Vec<_>>().join("\n");
            format!("{summary}\n\n{LAST_REQUEST}{request}")
        }
        None => summary.to_owned(),
    }
}

/// The line shown when it is done.
#[must_use]
pub fn done_line(old_tokens: u64, new_tokens: u64) -> String {
    let saved = old_tokens.saturating_sub(new_tokens);
    let percent = (saved * 100).checked_div(old_tokens).unwrap_or(0);
    format!(
        "Compaction complete: {} → {} tokens (-{percent}%)",
        grouped(old_tokens),
        grouped(new_tokens)
    )
}

/// `1234567` → `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Running statistics from reported usage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Turns so far.
    pub steps: u64,
    /// Prompt tokens of all turns.
    pub session_prompt_tokens: u64,
    /// Completion tokens of all turns.
    pub session_completion_tokens: u64,
    /// Prompt and completion of the last turn: the size of the context.
    pub context_tokens: u64,
    /// Prompt tokens of the last turn.
    pub last_turn_prompt_tokens: u64,
    /// Completion tokens of the last turn.
    pub last_turn_completion_tokens: u64,
    /// Speed of the last turn that had one.
    pub tokens_per_second: f64,
}

impl Stats {
    /// Takes in the usage of a turn.
    pub fn update(&mut self, prompt_tokens: u64, completion_tokens: u64, seconds: f64) {
        self.steps += 1;
        self.session_prompt_tokens += prompt_tokens;
        self.session_completion_tokens += completion_tokens;
        self.context_tokens = prompt_tokens + completion_tokens;
        self.last_turn_prompt_tokens = prompt_tokens;
        self.last_turn_completion_tokens = completion_tokens;
        if seconds > 0.0 && completion_tokens > 0 {
            self.tokens_per_second = completion_tokens as f64 / seconds;
        }
    }
}
