//! Progress or stop: what was tried in a conversation, and whether trying again makes sense.

mod attempt;

use std::collections::BTreeSet;

use crate::reason::Reason;

pub use attempt::{Attempt, Failure, Rung};

/// What a failure did to the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    /// Nothing yet.
    Closed,
    /// It opened.
    Opened {
        /// Failures in a row.
        failures: u32,
    },
    /// It was open, and the one try that was let through failed too.
    StaysOpen,
}

/// How pressing a compaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It would pay, or will be needed soon.
    Wanted,
    /// The hard line is reached, the provider refused the request, or somebody asked for it.
    Required,
}

/// What counts as clear growth: either of the two, whichever comes first, and at least one token. `u64::MAX`
/// leaves one of them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Percent of the size it is measured from.
    pub percent: u64,
    /// Tokens.
    pub tokens: u64,
}

/// The settings of a [`Ledger`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerSettings {
    /// Failures in a row that open the breaker.
    pub failures_to_open: u32,
    /// What a conversation has to grow by before an open breaker lets one try through.
    pub reopen_growth: Growth,
    /// What a conversation has to grow by after a compaction before the next one.
    pub rest_growth: Growth,
}

impl Default for LedgerSettings {
    fn default() -> Self {
        let growth = Growth {
            percent: 10,
            tokens: 20_000,
        };
        Self {
            failures_to_open: 3,
            reopen_growth: growth,
            rest_growth: growth,
        }
    }
}

/// What happened so far in one conversation, so that nothing is tried twice.
///
/// *Input*: [`Ledger::begin`] before a try, then [`Ledger::failed`] or [`Ledger::compacted`]. Sizes are what the
/// view takes at that moment; there is no clock in here. A try whose outcome is never told does no harm.
///
/// ```
/// use epitome::{Attempt, Failure, Ledger, LedgerSettings, Need, Reason, Rung};
///
/// let mut ledger = Ledger::new(LedgerSettings::default());
/// let attempt = Attempt { span_end: 40, target_tokens: 50_000, rung: Rung::ShorterTail };
/// assert_eq!(ledger.begin(attempt, Need::Required, 180_000), Ok(()));
/// ledger.failed(Failure::NotSmaller, 180_000);
/// assert_eq!(ledger.begin(attempt, Need::Required, 180_000), Err(Reason::AlreadyTried));
/// ```
#[derive(Clone, Debug)]
pub struct Ledger {
    settings: LedgerSettings,
    tried: BTreeSet<Attempt>,
    failures: u32,
    last_failure: Option<Failure>,
    opened_at_tokens: Option<u64>,
    compacted_at_tokens: Option<u64>,
}

impl Ledger {
    /// The ledger of a new conversation.
    #[must_use]
    pub const fn new(settings: LedgerSettings) -> Self {
        Self {
            settings,
            tried: BTreeSet::new(),
            failures: 0,
            last_failure: None,
            opened_at_tokens: None,
            compacted_at_tokens: None,
        }
    }

    /// Asks for a try and, when it is granted, writes it down.
    ///
    /// # Errors
    /// [`Reason::AlreadyTried`], whatever the need. Where it is only [`Need::Wanted`] also
    /// [`Reason::BreakerOpen`], and [`Reason::NotGrown`] while the conversation rests after a compaction.
    pub fn begin(&mut self, attempt: Attempt, need: Need, view_tokens: u64) -> Result<(), Reason> {
        // After a rewind growth is measured from where the conversation goes on.
        for mark in [&mut self.opened_at_tokens, &mut self.compacted_at_tokens] {
            *mark = mark.map(|tokens| tokens.min(view_tokens));
        }
        if self.tried.contains(&attempt) {
            return Err(Reason::AlreadyTried);
        }
        self.allows(need, view_tokens)?;
        // Half open: this try goes through, the next one needs growth again unless this one succeeds.
        self.opened_at_tokens = self.opened_at_tokens.map(|_| view_tokens);
        self.tried.insert(attempt);
        Ok(())
    }

    /// Whether any try at all would be granted now. O(1).
    ///
    /// # Errors
    /// Where it is only [`Need::Wanted`]: [`Reason::BreakerOpen`], and [`Reason::NotGrown`] while the conversation
    /// rests after a compaction.
    pub fn allows(&self, need: Need, view_tokens: u64) -> Result<(), Reason> {
        let has_grown = |mark: Option<u64>, growth: Growth| {
            mark.is_none_or(|from| growth.is_reached(from.min(view_tokens), view_tokens))
        };
        match need {
            Need::Required => Ok(()),
            Need::Wanted if !has_grown(self.opened_at_tokens, self.settings.reopen_growth) => {
                Err(Reason::BreakerOpen)
            }
            Need::Wanted if !has_grown(self.compacted_at_tokens, self.settings.rest_growth) => {
                Err(Reason::NotGrown)
            }
            Need::Wanted => Ok(()),
        }
    }

    /// A try failed. Says what that did to the breaker, so that an opening is told to people once.
    pub fn failed(&mut self, failure: Failure, view_tokens: u64) -> Breaker {
        self.failures = self.failures.saturating_add(1);
        self.last_failure = Some(failure);
        if self.failures < self.settings.failures_to_open {
            return Breaker::Closed;
        }
        let was_open = self.opened_at_tokens.replace(view_tokens).is_some();
        if was_open {
            Breaker::StaysOpen
        } else {
            Breaker::Opened {
                failures: self.failures,
            }
        }
    }

    /// A compaction landed and left `view_tokens`: the breaker closes and the conversation rests.
    pub const fn compacted(&mut self, view_tokens: u64) {
        self.failures = 0;
        self.last_failure = None;
        self.opened_at_tokens = None;
        self.compacted_at_tokens = Some(view_tokens);
    }

    /// The newest failure, while the breaker is open.
    #[must_use]
    pub fn open_because(&self) -> Option<Failure> {
        self.last_failure
            .filter(|_| self.opened_at_tokens.is_some())
    }

    /// Every try so far, in order of span end, target and rung.
    pub fn tried(&self) -> impl Iterator<Item = &Attempt> {
        self.tried.iter()
    }
}

impl Growth {
    fn is_reached(self, from: u64, to: u64) -> bool {
        let share = u128::from(from) * u128::from(self.percent) / 100;
        let needed = share.min(u128::from(self.tokens)).max(1);
        u128::from(to.saturating_sub(from)) >= needed
    }
}
