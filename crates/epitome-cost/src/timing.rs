//! When to show a compaction that lies ready, judged afterwards.
//!
//! Every request that goes out without it pays for what it no longer needs; the one that shows it pays for writing
//! again what the provider had cached. Nobody knows how long a conversation goes on, so this is renting or buying skis.
//!
//! Let `c` be what all requests cost anyway (the small view read, what is new written), `r(t)` what request `t` costs
//! too much on the large view, and `p(s)` what request `s` costs more if it shows the compaction: what is written again.
//! Who shows it at `s` pays `c + r(0) + … + r(s-1) + p(s)`; who never does pays `c` and all of `r`.
//!
//! **Break-even**: show it at the first request `s` with `r(0) + … + r(s) ≥ p(0)`. Then:
//!
//! 1. What was paid too much before is less than `p(0)`, or it would have been shown earlier.
//! 2. `p(s)` is `p(0)` and what came since, written once more. What came since was written when it came, which is in `c`:
//!    `p(s) ≤ p(0) + c`.
//! 3. So it costs less than `c + p(0) + p(0) + c`, twice `c + p(0)`.
//! 4. Whoever shows it at any time pays at least `c + p(0)`, because `p` only grows. Whoever never does pays at least
//!    `c + r(0) + … + r(s)`, which is no less either.
//!
//! A conversation that ends before `s` paid less than `p(0)` too much, which is the best there is; one that meets its
//! hard line before `s` has to show it there, and 1 to 4 hold for that request too. So break-even costs at most twice
//! the best in hindsight, whatever comes, as long as the cache is warm.
//!
//! **Spent-even** shows it sooner, and is bounded by the same: at the first request `s` with `c(0) + r(0) + … + c(s) + r(s) ≥
//! p(s)`, where `c(t)` is the part of `c` that is request `t`'s. Because that did not hold one request earlier, and because of 2,
//! what was paid too much before is less than `p(0)`: so 3 holds, beside everybody who shows it. Beside those who never do, who
//! pay at least what the condition sums up and the rest of `c`, it costs that and `p(s)` at most, which is no more than twice.
//!
//! **Everything between the two** is bounded by the same: who shows it no sooner than spent-even has spent `p(s)`, which is all that the
//! comparison with those who never do needs; and as long as less than `p(0)` was paid too much before, 3 holds beside everybody else.
//! The product's own rule ([`epitome::Swap::pays`]) waits behind spent-even until half of `p(0)` was paid too much, so that
//! conversations which end soon are not rewritten for nothing.

use epitome::CachePrices;

/// One request while a compaction lies ready, on either view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// What it takes on the large view.
    pub before_tokens: u64,
    /// What it takes with the compaction.
    pub after_tokens: u64,
    /// What of that was sent before and stands behind something else now: it is written again.
    pub again_tokens: u64,
    /// What is new in this request, and is written on either view.
    pub new_tokens: u64,
}

/// The requests from the moment a compaction lay ready until the large view would have met its hard line, or until the
/// conversation ended. The compaction was shown somewhere in between, or never.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// The requests.
    pub waits: Vec<Wait>,
    /// Which of them showed it.
    pub shown: Option<usize>,
    /// Whether the last of them had to.
    pub is_forced: bool,
}

impl Phase {
    /// What all requests cost if this one shows the compaction, or none does. Where one has to, the last one does.
    #[must_use]
    pub fn spent(&self, prices: CachePrices, shown: Option<usize>) -> u128 {
        let shown = shown.or_else(|| self.last_forced());
        let requests = self.waits.iter().enumerate();
        requests
            .map(|(at, wait)| {
                let excess = match shown {
                    Some(shown) if at > shown => 0,
                    Some(shown) if at == shown => again(wait, prices),
                    _ => excess(wait, prices),
                };
                anyway(wait, prices) + excess
            })
            .sum()
    }

    /// The least that could have been spent.
    #[must_use]
    pub fn best(&self, prices: CachePrices) -> u128 {
        let somewhere = (0..self.waits.len()).map(|at| self.spent(prices, Some(at)));
        let never = self.spent(prices, None);
        somewhere.min().map_or(never, |least| least.min(never))
    }

    /// The request that shows it by break-even; `None` where the conversation ended before.
    #[must_use]
    pub fn break_even(&self, prices: CachePrices) -> Option<usize> {
        let price = again(self.waits.first()?, prices);
        let mut paid = 0;
        let mut requests = self.waits.iter();
        let found = requests.position(|wait| {
            paid += excess(wait, prices);
            paid >= price
        });
        found.or_else(|| self.last_forced())
    }

    /// The request that shows it once all that was spent since it lay ready, this request included, is as much as showing
    /// it costs; `None` where the conversation ended before.
    #[must_use]
    pub fn spent_even(&self, prices: CachePrices) -> Option<usize> {
        let mut spent = 0;
        let mut requests = self.waits.iter();
        let found = requests.position(|wait| {
            spent += anyway(wait, prices) + excess(wait, prices);
            spent >= again(wait, prices)
        });
        found.or_else(|| self.last_forced())
    }

    /// What was spent as a multiple of the least that could have been.
    #[must_use]
    pub fn ratio(&self, prices: CachePrices) -> f64 {
        self.spent(prices, self.shown) as f64 / self.best(prices).max(1) as f64
    }

    fn last_forced(&self) -> Option<usize> {
        self.waits.len().checked_sub(1).filter(|_| self.is_forced)
    }
}

fn dearer(prices: CachePrices) -> u128 {
    u128::from(prices.write.saturating_sub(prices.read))
}

/// What a request costs on the small view, once that is cached.
fn anyway(wait: &Wait, prices: CachePrices) -> u128 {
    u128::from(wait.after_tokens) * u128::from(prices.read)
        + u128::from(wait.new_tokens) * dearer(prices)
}

/// What it costs more on the large one.
fn excess(wait: &Wait, prices: CachePrices) -> u128 {
    let tokens = wait.before_tokens.saturating_sub(wait.after_tokens);
    u128::from(tokens) * u128::from(prices.read)
}

/// What it costs more if it is the one that goes over to the small view.
fn again(wait: &Wait, prices: CachePrices) -> u128 {
    u128::from(wait.again_tokens) * dearer(prices)
}

#[cfg(test)]
#[path = "timing_tests.rs"]
mod tests;
