//! A replay as a few numbers.

use crate::replay::{Side, Step, Turn};
use crate::spent::Spent;

/// The sums of one or several replays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests.
    pub requests: u64,
    /// Compactions that came into force.
    pub compactions: u64,
    /// With the design.
    pub sent: SideTotals,
    /// Without anything.
    pub bare: SideTotals,
    /// Anchors said until each compaction, all together.
    pub anchors: u64,
    /// How many of them were in view right after it.
    pub anchors_in_view: u64,
}

/// The sums of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideTotals {
    /// What was taken of the cache.
    pub spent: Spent,
    /// What it cost, where all prices are known.
    pub nanodollars: Option<u64>,
    /// Requests that are larger than the window.
    pub too_long: u64,
    /// The largest request.
    pub largest_tokens: u64,
}

impl Default for SideTotals {
    fn default() -> Self {
        Self {
            spent: Spent::default(),
            nanodollars: Some(0),
            too_long: 0,
            largest_tokens: 0,
        }
    }
}

impl SideTotals {
    fn merge(&mut self, other: &Self) {
        self.spent += other.spent;
        self.too_long += other.too_long;
        self.largest_tokens = self.largest_tokens.max(other.largest_tokens);
        self.nanodollars = self
            .nanodollars
            .zip(other.nanodollars)
            .map(|(sum, one)| sum.saturating_add(one));
    }

    fn add(&mut self, side: &Side) {
        self.spent += side.spent;
        self.too_long += u64::from(side.is_too_long);
        self.largest_tokens = self.largest_tokens.max(side.spent.input_tokens());
        self.nanodollars = self
            .nanodollars
            .zip(side.nanodollars)
            .map(|(sum, one)| sum.saturating_add(one));
    }
}

impl Totals {
    /// Adds the turns of a replay.
    pub fn add(&mut self, turns: &[Turn]) {
        for turn in turns {
            self.requests += 1;
            self.sent.add(&turn.sent);
            self.bare.add(&turn.bare);
            if let Step::Compacted(made) = &turn.step {
                self.compactions += 1;
                self.anchors += made.anchors as u64;
                self.anchors_in_view += made.anchors_in_view as u64;
            }
        }
    }

    /// Adds the sums of others.
    pub fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.compactions += other.compactions;
        self.sent.merge(&other.sent);
        self.bare.merge(&other.bare);
        self.anchors += other.anchors;
        self.anchors_in_view += other.anchors_in_view;
    }

    /// The share of all anchors said so far that stood in view right after the compactions; `None` where there were none.
    #[must_use]
    pub fn kept_share(&self) -> Option<f64> {
        (self.anchors > 0).then(|| self.anchors_in_view as f64 / self.anchors as f64)
    }
}
