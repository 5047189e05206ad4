//! The items of a rollout as they are spelled, by the message that each belongs to.
//!
//! What stays of a history has to stay word for word: a provider takes reasoning back only with its own ids and
//! signatures, and these are in no message.

use epitome_wire::json::Value;

use super::Reader;
use crate::blocks::{content, flat_text, raw};
use crate::error::ReadError;
use crate::event::Event;
use crate::lines::{Entry, entries};
use epitome::{Message, Role};

/// How texts begin that Codex puts in front of a turn by itself, and puts there again after a compaction.
const REPEATED: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<recommended_plugins>",
];

/// One item of a rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// As it is spelled.
    pub(crate) json: String,
    /// Whether Codex says it again by itself after a compaction.
    pub(crate) is_repeated: bool,
    /// Whether we wrote it, so that every blank in it counts.
    pub(crate) is_exact: bool,
}

/// The items of a file.
#[derive(Debug, Default)]
pub(crate) struct Items {
    /// For each message of the conversation.
    pub(crate) messages: Vec<Vec<Item>>,
    /// For each message of the history that the last compaction put in place of an earlier one.
    pub(crate) replaced: Vec<Vec<Item>>,
}

impl Items {
    /// The items of a file, found by reading it.
    pub(crate) fn of(mut file: &[u8]) -> Result<Self, ReadError> {
        let mut reader = Reader::default();
        let mut groups = Groups::default();
        let mut replaced = Vec::new();
        entries(&mut file, &mut |_| {}, |entry, _| {
            let value = &entry.value;
            let payload = value.get("payload");
            let item = match value.string("type").as_deref() {
                Some("response_item") => payload,
                Some("compacted") => {
                    let history = payload.and_then(|payload| payload.get("replacement_history"));
                    replaced = history.map_or_else(Vec::new, |history| of_history(history, entry));
                    None
                }
                // The oldest rollouts have bare items.
                _ if payload.is_none() && value.get("type").is_some() => Some(value),
                _ => None,
            };
            let item = item.map(|item| item_of(item, entry));
            groups.follow(item, |emit| reader.entry(entry, emit));
        })?;
        Ok(Self {
            messages: groups.end(),
            replaced,
        })
    }
}

fn of_history(history: &Value<'_>, entry: &Entry<'_>) -> Vec<Vec<Item>> {
    let mut reader = Reader::default();
    let mut groups = Groups::default();
    for item in history.items() {
        let found = item_of(item, entry);
        groups.follow(Some(found), |emit| reader.replacement(item, entry, emit));
    }
    groups.end()
}

fn item_of(item: &Value<'_>, entry: &Entry<'_>) -> Item {
    let is_exact = entry.is_exact();
    Item {
        json: raw(item, entry.bytes),
        is_repeated: !is_exact && is_repeated(item, entry),
        is_exact,
    }
}

fn is_repeated(item: &Value<'_>, entry: &Entry<'_>) -> bool {
    match item.string("role").as_deref() {
        Some("developer") => true,
        Some("user") => {
            let parts = content(item.get("content"), Role::System, entry.bytes);
            !parts.is_empty()
                && parts.into_iter().all(|part| {
                    let text = flat_text(&Message {
                        role: Role::User,
                        blocks: vec![part],
                    });
                    is_repeated_text(&text)
                })
        }
        _ => false,
    }
}

/// Whether Codex puts this text in front of a turn by itself.
pub(crate) fn is_repeated_text(text: &str) -> bool {
    let text = text.trim_start();
    REPEATED.iter().any(|start| text.starts_with(start))
}

/// Items by message, while a file is read.
#[derive(Default)]
struct Groups {
    groups: Vec<Vec<Item>>,
    /// Items that are part of no message yet: reasoning belongs to the answer behind it.
    waiting: Vec<Item>,
}

impl Groups {
    /// Finds out to which message an item belongs, by what the reader says of it.
    fn follow(&mut self, item: Option<Item>, read: impl FnOnce(&mut dyn FnMut(Event))) {
        let mut place = None;
        read(&mut |event| match event {
            Event::Message { message, .. } => {
                // Only an answer takes what waits; before anything else it belongs to what came before.
                if message.role != Role::Assistant {
                    self.settle();
                }
                self.groups.push(Vec::new());
                place = Some(self.groups.len() - 1);
            }
            Event::More { index, .. } => place = Some(index),
            _ => {}
        });
        let Some(item) = item else {
            return;
        };
        self.waiting.push(item);
        if let Some(group) = place.and_then(|place| self.groups.get_mut(place)) {
            group.append(&mut self.waiting);
        }
    }

    fn settle(&mut self) {
        if let Some(last) = self.groups.last_mut() {
            last.append(&mut self.waiting);
        }
    }

    fn end(mut self) -> Vec<Vec<Item>> {
        self.settle();
        self.groups
    }
}
