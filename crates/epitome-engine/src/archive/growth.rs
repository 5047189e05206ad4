//! How a conversation grew, and what of it was sent: by the sizes of its messages.
//!
//! When a compaction was first shown is not stored with the messages. It is where the history had the size that it was made at: the
//! whole of it where every round is made from the originals, else what was shown of it before.

use epitome_store::{CompactionRow, CompactionState};
use serde_json::{Value, json};

use super::ListedMessage;
use super::span::span;
use crate::record::{MadeFor, Record};

/// How a conversation grew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// After each message: what the whole history takes, and what is shown of it.
    pub points: Vec<(u64, u64)>,
    /// After how many messages a request went out, or will: nothing is sent in between.
    pub asked: Vec<usize>,
    /// The compactions that are shown, with the number of messages at which each was first.
    pub rounds: Vec<(String, usize)>,
    /// The window that the newest one was made for, where that is known.
    pub window_tokens: Option<u64>,
    /// What was sent less.
    pub savings: Savings,
}

/// What compactions spared a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Savings {
    /// Requests that went out shorter.
    pub requests: u64,
    /// What they would have taken.
    pub tokens_before: u64,
    /// What they took.
    pub tokens_after: u64,
}

impl Savings {
    /// Tokens that were not sent.
    #[must_use]
    pub const fn tokens(self) -> u64 {
        self.tokens_before.saturating_sub(self.tokens_after)
    }

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            tokens_before: self.tokens_before + other.tokens_before,
            tokens_after: self.tokens_after + other.tokens_after,
        }
    }

    /// The savings as the control API prints them.
    #[must_use]
    pub fn object(self) -> Value {
        json!({
            "requests": self.requests,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "tokens_saved": self.tokens(),
        })
    }
}

/// What is shown from some message on.
struct Shown {
    from: usize,
    /// Tokens in front and of the summary, less those of the history up to the end of the span: to be added to the history.
    change: i128,
}

/// How a conversation with these messages grew under these compactions, oldest first.
#[must_use]
pub fn growth(messages: &[ListedMessage], compactions: &[CompactionRow]) -> Growth {
    let mut sums = Vec::with_capacity(messages.len() + 1);
    let mut sum = 0_u64;
    sums.push(sum);
    for message in messages {
        sum += u64::from(message.tokens);
        sums.push(sum);
    }
    let size = |shown: Option<&Shown>, count: usize| -> u64 {
        let whole = i128::from(sums.get(count).copied().unwrap_or(sum));
        let change = shown.map_or(0, |shown| shown.change);
        u64::try_from(whole + change).unwrap_or(0)
    };
    let mut shown: Vec<Shown> = Vec::new();
    let mut rounds = Vec::new();
    let mut window_tokens = None;
    let published = compactions
        .iter()
        .filter(|row| row.state == CompactionState::Published);
    for row in published {
        let within = span(row);
        let (head, end) = (within.start as usize, within.end as usize);
        let earliest = shown.last().map_or(0, |last| last.from + 1).max(end);
        let before = shown.last().filter(|_| !is_made_from_originals(row));
        let distance = |count: &usize| size(before, *count).abs_diff(row.tokens_before);
        let Some(from) = (earliest..=messages.len()).min_by_key(distance) else {
            continue;
        };
        let until = |count: usize| i128::from(sums.get(count).copied().unwrap_or(sum));
        let change = until(head) + i128::from(summary_tokens(row)) - until(end);
        shown.push(Shown { from, change });
        rounds.push((row.id.clone(), from));
        let made_for = MadeFor::read(&row.model_class);
        window_tokens = made_for.and_then(MadeFor::window_tokens).or(window_tokens);
    }
    let at = |count: usize| shown.iter().rfind(|one| one.from <= count);
    let points = (1..sums.len()).map(|count| (size(None, count), size(at(count), count)));
    let mut savings = Savings::default();
    // Every answer was asked for, and so is the one that is not there yet.
    let asked = (1..=messages.len()).filter(|count| {
        let answer = messages.get(*count).map(|message| message.role);
        answer.is_none_or(|role| role == Some("assistant"))
    });
    let is_answered = messages
        .last()
        .is_none_or(|message| message.role == Some("assistant"));
    let asked = asked.filter(|count| *count < messages.len() || !is_answered);
    let asked: Vec<usize> = asked.collect();
    for count in asked.iter().copied() {
        if let Some(one) = at(count) {
            savings.requests += 1;
            savings.tokens_before += size(None, count);
            savings.tokens_after += size(Some(one), count);
        }
    }
    Growth {
        points: points.collect(),
        asked,
        rounds,
        window_tokens,
        savings,
    }
}

/// Whether the size that it was made at is that of the whole history: a proxy keeps a view only where rounds build on each other.
fn is_made_from_originals(row: &CompactionRow) -> bool {
    matches!(Record::of(row), Ok(Record::Chain(record)) if record.view.is_none())
}

/// What the summary takes, as its record says, or as the sizes around it do.
fn summary_tokens(row: &CompactionRow) -> u64 {
    match Record::of(row) {
        Ok(Record::Chain(record)) => record.summary_tokens,
        Ok(Record::Session(record)) => record.compaction.summary_tokens,
        _ => row.tokens_after,
    }
}

impl Growth {
    /// The growth as the control API prints it.
    #[must_use]
    pub fn object(&self) -> Value {
        let rounds = self.rounds.iter();
        let rounds: Vec<Value> = rounds
            .map(|(id, messages)| json!({"compaction": id, "messages": messages}))
            .collect();
        let points = self.points.iter();
        let points: Vec<Value> = points.map(|(whole, shown)| json!([whole, shown])).collect();
        json!({ "points": points, "asked": self.asked, "rounds": rounds, "window_tokens": self.window_tokens })
    }
}

#[cfg(test)]
#[path = "growth_tests.rs"]
mod tests;
