//! A warning that is given once per cycle.

use crate::reference::vibe::{self, BeforeTurn, Warnings};
use crate::threshold::Threshold;

/// What to do before each turn of a conversation, with the warning at half the threshold given once until the
/// next compaction.
///
/// *Input*: [`WarningCycle::before_turn`], [`WarningCycle::compacted`]. It holds no size of its own: the caller
/// says how large the context is.
///
/// ```
/// use epitome::reference::vibe::{BeforeTurn, Warnings};
/// use epitome::{Threshold, WarningCycle};
///
/// let mut cycle = WarningCycle::new(Threshold::Tokens(200_000), 200_000, Warnings::On);
/// assert_eq!(cycle.before_turn(100_000), BeforeTurn::Warn);
/// assert_eq!(cycle.before_turn(150_000), BeforeTurn::Continue);
/// assert_eq!(cycle.before_turn(200_000), BeforeTurn::Compact);
/// cycle.compacted();
/// assert_eq!(cycle.before_turn(110_000), BeforeTurn::Warn);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarningCycle {
    threshold_tokens: i64,
    warnings: Warnings,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was said in this cycle.
    Armed,
    /// The user knows.
    Said,
}

impl WarningCycle {
    /// The first cycle of a conversation. A threshold that is off, or that the window cannot hold, switches
    /// compaction and warning off.
    #[must_use]
    pub fn new(threshold: Threshold, window_tokens: u64, warnings: Warnings) -> Self {
        Self {
            threshold_tokens: threshold.tokens(window_tokens).map_or(0, signed),
            warnings,
            state: State::Armed,
        }
    }

    /// What to do before a turn that starts with `context_tokens`. [`BeforeTurn::Warn`] comes once per cycle;
    /// at or above the threshold compaction takes its place.
    pub fn before_turn(&mut self, context_tokens: u64) -> BeforeTurn {
        let wanted =
            vibe::before_turn(signed(context_tokens), self.threshold_tokens, self.warnings);
        match (wanted, self.state) {
            (BeforeTurn::Warn, State::Said) => BeforeTurn::Continue,
            (BeforeTurn::Warn, State::Armed) => {
                self.state = State::Said;
                BeforeTurn::Warn
            }
            (BeforeTurn::Continue | BeforeTurn::Compact, _) => wanted,
        }
    }

    /// A compaction landed: a new cycle begins.
    pub const fn compacted(&mut self) {
        self.state = State::Armed;
    }

    /// The threshold in force, `None` when it is off.
    #[must_use]
    pub const fn threshold_tokens(&self) -> Option<u64> {
        match self.threshold_tokens {
            ..=0 => None,
            tokens => Some(tokens.unsigned_abs()),
        }
    }
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}
