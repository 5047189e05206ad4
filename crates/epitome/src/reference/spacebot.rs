//! `spacebot`: three tiers of usage; the oldest share goes; summaries stack.

use crate::message::{Message, Role};

/// The window assumed where nothing is set.
pub const DEFAULT_WINDOW_TOKENS: u64 = 128_000;
/// Stands before every summary.
pub const SUMMARY_MARK: &str = "[Compaction Summary]: ";
/// Messages that always stay.
const LEAST_LEFT: usize = 2;

/// Usage from which each tier acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// A background compaction of the oldest 30 %.
    pub background: f64,
    /// A background compaction of the oldest 50 %.
    pub aggressive: f64,
    /// The oldest 50 % go at once, without a model.
    pub emergency: f64,
}

impl Thresholds {
    /// As the design has them.
    pub const DEFAULT: Self = Self {
        background: 0.80,
        aggressive: 0.85,
        emergency: 0.95,
    };
}

impl Default for Thresholds {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How urgent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Compact the oldest 30 % in the background.
    Background,
    /// Compact the oldest 50 % in the background.
    Aggressive,
    /// Drop the oldest 50 % now.
    Emergency,
}

impl Tier {
    /// The share of the messages that goes.
    #[must_use]
    pub const fn fraction(self) -> f64 {
        match self {
            Self::Background => 0.3,
            Self::Aggressive | Self::Emergency => 0.5,
        }
    }
}

/// The highest tier that the usage reaches.
#[must_use]
pub fn tier(tokens: u64, window: u64, thresholds: Thresholds) -> Option<Tier> {
    let usage = tokens as f64 / window as f64;
    if usage >= thresholds.emergency {
        Some(Tier::Emergency)
    } else if usage >= thresholds.aggressive {
        Some(Tier::Aggressive)
    } else if usage >= thresholds.background {
        Some(Tier::Background)
    } else {
        None
    }
}

/// Characters of everything, a quarter, rounded up once.
#[must_use]
pub fn estimate(messages: &[Message]) -> u64 {
    let characters: usize = messages.iter().map(super::micro::characters).sum();
    (characters as u64).div_ceil(4)
}

/// How many of the oldest messages go: moved forward off tool results, back where that leaves too little.
#[must_use]
pub fn cut(messages: &[Message], fraction: f64) -> usize {
    let count = messages.len();
    let Some(most) = count.checked_sub(LEAST_LEFT).filter(|most| *most > 0) else {
        return 0;
    };
    let wanted = ((count as f64 * fraction).floor() as usize).clamp(1, most);
    let is_legal = |at: usize| messages.get(at).is_some_and(|m| m.role != Role::Tool);
    (wanted..=most)
        .find(|at| is_legal(*at))
        .or_else(|| (1..wanted).rev().find(|at| is_legal(*at)))
        .unwrap_or(0)
}

const MARKER_START: &str = "[System: ";
const MARKER_END: &str = " older messages were truncated due to context limits]";

/// What stands for messages that were dropped without a summary.
#[must_use]
pub fn emergency_marker(removed: usize) -> String {
    format!("{MARKER_START}{removed}{MARKER_END}")
}

/// How many messages a marker says went; `None` for any other text.
#[must_use]
pub fn truncated_count(text: &str) -> Option<usize> {
    let number = text.strip_prefix(MARKER_START)?.strip_suffix(MARKER_END)?;
    number.parse().ok()
}
