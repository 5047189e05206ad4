//! What is pinned in a stored conversation: what the compaction in force carries, and what somebody dropped.

use std::fmt;

use anyhow::Result;
use epitome::{Message, Pin, PinState, find_pins};
use epitome_engine::archive::{MOST_FORKS, one_line, path};
use epitome_engine::record::{ForkPlace, Record};
use epitome_store::{
    AnyStore, ChangeKind, Changes, CompactionRow, CompactionState, Compactions, ConversationId,
    Entries, EntryRow, NodeRow, PinRow, Pins, TenantId,
};
use epitome_wire::{Wire, decode, json};
use serde_json::Value;

use crate::terminal::tell;

/// The longest line of a pin.
const TEXT_CHARS: usize = 300;

/// What is pinned in a conversation.
#[derive(Debug)]
pub(super) struct Listing {
    /// The compaction in force.
    pub(super) compaction: Option<String>,
    pins: Vec<Listed>,
}

/// A pin, or what was one.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) text: String,
    /// The message that says it, from 1.
    message: Option<usize>,
    state: State,
}

/// What became of a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InForce,
    Superseded(usize),
    Done(usize),
    Dropped,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::InForce => "in_force",
            Self::Superseded(_) => "superseded",
            Self::Done(_) => "done",
            Self::Dropped => "dropped",
        }
    }

    /// The later message that changed it, from 1.
    const fn by(self) -> Option<usize> {
        match self {
            Self::Superseded(by) | Self::Done(by) => Some(by),
            Self::InForce | Self::Dropped => None,
        }
    }
}

impl Listed {
    pub(super) fn is_dropped(&self) -> bool {
        self.state == State::Dropped
    }
}

impl Listing {
    pub(super) async fn of(
        store: &AnyStore,
        tenant: &TenantId,
        id: &ConversationId,
    ) -> Result<Self> {
        let dropped = PinRow::dropped(store.marked_pins(tenant, id).await?);
        let path = path(store, tenant, id).await?;
        let row = in_force(store, tenant, id, &path, &dropped).await?;
        let carried = match &row {
            Some(row) => match Record::of(row) {
                Ok(record) => record.pins(&row.summary),
                Err(error) => {
                    tell!("epitome: {error}");
                    Vec::new()
                }
            },
            None => Vec::new(),
        };
        let said = said(store, tenant, &path).await?;
        let mut pins: Vec<Listed> = Vec::new();
        for text in carried.into_iter().chain(dropped.iter().cloned()) {
            if pins.iter().any(|listed| listed.text.trim() == text.trim()) {
                continue;
            }
            let is_dropped = dropped.iter().any(|one| one.trim() == text.trim());
            let found = said.iter().rfind(|pin| pin.text.trim() == text.trim());
            pins.push(Listed {
                message: found.map(|pin| pin.position + 1),
                state: match found.map(|pin| pin.state) {
                    _ if is_dropped => State::Dropped,
                    Some(PinState::Superseded { by }) => State::Superseded(by + 1),
                    Some(PinState::Done { by }) => State::Done(by + 1),
                    Some(PinState::Active | PinState::Dropped) | None => State::InForce,
                },
                text,
            });
        }
        Ok(Self {
            compaction: row.map(|row| row.id),
            pins,
        })
    }

    /// A pin by its words, or by its number from 1.
    pub(super) fn find(&self, which: &str) -> Option<&Listed> {
        let mut pins = self.pins.iter();
        let named = pins.find(|listed| listed.text.trim() == which.trim());
        named.or_else(|| {
            let number: usize = which.trim().parse().ok()?;
            self.pins.get(number.checked_sub(1)?)
        })
    }

    pub(super) fn object(&self, id: &ConversationId) -> Value {
        let pins = self.pins.iter().enumerate().map(|(at, listed)| {
            serde_json::json!({
                "number": at + 1,
                "text": listed.text,
                "message": listed.message,
                "state": listed.state.as_str(),
                "changed_by": listed.state.by(),
            })
        });
        let pins: Vec<Value> = pins.collect();
        serde_json::json!({ "session": id.as_str(), "compaction": self.compaction, "pins": pins })
    }

