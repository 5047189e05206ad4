//! What was done with requests: counted by action and reason, and told once per conversation where nothing could be done.

mod totals;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use std::time::Duration;

use epitome::{Digest, Prices, Reason};
use epitome_wire::{Counted, Wire};

use crate::advice::advice;
use crate::keeper::{Action, Outgoing, Size};
pub(crate) use totals::Totals;

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
    money: Money,
    cache: Cache,
    waiting: Waiting,
    reached: Reached,
}

/// How the upstreams have been doing.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    openai: Reach,
    anthropic: Reach,
}

impl Reached {
    /// Whether an upstream answered.
    pub(crate) fn note(&self, wire: Wire, has_answered: bool) {
        self.of(wire).note(has_answered);
    }

    /// How an upstream has been doing.
    pub(crate) const fn of(&self, wire: Wire) -> &Reach {
        match wire {
            Wire::OpenAiChat | Wire::OpenAiResponses => &self.openai,
            Wire::Anthropic => &self.anthropic,
        }
    }
}

/// What was not paid because it was not sent, in nanodollars.
#[derive(Debug, Default)]
struct Money {
    at_most: AtomicU64,
    at_least: AtomicU64,
    unpriced_tokens: AtomicU64,
}

/// What providers counted of the input of all requests.
#[derive(Debug, Default)]
struct Cache {
    input_tokens: AtomicU64,
    read_tokens: AtomicU64,
    written_tokens: AtomicU64,
}

/// How long requests were held here.
#[derive(Debug, Default)]
struct Waiting {
    requests: AtomicU64,
    sum_us: AtomicU64,
    most_us: AtomicU64,
}

/// Money that was not spent, in dollars: how much depends on what the provider would have had in its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spared {
    /// Had nothing been cached.
    pub(crate) most_usd: f64,
    /// Had everything been cached.
    pub(crate) least_usd: f64,
    /// Tokens of models whose prices nobody knows.
    pub(crate) unpriced_tokens: u64,
}

/// What providers counted of the input of all requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CachedInput {
    pub(crate) input_tokens: u64,
    pub(crate) read_tokens: u64,
    pub(crate) written_tokens: u64,
}

/// How long requests were held here before they went on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) requests: u64,
    pub(crate) sum_us: u64,
    pub(crate) most_us: u64,
}

impl Held {
    /// The mean, in microseconds.
    pub(crate) const fn mean_us(self) -> u64 {
        match self.requests {
            0 => 0,
            requests => self.sum_us / requests,
        }
    }
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

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The model answered.
    Turn,
    /// It was refused or got no answer, or only a size was asked for.
    Nothing,
}

impl Tally {
    /// A request that was read went out. What it spared counts only where the provider worked on it.
    pub(crate) fn went_out(&self, outgoing: &Outgoing, answered: Answered) {
        self.note(outgoing.action, outgoing.reason, || {
            let named = outgoing.ticket.as_ref();
            let named = named.map(|ticket| ticket.place.conversation.as_str().as_bytes());
            let start = outgoing.bytes.get(..BEGINNING).unwrap_or(&outgoing.bytes);
            Digest::of(named.unwrap_or(start)).prefix()
        });
        if answered == Answered::Turn
            && let Some(Size { before, after }) = outgoing.size
            && matches!(outgoing.action, Action::Compacted | Action::Observed)
        {
            self.tokens_before.fetch_add(before, Ordering::Relaxed);
            self.tokens_after.fetch_add(after, Ordering::Relaxed);
            if outgoing.action == Action::Compacted {
                let model = outgoing.ticket.as_ref().map(|ticket| &ticket.model);
                let known = model.and_then(|model| model.in_table());
                self.spared(
                    before.saturating_sub(after),
                    known.map(|model| model.prices),
                );
            }
        }
    }

    fn spared(&self, tokens: u64, prices: Option<Prices>) {
        let Money {
            at_most,
            at_least,
            unpriced_tokens,
        } = &self.money;
        let Some((prices, input)) = prices.and_then(|prices| Some((prices, prices.input?))) else {
            unpriced_tokens.fetch_add(tokens, Ordering::Relaxed);
            return;
        };
        let cached = prices.cache_read.unwrap_or(input).min(input);
        at_most.fetch_add(tokens.saturating_mul(input), Ordering::Relaxed);
        at_least.fetch_add(tokens.saturating_mul(cached), Ordering::Relaxed);
    }

    /// What was not paid because it was not sent.
    pub(crate) fn money(&self) -> Spared {
        let dollars = |nanodollars: &AtomicU64| nanodollars.load(Ordering::Relaxed) as f64 / 1e9;
        Spared {
            most_usd: dollars(&self.money.at_most),
            least_usd: dollars(&self.money.at_least),
            unpriced_tokens: self.money.unpriced_tokens.load(Ordering::Relaxed),
        }
    }

    /// A provider counted the input of a request.
    pub(crate) fn counted(&self, counted: Counted) {
        for (sum, tokens) in [
            (&self.cache.input_tokens, counted.input_tokens),
            (&self.cache.read_tokens, counted.cache_read_tokens),
            (&self.cache.written_tokens, counted.cache_write_tokens),
        ] {
            sum.fetch_add(tokens, Ordering::Relaxed);
        }
    }

    /// What providers counted so far.
    pub(crate) fn cached(&self) -> CachedInput {
        CachedInput {
            input_tokens: self.cache.input_tokens.load(Ordering::Relaxed),
            read_tokens: self.cache.read_tokens.load(Ordering::Relaxed),
            written_tokens: self.cache.written_tokens.load(Ordering::Relaxed),
        }
    }

    /// A request was held so long before it went on.
    pub(crate) fn held_for(&self, time: Duration) {
        let time_us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.waiting.requests.fetch_add(1, Ordering::Relaxed);
        self.waiting.sum_us.fetch_add(time_us, Ordering::Relaxed);
        self.waiting.most_us.fetch_max(time_us, Ordering::Relaxed);
    }

    /// How long requests were held so far.
    pub(crate) fn held(&self) -> Held {
        Held {
            requests: self.waiting.requests.load(Ordering::Relaxed),
            sum_us: self.waiting.sum_us.load(Ordering::Relaxed),
            most_us: self.waiting.most_us.load(Ordering::Relaxed),
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

    /// How the upstreams have been doing.
    pub(crate) const fn reached(&self) -> &Reached {
        &self.reached
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
