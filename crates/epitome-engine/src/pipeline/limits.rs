//! Limits that end a loop.

use super::{Action, Middleware, ResetReason, StopReason, TurnContext};

/// Ends a run after so many turns. Calls that write summaries are not turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnLimit {
    most_turns: u64,
    /// The turns of the conversation when the run began.
    began_at: Option<u64>,
}

impl TurnLimit {
    /// A limit for each run; 0 allows no turn at all.
    #[must_use]
    pub const fn new(most_turns: u64) -> Self {
        Self {
            most_turns,
            began_at: None,
        }
    }
}

impl Middleware for TurnLimit {
    fn name(&self) -> &str {
        "turn_limit"
    }

    fn before_turn(&mut self, context: &TurnContext<'_>) -> Action {
        let turns = context.statistics.turns();
        let began_at = *self.began_at.get_or_insert(turns);
        if turns.saturating_sub(began_at) < self.most_turns {
            return Action::Continue;
        }
        Action::Stop {
            reason: StopReason::TurnLimit,
            message: format!("Turn limit reached: {} turns in this run", self.most_turns),
        }
    }

    fn reset(&mut self, reason: ResetReason) {
        if reason == ResetReason::Stop {
            self.began_at = None;
        }
    }
}

/// Ends a loop when the conversation has spent its money, summaries included. Calls of unknown price count nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceLimit {
    limit_nanodollars: u64,
}

impl PriceLimit {
    /// A limit for the conversation, in nanodollars; 0 allows no turn at all.
    #[must_use]
    pub const fn new(limit_nanodollars: u64) -> Self {
        Self { limit_nanodollars }
    }

    /// A limit for the conversation, in dollars.
    #[must_use]
    pub fn dollars(limit: f64) -> Self {
        // The conversion saturates, and takes what is no number for 0.
        Self::new((limit * NANODOLLARS).round() as u64)
    }
}

const NANODOLLARS: f64 = 1e9;

impl Middleware for PriceLimit {
    fn name(&self) -> &str {
        "price_limit"
    }

    fn before_turn(&mut self, context: &TurnContext<'_>) -> Action {
        let spent = context.statistics.spent_nanodollars();
        if spent < self.limit_nanodollars {
            return Action::Continue;
        }
        let dollars = |nanodollars: u64| nanodollars as f64 / NANODOLLARS;
        Action::Stop {
            reason: StopReason::PriceLimit,
            message: format!(
                "Price limit reached: ${:.4} spent, the limit is ${:.4}",
                dollars(spent),
                dollars(self.limit_nanodollars)
            ),
        }
    }
}
