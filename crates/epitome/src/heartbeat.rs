//! Heartbeats: a check that was answered by "nothing to report" and nothing else.
//!
//! This is a pattern of requests and answers, not a timer. Such exchanges carry no facts, so that they are the first
//! thing that may leave a view.

use std::ops::Range;

use crate::message::{Block, Message, Role};
use crate::{pin, signature};

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
            HeartbeatPart::of(answer) == HeartbeatPart::Ok
                && HeartbeatPart::of(check).is_check(first_typed == Some(*at))
                && !answers_late
        })
        .map(|(at, _)| at..at + 2)
        .collect()
}

/// The part that a message may play in a heartbeat, as far as it can be told from the message alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeartbeatPart {
    /// None.
    #[default]
    None,
    /// A check, if "nothing to report" follows and it does not open the conversation.
    Check,
    /// A check that speaks of a heartbeat itself, so that it is no task even where it opens the conversation.
    NamedCheck,
    /// "Nothing to report", and nothing else.
    Ok,
}

/// A check is a short message; what is longer carries work.
const CHECK_BYTES: usize = 4_000;
/// And shorter still where it does not say what it is.
const UNNAMED_CHECK_BYTES: usize = 1_000;

impl HeartbeatPart {
    /// The part of a message.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        let has_no_pins = || pin::find([(0, message)]).is_empty();
        Self::with(message, message.is_typed_by_user(), has_no_pins)
    }

    /// The part of a message, for a caller who knows whether somebody typed in it and whether it has no pins.
    pub(crate) fn with(
        message: &Message,
        is_typed: bool,
        has_no_pins: impl FnOnce() -> bool,
    ) -> Self {
        match message.role {
            Role::Assistant if is_answer(message) => Self::Ok,
            Role::User if is_typed => check(message, has_no_pins),
            _ => Self::None,
        }
    }

    /// Whether it is a check, given whether it opens the conversation.
    #[must_use]
    pub fn is_check(self, opens: bool) -> bool {
        match self {
            Self::NamedCheck => true,
            Self::Check => !opens,
            Self::None | Self::Ok => false,
        }
    }
}

fn is_answer(message: &Message) -> bool {
    let is_plain = |block: &Block| matches!(block, Block::Text(_) | Block::Thinking { .. });
    message.blocks.iter().all(is_plain)
        && message.spoken().any(is_ok)
        && message
            .spoken()
            .all(|text| is_ok(text) || text.trim().is_empty())
}

fn check(message: &Message, has_no_pins: impl FnOnce() -> bool) -> HeartbeatPart {
    let is_plain = |block: &Block| matches!(block, Block::Text(_) | Block::Injected(_));
    let bytes: usize = message.spoken().map(str::len).sum();
    if bytes > CHECK_BYTES
        || !message.blocks.iter().all(is_plain)
        || message.spoken().any(signature::is_own)
    {
        return HeartbeatPart::None;
    }
    let names_itself = message
        .spoken()
        .any(|text| text.to_ascii_lowercase().contains("heartbeat"));
    if names_itself {
        HeartbeatPart::NamedCheck
    } else if bytes <= UNNAMED_CHECK_BYTES && has_no_pins() {
        HeartbeatPart::Check
    } else {
        HeartbeatPart::None
    }
}
