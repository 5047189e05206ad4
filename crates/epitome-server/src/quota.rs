//! What a tenant may use. It is counted in the store, beside the path of requests; a request looks at numbers in memory.
//!
//! A quota that is used up keeps no request back: what is beyond it is not stored, and no model is asked to summarise. Several
//! nodes count the same rows, a few seconds late: by so much a quota may be exceeded.

mod account;
mod beyond;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use epitome_engine::model::Purse;
use epitome_store::{ConversationId, TenantId};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::config::QuotaLimits;
pub(crate) use account::{Counter, keep_account};
use beyond::Beyond;

/// What a tenant has used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Excess {
    /// No other conversation is stored.
    Conversations,
    /// Nothing more is stored.
    Bytes,
    /// No model is asked to summarise.
    SummarySpend,
}

impl Excess {
    pub(crate) const ALL: [Self; 3] = [Self::Conversations, Self::Bytes, Self::SummarySpend];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Bytes => "bytes",
            Self::SummarySpend => "summary_spend",
        }
    }

    /// What follows, in words.
    const fn says(self) -> &'static str {
        match self {
            Self::Conversations => {
                "the tenant keeps as many conversations as it may; this one is not stored and the built-in summariser shortens it"
            }
            Self::Bytes => {
                "the tenant keeps as many bytes as it may; nothing more is stored and the built-in summariser shortens"
            }
            Self::SummarySpend => {
                "the tenant has spent on summaries what it may; the built-in summariser shortens"
            }
        }
    }
}

/// What may be done for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// Whether it may be stored.
    pub(crate) stores: bool,
    /// Whether a model may be asked to summarise.
    pub(crate) asks_models: bool,
}

impl Allowance {
    pub(crate) const ALL: Self = Self {
        stores: true,
        asks_models: true,
    };
}

/// What a tenant may use, and has used.
#[derive(Debug)]
pub(crate) struct Quota {
    tenant: TenantId,
    limits: Mutex<QuotaLimits>,
    /// Whether there is any limit: most have none.
    is_limited: AtomicBool,
    /// What pays for summaries.
    pub(crate) purse: Arc<Purse>,
    conversations: Counted,
    bytes: Counted,
    /// What summaries have cost in this period, in billionths of a dollar.
    spent: AtomicU64,
    /// Requests beyond each limit.
    exceeded: [AtomicU64; 3],
    beyond: Mutex<Beyond>,
    /// That there is something to be booked or counted.
    hurry: Arc<Notify>,
    /// Ends the account, once nobody is left who may spend.
    ending: DropGuard,
}

/// As counted in the store last, and what has come here since.
#[derive(Debug, Default)]
struct Counted {
    stored: AtomicU64,
    since: AtomicU64,
}

impl Counted {
    fn total(&self) -> u64 {
        let stored = self.stored.load(Ordering::Relaxed);
        stored.saturating_add(self.since.load(Ordering::Relaxed))
    }

    fn add(&self, more: u64) {
        self.since.fetch_add(more, Ordering::Relaxed);
    }

    /// Counted anew, when so much had come since the last time. That may still be on its way to the store: less than what is
    /// known is believed only once nothing comes.
    fn set(&self, stored: u64, before: u64) {
        let known = match before {
            0 => 0,
            before => self.stored.load(Ordering::Relaxed).saturating_add(before),
        };
        self.stored.store(stored.max(known), Ordering::Relaxed);
        self.since.fetch_sub(before, Ordering::Relaxed);
    }
}

impl Quota {
    pub(crate) fn new(tenant: TenantId, limits: QuotaLimits) -> Self {
        let quota = Self {
            tenant,
            limits: Mutex::default(),
            is_limited: AtomicBool::new(false),
            purse: Arc::default(),
            conversations: Counted::default(),
            bytes: Counted::default(),
            spent: AtomicU64::new(0),
            exceeded: Default::default(),
            beyond: Mutex::default(),
            hurry: Arc::default(),
            ending: CancellationToken::new().drop_guard(),
        };
        quota.limit(limits);
        quota
    }

