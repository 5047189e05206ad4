//! What is pinned in a stored conversation: what the compaction in force carries, and what somebody dropped.

use epitome::{Message, Pin, PinState, find_pins};
use epitome_store::{
    AnyStore, ChangeKind, Changes, CompactionRow, CompactionState, Compactions, ConversationId,
    Conversations, Entries, EntryRow, NodeRow, PinMark, PinRow, Pins, TenantId,
};
use epitome_wire::{Wire, decode, json};
use serde_json::Value;

use super::{ArchiveError, MOST_FORKS, path};
use crate::record::{ForkPlace, Record, RecordError};

/// What is pinned in a conversation.
#[derive(Debug, Default)]
pub struct PinList {
    /// The compaction in force.
    pub compaction: Option<String>,
    /// The pins, those that are carried first.
    pub pins: Vec<ListedPin>,
    /// Why the pins of the compaction in force are not among them, where that is so.
    pub unreadable: Option<RecordError>,
}

/// A pin, or what was one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPin {
    /// What the user said, word for word.
    pub text: String,
    /// The message that says it, from 1.
    pub message: Option<usize>,
    /// What became of it.
    pub state: ListedPinState,
}

/// What became of a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedPinState {
    /// It is carried.
    InForce,
    /// A later message, from 1, took its place.
    Superseded(usize),
    /// It was done with this message, from 1.
    Done(usize),
    /// Somebody said that it is none.
    Dropped,
}

impl ListedPinState {
    /// The name of it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InForce => "in_force",
            Self::Superseded(_) => "superseded",
            Self::Done(_) => "done",
            Self::Dropped => "dropped",
        }
    }

    /// The later message that changed it, from 1.
    #[must_use]
    pub const fn by(self) -> Option<usize> {
        match self {
            Self::Superseded(by) | Self::Done(by) => Some(by),
            Self::InForce | Self::Dropped => None,
        }
    }
}

impl ListedPin {
    /// Whether it stays word for word.
    #[must_use]
    pub fn is_in_force(&self) -> bool {
        self.state == ListedPinState::InForce
    }

    /// Whether somebody said that it is none.
    #[must_use]
    pub fn is_dropped(&self) -> bool {
        self.state == ListedPinState::Dropped
    }
}

impl PinList {
    /// A pin by its words, or by its number from 1.
    #[must_use]
    pub fn find(&self, which: &str) -> Option<&ListedPin> {
        let mut pins = self.pins.iter();
        let named = pins.find(|listed| listed.text.trim() == which.trim());
        named.or_else(|| {
            let number: usize = which.trim().parse().ok()?;
            self.pins.get(number.checked_sub(1)?)
        })
    }

    /// The pins as `pins --json` and the control API print them.
    #[must_use]
    pub fn objects(&self) -> Vec<Value> {
        let pins = self.pins.iter().enumerate().map(|(at, listed)| {
            serde_json::json!({
                "number": at + 1,
                "text": listed.text,
                "message": listed.message,
                "state": listed.state.as_str(),
                "changed_by": listed.state.by(),
            })
        });
        pins.collect()
    }
}

/// What is pinned in a conversation. `None` when there is no such conversation.
///
/// # Errors
/// [`ArchiveError`] when the store does not answer.
pub async fn pins(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
) -> Result<Option<PinList>, ArchiveError> {
    if store.conversation(tenant, id).await?.is_none() {
        return Ok(None);
    }
    let path = path(store, tenant, id).await?;
    let entries = match path.last() {
        Some(end) => store.history(tenant, end.digest).await?,
        None => Vec::new(),
    };
    Ok(Some(pins_among(store, tenant, id, &path, &entries).await?))
}

/// The same where the nodes and entries of the conversation are at hand.
pub(super) async fn pins_among(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
    path: &[NodeRow],
    entries: &[EntryRow],
) -> Result<PinList, ArchiveError> {
    let dropped = PinRow::dropped(store.marked_pins(tenant, id).await?);
    let row = in_force(store, tenant, id, path, &dropped).await?;
    let (carried, unreadable) = match row.as_ref().map(|row| (row, Record::of(row))) {
        Some((row, Ok(record))) => (record.pins(&row.summary), None),
        Some((_, Err(error))) => (Vec::new(), Some(error)),
        None => (Vec::new(), None),
    };
    let said = said(entries);
    let mut pins: Vec<ListedPin> = Vec::new();
    for text in carried.into_iter().chain(dropped.iter().cloned()) {
        if pins.iter().any(|listed| listed.text.trim() == text.trim()) {
            continue;
        }
        let is_dropped = dropped.iter().any(|one| one.trim() == text.trim());
        let found = said.iter().rfind(|pin| pin.text.trim() == text.trim());
        pins.push(ListedPin {
            message: found.map(|pin| pin.position + 1),
            state: match found.map(|pin| pin.state) {
                _ if is_dropped => ListedPinState::Dropped,
                Some(PinState::Superseded { by }) => ListedPinState::Superseded(by + 1),
                Some(PinState::Done { by }) => ListedPinState::Done(by + 1),
                Some(PinState::Active | PinState::Dropped) | None => ListedPinState::InForce,
            },
            text,
        });
    }
    Ok(PinList {
        compaction: row.map(|row| row.id),
        pins,
        unreadable,
    })
}

/// Says of a pin that it is none, or that it is one after all, from the next request on.
///
/// # Errors
/// [`ArchiveError`] when the store does not answer.
pub async fn mark_pin(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
    pin: &ListedPin,
    mark: PinMark,
    now_ms: i64,
) -> Result<(), ArchiveError> {
    let row = PinRow {
        conversation: id.clone(),
        text: pin.text.trim().to_owned(),
        mark,
        at_ms: now_ms,
    };
    Ok(store.mark_pin(tenant, &row).await?)
}

/// What the user pinned in a conversation, with what became of it.
fn said(entries: &[EntryRow]) -> Vec<Pin> {
    let messages: Vec<(usize, Message)> = entries
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| Some((at, message(entry)?)))
        .collect();
    find_pins(messages.iter().map(|(at, message)| (*at, message)))
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
) -> Result<Option<CompactionRow>, ArchiveError> {
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
) -> Result<Option<Vec<String>>, ArchiveError> {
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
