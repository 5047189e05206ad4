//! What summaries may cost.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    purse: Option<Arc<Purse>>,
}

/// What one of several payers has spent and may still spend, of all that goes through a ledger.
#[derive(Debug)]
pub struct Purse {
    spent_nanodollars: AtomicU64,
    unbooked_nanodollars: AtomicU64,
    /// [`Purse::UNLIMITED`] where there is no end to it.
    left_nanodollars: AtomicU64,
    /// That a call was expected to cost more than is left, which others will be too.
    refused: AtomicBool,
}

impl Default for Purse {
    fn default() -> Self {
        Self {
            spent_nanodollars: AtomicU64::new(0),
            unbooked_nanodollars: AtomicU64::new(0),
            left_nanodollars: AtomicU64::new(Self::UNLIMITED),
            refused: AtomicBool::new(false),
        }
    }
}

impl Purse {
    const UNLIMITED: u64 = u64::MAX;

    /// What was spent since it was made, in dollars.
    #[must_use]
    pub fn total_usd(&self) -> f64 {
        self.spent_nanodollars.load(Ordering::Relaxed) as f64 / 1e9
    }

    /// What was spent since this was asked last, in billionths of a dollar: whoever asks keeps account of it.
    #[must_use]
    pub fn take_unbooked(&self) -> u64 {
        self.unbooked_nanodollars.swap(0, Ordering::Relaxed)
    }

    /// Gives back what was taken and could not be booked.
    pub fn put_back_unbooked(&self, nanodollars: u64) {
        let unbooked = &self.unbooked_nanodollars;
        unbooked.fetch_add(nanodollars, Ordering::Relaxed);
    }

    /// What was spent and not asked about yet, in billionths of a dollar.
    #[must_use]
    pub fn unbooked(&self) -> u64 {
        self.unbooked_nanodollars.load(Ordering::Relaxed)
    }

    /// From now on no more than this is spent, in billionths of a dollar; `None` takes the limit away.
    pub fn leave(&self, nanodollars: Option<u64>) {
        let left = nanodollars.map_or(Self::UNLIMITED, |left| left.min(Self::UNLIMITED - 1));
        let before = self.left_nanodollars.swap(left, Ordering::Relaxed);
        if left > before {
            self.try_again();
        }
    }

    /// A call is tried again that would have been refused: another period has begun.
    pub fn try_again(&self) {
        self.refused.store(false, Ordering::Relaxed);
    }

    /// Whether there is nothing left, or so little that a call was refused since there was more.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        self.left() == Some(0) || self.refused.load(Ordering::Relaxed)
    }

    /// What may still be spent, in billionths of a dollar; `None` without a limit.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        let left = self.left_nanodollars.load(Ordering::Relaxed);
        (left != Self::UNLIMITED).then_some(left)
    }

    fn spent(&self, usd: f64) {
        let nanodollars = nanodollars(usd);
        for sum in [&self.spent_nanodollars, &self.unbooked_nanodollars] {
            sum.fetch_add(nanodollars, Ordering::Relaxed);
        }
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let less = |left: u64| (left != Self::UNLIMITED).then(|| left.saturating_sub(nanodollars));
        // Without a limit there is nothing to subtract from.
        let _ = self.left_nanodollars.fetch_update(set, fetch, less);
    }
}

fn nanodollars(usd: f64) -> u64 {
    // Neither negative nor beyond what fits: `as` keeps to the bounds.
    (usd * 1e9).round() as u64
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
            purse: None,
        }
    }

    /// The same account, of which this purse pays its own part.
    #[must_use]
    pub fn paid_from(&self, purse: Arc<Purse>) -> Self {
        Self {
            limits: self.limits,
            spent: Arc::clone(&self.spent),
            purse: Some(purse),
        }
    }

    /// These limits on what `earlier` has spent and goes on spending: a change of settings is no new purse.
    #[must_use]
    pub fn on_account_of(&self, earlier: &Self) -> Self {
        Self {
            limits: self.limits,
            spent: Arc::clone(&earlier.spent),
            purse: self.purse.clone(),
        }
    }

    /// Whether a call that may cost `usd` is allowed now.
    ///
    /// # Errors
    /// [`CallError::SpendLimit`].
    pub fn allows(&self, conversation: &str, usd: f64, now_ms: i64) -> Result<(), CallError> {
        if let Some(purse) = &self.purse
            && let Some(left) = purse.left()
            && (left == 0 || nanodollars(usd) > left)
        {
            purse.refused.store(true, Ordering::Relaxed);
            let spent_usd = purse.total_usd();
            return Err(CallError::SpendLimit {
                limit_usd: spent_usd + left as f64 / 1e9,
                spent_usd,
            });
        }
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
        if let Some(purse) = &self.purse {
            purse.spent(usd);
        }
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
