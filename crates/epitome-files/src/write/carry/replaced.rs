//! A history that replaced an earlier one, for formats whose compactions are a summary and the messages that stay.

use epitome::{Message, Role};

use crate::blocks::flat_text;
use crate::codex::is_repeated_text;
use crate::event::{Kept, Recorded};

/// How such a format tells it.
pub(super) struct Told {
    pub(super) summary: String,
    pub(super) kept: Kept,
    /// Whether more than the summary had to be put into words.
    pub(super) is_changed: bool,
}

/// The newest messages before the compaction that stand at the end of the history stay; the rest of it is text.
pub(super) fn told(messages: &[Message], history: &[Message], recorded: &Recorded) -> Told {
    let before = messages.get(..recorded.at).unwrap_or(messages);
    let mut first = before.len();
    let mut rest = history.len();
    for (at, message) in before.iter().enumerate().rev() {
        let Some(last) = rest.checked_sub(1).and_then(|last| history.get(last)) else {
            break;
        };
        if is_same(message, last) {
            (first, rest) = (at, rest - 1);
        } else if !is_said_again(message) {
            break;
        }
    }
    let rest = history.get(..rest).unwrap_or_default();
    let texts: Vec<String> = rest
        .iter()
        .filter(|message| !is_said_again(message))
        .map(flat_text)
        .filter(|text| !text.trim().is_empty())
        .collect();
    let is_summary_alone = texts.iter().all(|text| *text == recorded.summary);
    Told {
        summary: match is_summary_alone && !recorded.summary.is_empty() {
            true => recorded.summary.clone(),
            false => texts.join("\n\n"),
        },
        kept: match first < before.len() {
            true => Kept::From(first),
            false => Kept::Nothing,
        },
        is_changed: !is_summary_alone || rest.len() > texts.len(),
    }
}

/// Whether the agent says it anew by itself.
fn is_said_again(message: &Message) -> bool {
    message.role == Role::System
        || message.role == Role::User && is_repeated_text(&flat_text(message))
}

/// Whether two messages say the same; inside a history blanks at the ends and failures are not told apart.
fn is_same(one: &Message, other: &Message) -> bool {
    let calls = |message: &Message| -> Vec<Box<str>> {
        let results = message.results().map(|result| result.call_id.clone());
        let calls = message.calls().map(|call| call.id.clone());
        calls.chain(results).collect()
    };
    one.role == other.role
        && calls(one) == calls(other)
        && flat_text(one).trim() == flat_text(other).trim()
}
