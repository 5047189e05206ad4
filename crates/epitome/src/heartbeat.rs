//! Heartbeats: a check that was answered by "nothing to report" and nothing else.
//!
//! This is a pattern of requests and answers, not a timer. Such exchanges carry no facts, so that they are the first
//! thing that may leave a view.

use std::ops::Range;

use crate::message::{Block, Message, Role};
use crate::{pin, summary};

/// The whole answer to a check that found nothing.
pub const HEARTBEAT_OK: &str = "HEARTBEAT_OK";

/// A section for the system prompt of hosts that send heartbeats.
pub const HEARTBEAT_SECTION: &str = "\
## Heartbeats
From time to time a monitor sends a heartbeat: a message that only asks whether anything needs attention.
- If HEARTBEAT.md exists in the workspace, it says what to look at. Look at that and at nothing else.
- If nothing needs attention, answer with exactly HEARTBEAT_OK: no greeting, no explanation, no tool calls beyond the look.
- If something does, leave HEARTBEAT_OK out and say what it is.
- A heartbeat is not a new task. Do not take up old work because of one.
";

/// Whether `text` is [`HEARTBEAT_OK`] and nothing else. Spaces, punctuation, symbols and simple markdown around it
/// are allowed, words are not: what follows the word may be the very thing that needed attention.
#[must_use]
pub fn is_ok(text: &str) -> bool {
    text.trim_matches(|c: char| !c.is_alphanumeric()) == HEARTBEAT_OK
}

/// The heartbeat exchanges among `messages`, in order: each the check and its answer, and never anything with
/// tool traffic, media or blocks that are not understood.
///
/// Both ends of a range are legal cuts. A message that opens a conversation or lays down a standing instruction
/// is a check only if it speaks of a heartbeat itself, because it may be the task.
///
/// ```
/// use epitome::{Message, Role, heartbeat_exchanges};
///
/// let messages = [
///     Message::text(Role::User, "Fix the build."),
///     Message::text(Role::Assistant, "Fixed."),
///     Message::text(Role::User, "Anything that needs attention?"),
///     Message::text(Role::Assistant, "**HEARTBEAT_OK**"),
/// ];
/// assert_eq!(heartbeat_exchanges(&messages), [2..4]);
/// ```
#[must_use]
pub fn exchanges(messages: &[Message]) -> Vec<Range<usize>> {
    let first_typed = messages.iter().position(Message::is_typed_by_user);
    let pairs = messages.iter().zip(messages.iter().skip(1)).enumerate();
    pairs
        .filter(|(at, (check, answer))| {
            let answers_late = messages
                .get(at + 2)
                .is_some_and(|next| next.results().next().is_some());
            is_answer(answer) && is_check(check, first_typed == Some(*at)) && !answers_late
        })
        .map(|(at, _)| at..at + 2)
        .collect()
}

fn is_answer(message: &Message) -> bool {
    let is_plain = |block: &Block| matches!(block, Block::Text(_) | Block::Thinking { .. });
    message.role == Role::Assistant
        && message.blocks.iter().all(is_plain)
        && message.spoken().any(is_ok)
        && message
            .spoken()
            .all(|text| is_ok(text) || text.trim().is_empty())
}

fn is_check(message: &Message, opens: bool) -> bool {
    let is_plain = |block: &Block| matches!(block, Block::Text(_) | Block::Injected(_));
    if !message.is_typed_by_user()
        || !message.blocks.iter().all(is_plain)
        || message.spoken().any(summary::is_own)
    {
        return false;
    }
    let names_itself = message
        .spoken()
        .any(|text| text.to_ascii_lowercase().contains("heartbeat"));
    names_itself || !(opens || has_rules(message))
}

fn has_rules(message: &Message) -> bool {
    !pin::find([(0, message)]).is_empty()
}
