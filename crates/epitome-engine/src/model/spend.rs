//! What summaries may cost.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::CallError;

const HOUR_MS: i64 = 3_600_000;

/// The most that summaries may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpendLimits {
    /// In one conversation.
    pub conversation_usd: Option<f64>,
    /// In one hour, over all conversations.
    pub hour_usd: Option<f64>,
}

/// What was spent so far. Shared by everything that calls models.
#[derive(Debug, Default)]
pub struct SpendLedger {
    limits: SpendLimits,
    spent: Arc<Mutex<Spent>>,
}

#[derive(Debug, Default)]
struct Spent {
    conversations: BTreeMap<String, f64>,
    /// What stands in no record yet.
    unbooked: BTreeMap<String, f64>,
    hour: VecDeque<(i64, f64)>,
}

impl SpendLedger {
    /// A ledger with nothing in it.
    #[must_use]
    pub fn new(limits: SpendLimits) -> Self {
        Self {
            limits,
            spent: Arc::default(),
        }
    }

    /// These limits on what `earlier` has spent and goes on spending: a change of settings is no new purse.
    #[must_use]
    pub fn on_account_of(&self, earlier: &Self) -> Self {
        Self {
            limits: self.limits,
            spent: Arc::clone(&earlier.spent),
        }
    }

    /// Whether a call that may cost `usd` is allowed now.
    ///
    /// # Errors
    /// [`CallError::SpendLimit`].
    pub fn allows(&self, conversation: &str, usd: f64, now_ms: i64) -> Result<(), CallError> {
        let mut spent = self.lock();
        spent.forget(now_ms);
        let here = spent.conversations.get(conversation).copied();
        let hour: f64 = spent.hour.iter().map(|(_, usd)| usd).sum();
        for (limit, spent_usd) in [
            (self.limits.conversation_usd, here.unwrap_or(0.0)),
            (self.limits.hour_usd, hour),
        ] {
            if let Some(limit_usd) = limit
                && spent_usd + usd > limit_usd
            {
                return Err(CallError::SpendLimit {
                    limit_usd,
                    spent_usd,
                });
            }
        }
        Ok(())
    }

    /// Notes what a call cost.
    pub fn spent(&self, conversation: &str, usd: f64, now_ms: i64) {
        let mut spent = self.lock();
        spent.forget(now_ms);
        *spent
            .conversations
            .entry(conversation.to_owned())
            .or_default() += usd;
        if usd > 0.0 {
            *spent.unbooked.entry(conversation.to_owned()).or_default() += usd;
        }
        spent.hour.push_back((now_ms, usd));
    }

    /// What calls for one conversation cost since this was asked last, in billionths of a dollar: those of a summary, and
    /// those before it that came to nothing.
    #[must_use]
    pub fn book(&self, conversation: &str) -> u64 {
        let usd = self.lock().unbooked.remove(conversation);
        (usd.unwrap_or(0.0) * 1e9).round() as u64
    }

    /// What one conversation has cost.
    #[must_use]
    pub fn of(&self, conversation: &str) -> f64 {
        let spent = self.lock();
        spent
            .conversations
            .get(conversation)
            .copied()
            .unwrap_or(0.0)
    }

    /// What all of them have cost.
    #[must_use]
    pub fn total_usd(&self) -> f64 {
        self.lock().conversations.values().sum()
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spent {
    fn forget(&mut self, now_ms: i64) {
        while let Some((at_ms, _)) = self.hour.front()
            && now_ms.saturating_sub(*at_ms) >= HOUR_MS
        {
            self.hour.pop_front();
        }
    }
}
