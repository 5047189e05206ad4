//! A request that was understood: what it is, how large, and what its epoch makes of it.

use std::sync::Arc;

use bytes::Bytes;
use epitome::{
    Anchor, CachePrices, Digest, Gauge, Reading, TurnGrowth, TurnKind, is_surely_cold,
    leading_system,
};
use epitome_wire::{Body, Conversation, Field};

use crate::epoch::{Applied, Epoch};
use crate::index::Place;
use crate::models::{Form, ModelKey};

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
    pub(crate) form: Form,
    /// Estimated tokens of system prompt and tools outside the messages.
    pub(crate) fixed_tokens: u64,
    /// Estimated tokens of what goes out.
    pub(crate) sent_tokens: u64,
    pub(crate) epoch: Option<Arc<Epoch>>,
    pub(crate) now_ms: i64,
}

impl Ticket {
    /// Estimated tokens of the whole request as the client sent it.
    pub(super) fn total_tokens(&self) -> u64 {
        self.fixed_tokens + self.conversation.log.total_tokens()
    }

    /// How large the request is with `saved_tokens` (estimated) taken off by `epoch`.
    pub(super) fn read(&self, gauge: &Gauge, saved_tokens: u64, epoch: Option<&Epoch>) -> Reading {
        let sent = self.total_tokens().saturating_sub(saved_tokens);
        let id = epoch.map(|epoch| epoch.id.as_str());
        let counts = self.place.counts.iter();
        let anchors: Vec<Anchor> = counts
            .filter(|counted| counted.epoch.as_deref() == id)
            .take(BELIEVED_COUNTS)
            .map(|counted| counted.anchor)
            .collect();
        gauge.read(sent, &anchors)
    }

    /// How large the request is under its epoch.
    pub(super) fn read_under(&self, gauge: &Gauge, applied: Option<&Applied>) -> Reading {
        let saved = applied.map_or(0, |applied| applied.saved_tokens);
        self.read(gauge, saved, self.epoch.as_deref())
    }

    /// The request with its epoch applied, as bytes; `None` where there is none or it cannot be put in.
    pub(super) fn rendered(&self, applied: &Applied) -> Option<Bytes> {
        let epoch = self.epoch.as_ref()?;
        let merged = format!("\n\n{}", epoch.summary);
        let summary = match self.form {
            Form::OwnMessage => &*epoch.summary,
            Form::Alternating => &merged,
        };
        let splice = self.body.render(&applied.view, summary).ok()?;
        Some(splice.into_bytes())
    }

    pub(super) fn is_surely_cold(&self) -> bool {
        let cache = self.model.in_table().and_then(|model| model.cache);
        self.place
            .touched_ms
            .is_some_and(|touched| is_surely_cold(self.now_ms - touched, cache))
    }

    /// What the conversation grows by from one request to the next.
    pub(super) fn growth(&self, now: &Reading) -> TurnGrowth {
        TurnGrowth::recent(&self.conversation.log, now)
    }

    pub(super) fn cache_prices(&self) -> CachePrices {
        CachePrices::of(self.model.in_table())
    }

    /// The last link of the chain before a position.
    pub(super) fn last_link(&self, before: usize) -> Option<Digest> {
        let chain = &self.conversation.chain;
        let links = chain.partition_point(|(index, _)| *index < before);
        let (_, digest) = chain.get(links.checked_sub(1)?)?;
        Some(*digest)
    }

    /// Estimated tokens that no compaction can touch.
    pub(super) fn untouchable_tokens(&self) -> u64 {
        let log = &self.conversation.log;
        self.fixed_tokens + log.tokens(0..leading_system(log))
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