    /// The list, or a word for an empty one.
    pub(super) fn or_nothing(&self) -> String {
        match self.pins.is_empty() {
            true => String::from("nothing"),
            false => self.to_string().trim_end().to_owned(),
        }
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, listed) in self.pins.iter().enumerate() {
            let state = match listed.state {
                State::InForce => String::from("in force"),
                State::Superseded(by) => format!("superseded by message {by}"),
                State::Done(by) => format!("done with message {by}"),
                State::Dropped => String::from("dropped"),
            };
            let from = match listed.message {
                Some(message) => format!("message {message}, "),
                None => String::new(),
            };
            let text = one_line(&listed.text, TEXT_CHARS);
            writeln!(f, "{:>3}  {text}  ({from}{state})", at + 1)?;
        }
        Ok(())
    }
}

/// What the user pinned in a conversation, with what became of it.
async fn said(store: &AnyStore, tenant: &TenantId, path: &[NodeRow]) -> Result<Vec<Pin>> {
    let Some(end) = path.last() else {
        return Ok(Vec::new());
    };
    let entries = store.history(tenant, end.digest).await?;
    let messages: Vec<(usize, Message)> = entries
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| Some((at, message(entry)?)))
        .collect();
    Ok(find_pins(
        messages.iter().map(|(at, message)| (*at, message)),
    ))
}

fn message(entry: &EntryRow) -> Option<Message> {
    let wire = Wire::ALL.iter().find(|wire| wire.as_str() == entry.wire)?;
    let value = json::read(&entry.raw).ok()?;
    Some(decode(*wire, &value).ok()?.message)
}

/// The compaction whose summary is shown: of an engine what its changes lead to, of a proxy the one that goes furthest.
async fn in_force(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
    path: &[NodeRow],
    dropped: &[String],
) -> Result<Option<CompactionRow>> {
    if let Some(made) = made_by_engine(store, tenant, id).await? {
        return Ok(match made.last() {
            Some(newest) => store.compaction(tenant, newest).await?,
            None => None,
        });
    }
    let nodes: Vec<_> = path.iter().map(|node| node.digest).collect();
    let rows = store.compactions_at(tenant, &nodes).await?;
    let published = rows
        .into_iter()
        .filter(|row| row.state == CompactionState::Published);
    Ok(published.max_by_key(|row| {
        // What was given up because of a dropped pin is shown only until the next request.
        let heeds = Record::of(row).is_ok_and(|record| record.heeds(&row.summary, dropped));
        let at = nodes.iter().position(|node| *node == row.node);
        (heeds, at, row.created_ms)
    }))
}

/// The compactions of an engine that are in force, oldest first; `None` where no engine made any.
async fn made_by_engine(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
) -> Result<Option<Vec<String>>> {
    // From the conversation back to where it all began, each with the changes that count.
    let mut line = Vec::new();
    let mut at = id.clone();
    let mut until = usize::MAX;
    for _ in 0..MOST_FORKS {
        let mut changes = store.changes(tenant, &at).await?;
        changes.truncate(until);
        let fork = ForkPlace::of(&changes)?;
        line.push(changes);
        let Some(fork) = fork else {
            break;
        };
        until = fork.parent_changes as usize;
        at = ConversationId::new(&fork.parent)?;
    }
    let changes = || line.iter().rev().flatten();
    if !changes().any(|change| change.kind == ChangeKind::Compacted) {
        return Ok(None);
    }
    let mut made = Vec::new();
    for change in changes() {
        match change.kind {
            ChangeKind::Compacted => made.extend(change.compaction.clone()),
            ChangeKind::Undone => {
                made.pop();
            }
            ChangeKind::Forked | ChangeKind::Superseded => {}
        }
    }
    Ok(Some(made))
}
