//! A request that was understood: what it is, how large, and what its epoch makes of it.

use std::sync::Arc;

use bytes::Bytes;
use epitome::{CacheState, CountedSize, Digest, TurnKind, is_surely_cold, leading_system};
use epitome_engine::known_models::{ModelKey, SummaryPlacement};
use epitome_engine::model::Borrowed;
use epitome_wire::{Body, Conversation, Field};

use crate::epoch::{Applied, Epoch};
use crate::index::Place;

/// So many of the newest counts of a conversation are believed: a provider may count by turns more and less.
const BELIEVED_COUNTS: usize = 2;

/// A request that was understood.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    pub(crate) body: Arc<Body>,
    pub(crate) conversation: Arc<Conversation>,
    pub(crate) place: Place,
    pub(crate) model: ModelKey,
    /// The longest answer it asks for, where it says so.
    pub(crate) output_tokens: Option<u64>,
    /// Tells one set of system prompt and tools from another.
    pub(crate) kind: u64,
    /// Whether what it counts says how its provider counts text.
    pub(crate) turn: TurnKind,
    /// How the summary is put in, if there is one.
    pub(crate) form: SummaryPlacement,
    /// Estimated tokens of system prompt and tools outside the messages.
    pub(crate) fixed_tokens: u64,
    /// Estimated tokens of what goes out.
    pub(crate) sent_tokens: u64,
    pub(crate) epoch: Option<Arc<Epoch>>,
    /// Set where the epoch is shown for the first time: it is published once the provider took the request.
    pub(crate) unpublished: Option<Unpublished>,
    /// The pins that the user dropped, once that was asked.
    pub(crate) dropped_pins: Option<Arc<[String]>>,
    /// What its client lends for summaries, where clients do: never stored.
    pub(crate) lent: Option<Arc<Lent>>,
    /// Whether its client wants it kept out of the store.
    pub(crate) is_private: bool,
    /// Whether its tenant may store it.
    pub(crate) has_room: bool,
    /// Whether a model may be asked to summarise.
    pub(crate) asks_models: bool,
    pub(crate) now_ms: i64,
}

/// A compaction that is shown for the first time.
#[derive(Clone, Debug)]
pub(crate) struct Unpublished {
    /// What its record says by now, where that is more than when it was prepared.
    pub(crate) record: Option<String>,
}

/// Where a request goes and who asks, so that a summary can be asked for in the same name.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) base: String,
    pub(crate) headers: Borrowed,
}

impl Ticket {
    /// Whether nothing of it is stored.
    pub(crate) const fn is_kept_out(&self) -> bool {
        self.is_private || !self.has_room
    }

    /// The pins that the user dropped, as far as that was asked.
    pub(super) fn dropped_pins(&self) -> &[String] {
        self.dropped_pins.as_deref().unwrap_or_default()
    }

    /// Estimated tokens of the whole request as the client sent it.
    pub(super) fn total_tokens(&self) -> u64 {
        self.fixed_tokens + self.conversation.log.total_tokens()
    }

    /// What it has besides its messages.
    pub(super) fn frame(&self) -> epitome::Frame {
        epitome::Frame {
            tokens: self.fixed_tokens,
            kind: self.kind,
            output_tokens: self.output_tokens,
            ..epitome::Frame::default()
        }
    }

    /// What the provider counted of this conversation under an epoch, newest first.
    pub(super) fn anchors(&self, epoch: Option<&Epoch>) -> Vec<CountedSize> {
        let id = epoch.map(|epoch| epoch.id.as_str());
        let counts = self.place.counts.iter();
        counts
            .filter(|counted| counted.epoch.as_deref() == id)
            .take(BELIEVED_COUNTS)
            .map(|counted| counted.anchor)
            .collect()
    }

    /// The request with its epoch applied, as bytes; `None` where there is none or it cannot be put in.
    pub(super) fn rendered(&self, applied: &Applied) -> Option<Bytes> {
        let epoch = self.epoch.as_ref()?;
        let merged = format!("\n\n{}", epoch.summary);
        let summary = match self.form {
            SummaryPlacement::OwnMessage => &*epoch.summary,
            SummaryPlacement::Alternating => &merged,
        };
        let splice = self.body.render(&applied.view, summary).ok()?;
        Some(splice.into_bytes())
    }

    pub(super) fn cache_state(&self) -> CacheState {
        let cache = self.model.in_table().and_then(|model| model.cache);
        let touched = self.place.touched_ms;
        match touched.is_some_and(|touched| is_surely_cold(self.now_ms - touched, cache)) {
            true => CacheState::Cold,
            false => CacheState::Warm,
        }
    }
}

/// What a request has besides its conversation.
pub(super) struct Frame {
    /// At a quarter of the bytes: it is JSON, mostly ASCII.
    pub(super) tokens: u64,
    /// Tells one system prompt and set of tools from another.
    pub(super) kind: u64,
}

pub(super) fn frame(body: &Body, conversation: &Conversation) -> Frame {
    let mut tokens = 0;
    let mut digests = Vec::new();
    for field in [Field::System, Field::Instructions, Field::Tools] {
        let Some(bytes) = body.field(field) else {
            continue;
        };
        tokens += bytes.len() as u64 / 4;
        digests.extend_from_slice(Digest::of(bytes).as_bytes());
    }
    // Where the API has no place for it, the system prompt is in front of the messages.
    let system = leading_system(&conversation.log);
    for message in conversation.messages.iter().take(system) {
        digests.extend_from_slice(message.exact.as_bytes());
    }
    Frame {
        tokens,
        kind: Digest::of(&digests).prefix(),
    }
}
