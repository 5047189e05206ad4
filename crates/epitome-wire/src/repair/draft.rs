//! The messages while they are put right.

use bytes::Bytes;

use super::Fix;
use crate::body::Body;
use crate::json::read;
use crate::splice::{Edit, Item};
use crate::validity::{Problem, ProblemCode, Reading, Seen, Setting, judge};
use crate::wire::Wire;

/// A list of messages, and what was done to it.
pub(super) struct Draft {
    entries: Vec<Entry>,
    done: Vec<Fix>,
    changes: usize,
}

/// A message.
#[derive(Clone)]
pub(super) struct Entry {
    /// Which message of the body it was; none for one that is new or that moved.
    pub(super) origin: Option<usize>,
    /// Whom it comes from, for what is said about it.
    pub(super) named: Option<usize>,
    pub(super) bytes: Bytes,
    pub(super) is_changed: bool,
}

impl Entry {
    pub(super) fn made(bytes: Vec<u8>, named: Option<usize>) -> Self {
        Self {
            origin: None,
            named,
            bytes: bytes.into(),
            is_changed: true,
        }
    }

    pub(super) fn changed(&self, bytes: Vec<u8>) -> Self {
        Self {
            bytes: bytes.into(),
            is_changed: true,
            ..self.clone()
        }
    }

    /// The same message at another place.
    pub(super) fn moved(&self) -> Self {
        Self {
            origin: None,
            ..self.clone()
        }
    }
}

impl Draft {
    pub(super) fn of(body: &Body) -> Self {
        let entries = body.messages().iter().enumerate();
        let entries = entries.map(|(index, range)| Entry {
            origin: Some(index),
            named: Some(index),
            bytes: body.bytes().slice(range.clone()),
            is_changed: false,
        });
        Self {
            entries: entries.collect(),
            done: Vec::new(),
            changes: 0,
        }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How often anything was changed.
    pub(super) const fn changes(&self) -> usize {
        self.changes
    }

    pub(super) fn readings(&self) -> Vec<Reading<'_>> {
        self.entries
            .iter()
            .map(|entry| read(&entry.bytes))
            .collect()
    }

    pub(super) fn seen(&self, wire: Wire) -> Vec<Seen> {
        let seen = |reading: &Reading<'_>| Seen::of(wire, reading.as_ref().ok());
        self.readings().iter().map(seen).collect()
    }

    pub(super) fn problems(&self, setting: &Setting) -> Vec<Problem> {
        let messages: Vec<&[u8]> = self
            .entries
            .iter()
            .map(|entry| entry.bytes.as_ref())
            .collect();
        judge(&messages, setting)
    }

    /// Takes these messages instead, for the reasons given.
    pub(super) fn become_these(&mut self, entries: Vec<Entry>, fixes: Vec<Fix>) {
        self.changes += fixes.len();
        if !fixes.is_empty() {
            self.entries = entries;
            self.done.extend(fixes);
        }
    }

    pub(super) fn into_done(self) -> Vec<Fix> {
        self.done
    }

    /// What stands in the list of messages now.
    pub(super) fn items(&self, body: &Body) -> Vec<Item> {
        let item = |entry: &Entry| match (entry.origin, entry.is_changed) {
            (Some(index), false) => Item::Kept(index..index + 1),
            (Some(index), true) => {
                let range = body.messages().get(index).cloned().unwrap_or_default();
                let with = entry.bytes.to_vec();
                Item::Edited(index, vec![Edit { range, with }])
            }
            (None, _) => Item::Inserted(entry.bytes.to_vec()),
        };
        self.entries.iter().map(item).collect()
    }
}

/// A fix of a message, said in the way that all of them are.
pub(super) fn fix(code: ProblemCode, message: Option<usize>, text: &str) -> Fix {
    let text = match message {
        Some(message) => format!("message {}: {text}", message + 1),
        None => text.to_owned(),
    };
    Fix {
        code,
        message,
        text,
    }
}
