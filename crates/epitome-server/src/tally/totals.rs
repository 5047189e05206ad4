//! What several did together.

use std::collections::BTreeMap;

use epitome::Reason;

use super::{CachedInput, Held, Spared, Tally};
use crate::keeper::Action;

/// The sum of several tallies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    counts: BTreeMap<(Action, Reason), u64>,
    /// Tokens of the requests that were shortened, as they came and as they went out (or would have).
    pub(crate) tokens: (u64, u64),
    pub(crate) money: Spared,
    pub(crate) cached: CachedInput,
    pub(crate) held: Held,
}

impl Totals {
    /// The sum of these.
    pub(crate) fn of<'t>(tallies: impl IntoIterator<Item = &'t Tally>) -> Self {
        let mut sum = Self::default();
        for tally in tallies {
            for (action, reason, count) in tally.by_reason() {
                *sum.counts.entry((action, reason)).or_default() += count;
            }
            let (before, after) = tally.tokens();
            sum.tokens.0 += before;
            sum.tokens.1 += after;
            let money = tally.money();
            sum.money.most_usd += money.most_usd;
            sum.money.least_usd += money.least_usd;
            sum.money.unpriced_tokens += money.unpriced_tokens;
            let cached = tally.cached();
            sum.cached.input_tokens += cached.input_tokens;
            sum.cached.read_tokens += cached.read_tokens;
            sum.cached.written_tokens += cached.written_tokens;
            let held = tally.held();
            sum.held.requests += held.requests;
            sum.held.sum_us += held.sum_us;
            sum.held.most_us = sum.held.most_us.max(held.most_us);
        }
        sum
    }

    /// Requests by what was done with them and why.
    pub(crate) fn by_reason(&self) -> Vec<(Action, Reason, u64)> {
        let rows = self.counts.iter();
        rows.map(|((action, reason), count)| (*action, *reason, *count))
            .collect()
    }

    /// All requests.
    pub(crate) fn requests(&self) -> u64 {
        self.counts.values().sum()
    }
}
