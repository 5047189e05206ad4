//! Simple ways to compact a history, without a model: what the built-in summariser has to beat.
//!
//! Each gives the text of the compacted context for the messages before a cut. System messages are kept aside: they
//! are neither in the text nor counted.

mod lines;
mod ranked;

use crate::history::{History, MESSAGE_TOKENS};
use crate::session::Speaker;
use crate::text::{fit, suffix, tokens};

pub(super) use lines::{random_lines, tfidf_lines};
pub(super) use ranked::{cover_lines, ledger};

/// Messages whose tool results masking leaves alone.
const UNMASKED: usize = 10;
const OMITTED: &str = "[tool result omitted]";

/// The newest messages that fit a budget.
struct Tail {
    text: String,
    /// The first message of the tail: what lies before is dropped.
    start: usize,
    tokens: u64,
}

impl Tail {
    fn of(history: &History, at: usize, budget: u64) -> Self {
        Self::with(history, at, budget, |position| history.text(position))
    }

    fn with<'a>(
        history: &History,
        at: usize,
        budget: u64,
        text_of: impl Fn(usize) -> &'a str,
    ) -> Self {
        let mut kept: Vec<&str> = Vec::new();
        let mut used = 0;
        let mut start = at;
        for position in (0..at).rev() {
            if history.role(position) == Some(Speaker::System) {
                start = position;
                continue;
            }
            let text = text_of(position);
            let cost = tokens(text) + MESSAGE_TOKENS;
            if used + cost > budget {
                // Of a message that is too large by itself the end is kept.
                if kept.is_empty() {
                    kept.push(suffix(text, characters(budget)));
                    used = budget;
                }
                break;
            }
            kept.push(text);
            used += cost;
            start = position;
        }
        kept.reverse();
        Self {
            text: kept.join("\n"),
            start,
            tokens: used,
        }
    }
}

pub(crate) fn characters(tokens: u64) -> usize {
    usize::try_from(tokens * 4).unwrap_or(usize::MAX)
}

/// The messages of the user from the first on, each clipped, until `budget` is used up.
fn said(history: &History, at: usize, clip: u64, budget: u64) -> (String, u64) {
    let mut kept = Vec::new();
    let mut used = 0;
    for (position, entry) in history.before(at) {
        if entry.role != Speaker::User {
            continue;
        }
        let text = fit(history.text(position), clip);
        let cost = tokens(text) + MESSAGE_TOKENS;
        if used + cost > budget {
            break;
        }
        kept.push(text);
        used += cost;
    }
    (kept.join("\n"), used)
}

pub(super) fn drop_oldest(history: &History, at: usize, budget: u64) -> String {
    Tail::of(history, at, budget).text
}

/// The first message of the user, clipped, and the newest messages.
pub(super) fn head_tail(history: &History, at: usize, budget: u64) -> String {
    let first = history
        .before(at)
        .find(|(_, entry)| entry.role == Speaker::User);
    let head = first.map(|(position, _)| fit(history.text(position), budget / 4));
    let used = head.map_or(0, |head| tokens(head) + MESSAGE_TOKENS);
    let tail = Tail::of(history, at, budget.saturating_sub(used));
    format!("{}\n{}", head.unwrap_or(""), tail.text)
}

fn masked<'a>(history: &'a History, at: usize) -> impl Fn(usize) -> &'a str {
    move |position| {
        let is_old = position + UNMASKED < at;
        if is_old && history.role(position) == Some(Speaker::Tool) {
            OMITTED
        } else {
            history.text(position)
        }
    }
}

/// Old tool results become a stub; then the oldest messages go.
pub(super) fn mask_tools(history: &History, at: usize, budget: u64) -> String {
    Tail::with(history, at, budget, masked(history, at)).text
}

/// Masking, with what the user said in front.
pub(super) fn mask_users(history: &History, at: usize, budget: u64) -> String {
    let (said, used) = said(history, at, 200, budget / 3);
    let room = budget.saturating_sub(used);
    let tail = Tail::with(history, at, room, masked(history, at));
    format!("{said}\n{}", tail.text)
}
