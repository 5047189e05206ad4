//! What was done with requests: counted by action and reason, and told once per conversation where nothing could be done.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use epitome::{Digest, Reason};
use epitome_wire::Wire;

use crate::advice::advice;
use crate::keeper::{Action, Outgoing, Size};

/// Conversations of which it is remembered that they were told of.
const TOLD: usize = 10_000;
/// A request that belongs to no conversation is known by its beginning, in bytes.
const BEGINNING: usize = 2_048;

/// What was done with requests since the start.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counts: Mutex<BTreeMap<(Action, Reason), u64>>,
    told: Mutex<HashSet<(Reason, u64)>>,
    tokens_before: AtomicU64,
    tokens_after: AtomicU64,
    openai: Reach,
    anthropic: Reach,
}

/// How an upstream has been doing.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    answers: AtomicU64,
    failures: AtomicU64,
    is_gone: AtomicBool,
}

impl Reach {
    /// Answers, whatever they said.
    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Requests that got no answer.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Whether the last request got none.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    fn note(&self, has_answered: bool) {
        let counter = match has_answered {
            true => &self.answers,
            false => &self.failures,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.is_gone.store(!has_answered, Ordering::Relaxed);
    }
}

impl Tally {
    /// A request that was read went out.
    pub(crate) fn went_out(&self, outgoing: &Outgoing) {
        self.note(outgoing.action, outgoing.reason, || {
            let named = outgoing.ticket.as_ref();
            let named = named.map(|ticket| ticket.place.conversation.as_str().as_bytes());
            let start = outgoing.bytes.get(..BEGINNING).unwrap_or(&outgoing.bytes);
            Digest::of(named.unwrap_or(start)).prefix()
        });
        if let Some(Size { before, after }) = outgoing.size
            && matches!(outgoing.action, Action::Compacted | Action::Observed)
        {
            self.tokens_before.fetch_add(before, Ordering::Relaxed);
            self.tokens_after.fetch_add(after, Ordering::Relaxed);
        }
    }

    /// A request that was not read went out.
    pub(crate) fn streamed(&self, action: Action, reason: Reason) {
        self.note(action, reason, || 0);
    }

    /// Which conversation it is matters only where there is something to tell.
    fn note(&self, action: Action, reason: Reason, conversation: impl FnOnce() -> u64) {
        *self.counts().entry((action, reason)).or_default() += 1;
        let Some(advice) = advice(reason) else {
            return;
        };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= TOLD {
            told.clear();
        }
        if told.insert((reason, conversation())) {
            let action = action.as_str();
            tracing::warn!(%reason, action, advice, "a request could not be helped");
        }
    }

    /// Whether an upstream answered.
    pub(crate) fn reached(&self, wire: Wire, has_answered: bool) {
        self.reach(wire).note(has_answered);
    }

    /// How an upstream has been doing.
    pub(crate) const fn reach(&self, wire: Wire) -> &Reach {
        match wire {
            Wire::OpenAiChat | Wire::OpenAiResponses => &self.openai,
            Wire::Anthropic => &self.anthropic,
        }
    }

    /// Requests by what was done with them and why.
    pub(crate) fn by_reason(&self) -> Vec<(Action, Reason, u64)> {
        let counts = self.counts();
        let rows = counts.iter();
        rows.map(|((action, reason), count)| (*action, *reason, *count))
            .collect()
    }

    /// Tokens of the requests that were shortened, as they came and as they went out (or would have).
    pub(crate) fn tokens(&self) -> (u64, u64) {
        (
            self.tokens_before.load(Ordering::Relaxed),
            self.tokens_after.load(Ordering::Relaxed),
        )
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<(Action, Reason), u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
