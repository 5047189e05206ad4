//! How a provider counts over time, as a share of what somebody else estimates.

use crate::Random;

/// The lowest and the highest share that a generated provider counts, in percent.
const PERCENT: (usize, usize) = (40, 180);

/// What a provider counts of each turn, as a share of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shares {
    /// Always the same.
    Constant(f64),
    /// From one to the other over all turns.
    Drifting(f64, f64),
    /// By turns one and the other.
    Alternating(f64, f64),
}

impl Shares {
    /// The extremes of every kind.
    pub const EXTREMES: [Self; 6] = [
        Self::Constant(0.4),
        Self::Constant(1.0),
        Self::Constant(1.8),
        Self::Drifting(0.4, 1.8),
        Self::Drifting(1.8, 0.4),
        Self::Alternating(0.4, 1.8),
    ];

    /// Any of them.
    pub fn any(random: &mut Random) -> Self {
        let mut share = || random.between(PERCENT.0, PERCENT.1) as f64 / 100.0;
        let (one, other) = (share(), share());
        match random.below(3) {
            0 => Self::Constant(one),
            1 => Self::Drifting(one, other),
            _ => Self::Alternating(one, other),
        }
    }

    /// The share in one of so many turns. What is asked for after the last turn counts as the last.
    #[must_use]
    pub fn at(self, turn: u64, turns: u64) -> f64 {
        match self {
            Self::Constant(share) => share,
            Self::Drifting(from, to) => {
                from + (to - from) * turn.min(turns) as f64 / turns.max(1) as f64
            }
            Self::Alternating(one, _) if turn.is_multiple_of(2) => one,
            Self::Alternating(_, other) => other,
        }
    }

    /// The highest of them.
    #[must_use]
    pub const fn highest(self) -> f64 {
        match self {
            Self::Constant(share) => share,
            Self::Drifting(from, to) | Self::Alternating(from, to) => from.max(to),
        }
    }

    /// The lowest of them.
    #[must_use]
    pub const fn lowest(self) -> f64 {
        match self {
            Self::Constant(share) => share,
            Self::Drifting(from, to) | Self::Alternating(from, to) => from.min(to),
        }
    }

    /// What a conversation that grows by so many estimated tokens each turn grows by in all. Where the counts alternate
    /// it has to fit by the higher ones.
    #[must_use]
    pub fn grown_tokens(self, turn_tokens: u64, turns: u64) -> f64 {
        let share = |turn| match self {
            Self::Alternating(..) => self.highest(),
            _ => self.at(turn, turns),
        };
        (0..turns)
            .map(|turn| share(turn) * turn_tokens as f64)
            .sum()
    }
}