    /// Other limits from now on.
    pub(crate) fn limit(&self, limits: QuotaLimits) {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner) = limits;
        let is_limited = limits.conversations.is_some()
            || limits.bytes.is_some()
            || limits.summary_usd.is_some();
        self.is_limited.store(is_limited, Ordering::Relaxed);
        if limits.summary_usd.is_none() {
            self.purse.leave(None);
        }
        self.hurry.notify_one();
    }

    fn limits(&self) -> QuotaLimits {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What may be done for a request of a conversation, which may be a new one.
    pub(crate) fn allows(&self, conversation: &ConversationId, is_new: bool) -> Allowance {
        if !self.is_limited.load(Ordering::Relaxed) {
            return Allowance::ALL;
        }
        let limits = self.limits();
        let is_full =
            |limit: Option<u64>, used: &Counted| limit.is_some_and(|limit| used.total() >= limit);
        let mut allowance = Allowance::ALL;
        let has_bytes = !is_full(limits.bytes, &self.bytes);
        let has_conversations = !is_full(limits.conversations, &self.conversations);
        let is_left_out = || self.beyond().is_left_out(conversation);
        if !has_bytes {
            self.exceed(Excess::Bytes, conversation);
            allowance.stores = false;
        } else if !has_conversations && (is_new || is_left_out()) {
            self.exceed(Excess::Conversations, conversation);
            allowance.stores = false;
        } else if is_new || self.beyond().let_in(conversation) {
            self.conversations.add(1);
        }
        if !allowance.stores && is_new {
            self.beyond().leave_out(conversation);
        }
        if self.purse.is_used_up() {
            self.exceed(Excess::SummarySpend, conversation);
            allowance.asks_models = false;
        }
        // What a model wrote is used only where it is stored.
        allowance.asks_models &= allowance.stores;
        allowance
    }

    /// Whether anything may be stored of what belongs to no conversation that is known.
    pub(crate) fn has_bytes(&self) -> bool {
        let limit = || self.limits().bytes;
        !self.is_limited.load(Ordering::Relaxed)
            || limit().is_none_or(|limit| self.bytes.total() < limit)
    }

    /// So many bytes are on their way to the store.
    pub(crate) fn stores(&self, bytes: usize) {
        if self.is_limited.load(Ordering::Relaxed) {
            self.bytes.add(bytes as u64);
        }
    }

    /// Summaries may have been paid for: that is booked at once.
    pub(crate) fn has_spent(&self) {
        if self.purse.unbooked() > 0 {
            self.hurry.notify_one();
        }
    }

    fn exceed(&self, excess: Excess, conversation: &ConversationId) {
        if let Some(count) = self.exceeded.get(excess as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if self.beyond().tells(excess, conversation) {
            let (tenant, says) = (self.tenant.as_str(), excess.says());
            tracing::warn!(tenant, %conversation, quota = excess.as_str(), says, "a quota is used up");
        }
    }

    fn beyond(&self) -> std::sync::MutexGuard<'_, Beyond> {
        self.beyond.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests that were beyond a limit.
    pub(crate) fn exceeded(&self, excess: Excess) -> u64 {
        let count = self.exceeded.get(excess as usize);
        count.map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// What is used up now.
    pub(crate) fn used_up(&self) -> Vec<Excess> {
        if !self.is_limited.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let limits = self.limits();
        let is_used_up = |excess: &Excess| match excess {
            Excess::Conversations => limits
                .conversations
                .is_some_and(|limit| self.conversations.total() >= limit),
            Excess::Bytes => limits
                .bytes
                .is_some_and(|limit| self.bytes.total() >= limit),
            Excess::SummarySpend => self.purse.is_used_up(),
        };
        Excess::ALL.into_iter().filter(is_used_up).collect()
    }

    /// What may be used and is, for people; nothing of what has no limit is counted.
    pub(crate) fn object(&self) -> Value {
        let limits = self.limits();
        let used = |limit: Option<u64>, counted: &Counted| {
            limit.map(|limit| json!({ "limit": limit, "used": counted.total() }))
        };
        let spent = self.spent.load(Ordering::Relaxed) as f64 / 1e9;
        let unbooked = self.purse.unbooked() as f64 / 1e9;
        let exceeded = Excess::ALL.map(|excess| (excess.as_str(), self.exceeded(excess)));
        let exceeded: std::collections::BTreeMap<_, _> = exceeded.into_iter().collect();
        json!({
            "conversations": used(limits.conversations, &self.conversations),
            "bytes": used(limits.bytes, &self.bytes),
            "summary_usd": limits.summary_usd.map(|limit| json!({
                "limit": limit, "used": spent + unbooked, "period": limits.period.as_str(),
            })),
            "exceeded": exceeded,
        })
    }
}

#[cfg(test)]
#[path = "quota_tests.rs"]
mod tests;
