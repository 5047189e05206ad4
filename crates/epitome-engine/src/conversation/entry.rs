//! Messages as the store keeps them: bytes, keys, links.

use bytes::Bytes;
use epitome::{Digest, Message};
use epitome_store::{EntryRow, EntryWords, NodeRow};
use epitome_wire::{Wire, decode, encode, json, searchable_text};

use super::ConversationError;
use crate::shared::Shared;

/// One message: its bytes and what they say.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) raw: Bytes,
    pub(super) message: Message,
}

/// The place of the newest entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tip {
    pub(super) node: Digest,
    pub(super) position: u32,
    /// Whether the conversation appended it itself: a fork begins behind a node of another one.
    pub(super) is_own: bool,
}

impl Entry {
    /// Reads the bytes of one message.
    pub(super) fn read(wire: Wire, raw: Bytes) -> Result<Self, ConversationError> {
        let unreadable = |why: String| ConversationError::Unreadable { wire, why };
        let value = json::read(&raw).map_err(|error| unreadable(error.to_string()))?;
        let decoded = decode(wire, &value).map_err(|error| unreadable(error.to_string()))?;
        let message = decoded.message;
        Ok(Self { raw, message })
    }

    /// A message as one or more entries of a wire.
    pub(super) fn of(wire: Wire, message: &Message) -> Result<Vec<Self>, ConversationError> {
        let encoded = encode(wire, message);
        if encoded.is_empty() {
            return Err(ConversationError::Empty);
        }
        encoded
            .into_iter()
            .map(|raw| Self::read(wire, Bytes::from(raw)))
            .collect()
    }
}

/// The rows that entries become behind `tip`.
pub(super) struct Rows {
    pub(super) entries: Vec<EntryRow>,
    pub(super) nodes: Vec<NodeRow>,
    pub(super) words: Vec<EntryWords>,
    pub(super) tip: Option<Tip>,
}

impl Rows {
    pub(super) fn of(
        shared: &Shared,
        conversation: &epitome_store::ConversationId,
        tip: Option<Tip>,
        entries: &[Entry],
    ) -> Self {
        let wire = shared.wire;
        let mut rows = Self {
            entries: Vec::with_capacity(entries.len()),
            nodes: Vec::with_capacity(entries.len()),
            words: Vec::with_capacity(entries.len()),
            tip,
        };
        for entry in entries {
            let key = shared.key_of(&[wire.as_str().as_bytes(), &entry.raw]);
            let parent = rows.tip.map(|tip| tip.node);
            // The same words at the same place of two conversations are two nodes: each has a name of its own.
            let before = match &parent {
                Some(parent) => parent.as_bytes().as_slice(),
                None => conversation.as_str().as_bytes(),
            };
            let node = shared.key_of(&[conversation.as_str().as_bytes(), before, key.as_bytes()]);
            let position = rows.tip.map_or(0, |tip| tip.position + 1);
            let tokens = shared.meter.message(&entry.message);
            rows.entries.push(EntryRow {
                key,
                raw: entry.raw.clone(),
                wire: wire.as_str().to_owned(),
                tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            });
            rows.nodes.push(NodeRow {
                digest: node,
                parent,
                entry: key,
                position,
                conversation: conversation.clone(),
            });
            rows.words.push(EntryWords {
                key,
                text: searchable_text(&entry.message),
            });
            rows.tip = Some(Tip {
                node,
                position,
                is_own: true,
            });
        }
        rows
    }
}
