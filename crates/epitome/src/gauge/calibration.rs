//! What providers report, and what can be learned from it: pure data, one value per model and endpoint.

use std::ops::RangeInclusive;

use crate::window::Window;

/// How far the default meter may be off before a provider's own count is known.
pub const UNCALIBRATED_ERROR_RATIO: f64 = 0.1;
/// How far a meter may be off once it is well calibrated.
pub const CALIBRATED_ERROR_RATIO: f64 = 0.04;

/// No meter is trusted less than this, whatever was observed.
const LARGEST_ERROR_RATIO: f64 = 0.5;
/// The median is taken over so many turns.
const KEPT_TURNS: usize = 15;
/// Before so many turns were counted, the estimate itself has a say.
const SETTLED_TURNS: usize = 5;
/// So many votes has it.
const DOUBTS: usize = 2;
/// From here on the error bar is known well.
const WELL_COUNTED_TURNS: u32 = 10;
/// Ratios outside this range come from answers that count something else.
const PLAUSIBLE_RATIOS: RangeInclusive<f64> = 0.3..=4.0;
/// Below this, overheads that no meter knows outweigh the rest.
const SMALLEST_TRUNCATION_TOKENS: u64 = 1_000;
/// Windows of local servers are multiples of this.
const WINDOW_STEP_TOKENS: u64 = 1_024;

/// Something a reported count gives away although the request succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageFinding {
    /// The provider read far less than was sent: it dropped the rest without a word.
    Truncated {
        /// What it counted.
        real_tokens: u64,
        /// What was sent, by the calibrated meter.
        expected_tokens: u64,
        /// The true window, where the count is one that Ollama leaves (half the window and two).
        window_tokens: Option<u64>,
    },
    /// More was read than the window holds: the window is larger than known, or something will be lost.
    AboveWindow {
        /// What it counted.
        real_tokens: u64,
        /// The window as it was known.
        window_tokens: u64,
    },
}

impl UsageFinding {
    /// Compares what a provider counted with what was expected and with the window. A count of zero says
    /// nothing.
    #[must_use]
    pub fn of(real_tokens: u64, expected_tokens: u64, window: Window) -> Option<Self> {
        // What remains in Ollama is half the window and two, so it is never much above half of what came.
        let twice = real_tokens.saturating_sub(2).saturating_mul(2);
        if real_tokens > window.tokens {
            Some(Self::AboveWindow {
                real_tokens,
                window_tokens: window.tokens,
            })
        } else if real_tokens > 0
            && expected_tokens >= SMALLEST_TRUNCATION_TOKENS
            && twice < expected_tokens
        {
            Some(Self::Truncated {
                real_tokens,
                expected_tokens,
                window_tokens: (twice > 0 && twice.is_multiple_of(WINDOW_STEP_TOKENS))
                    .then_some(twice),
            })
        } else {
            None
        }
    }
}

/// How many real tokens an estimated one is, for one model at one endpoint: the median over its last plain turns.
///
/// *Input*: [`Calibration::observe`]. *Queries*: [`Calibration::ratio`], [`Calibration::rate`].
///
/// A single odd count moves nothing: until there are five, two counts as estimated stand beside them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Calibration {
    /// The newest ratios; the oldest is overwritten.
    ratios: [f64; KEPT_TURNS],
    turns: u32,
    /// Derived from the ratios when they change, because it is asked for far more often.
    ratio: f64,
    above: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            ratios: [1.0; KEPT_TURNS],
            turns: 0,
            ratio: 1.0,
            above: 0.0,
        }
    }
}

impl Calibration {
    /// A provider counted `real_tokens` where the meter said `estimated_tokens`, in a plain turn. Counts that cannot be
    /// meant (no estimate, a ratio outside 0.3 to 4) leave everything as it was; says whether it was learned.
    pub fn observe(&mut self, estimated_tokens: u64, real_tokens: u64) -> bool {
        let ratio = real_tokens as f64 / estimated_tokens.max(1) as f64;
        if estimated_tokens == 0 || !PLAUSIBLE_RATIOS.contains(&ratio) {
            return false;
        }
        let at = self.turns as usize % KEPT_TURNS;
        if let Some(place) = self.ratios.get_mut(at) {
            *place = ratio;
        }
        self.turns = self.turns.saturating_add(1);
        let mut sorted: Vec<f64> = self.kept().to_vec();
        if sorted.len() < SETTLED_TURNS {
            sorted.extend([1.0; DOUBTS]);
        }
        sorted.sort_by(f64::total_cmp);
        self.ratio = median(&sorted);
        let high = sorted.get(sorted.len() * 9 / 10).copied();
        self.above = high.map_or(0.0, |high| (high / self.ratio - 1.0).max(0.0));
        true
    }

    /// Real tokens per estimated one; 1 before anything was observed.
    #[must_use]
    pub const fn ratio(self) -> f64 {
        self.ratio
    }

    /// How many plain turns were counted.
    #[must_use]
    pub const fn turns(self) -> u32 {
        self.turns
    }

    /// The ratios that the median is taken over, oldest and newest mixed.
    #[must_use]
    pub fn kept(&self) -> &[f64] {
        let kept = (self.turns as usize).min(KEPT_TURNS);
        self.ratios.get(..kept).unwrap_or_default()
    }

    /// What it comes to.
    #[must_use]
    pub fn rate(&self) -> Rate {
        let known = match self.turns {
            0 => UNCALIBRATED_ERROR_RATIO,
            // From here on it would be less than what is believed at best.
            7.. => CALIBRATED_ERROR_RATIO,
            turns => UNCALIBRATED_ERROR_RATIO / (f64::from(turns) + 1.0).sqrt(),
        };
        Rate {
            ratio: self.ratio,
            error_ratio: known
                .max(self.above)
                .clamp(CALIBRATED_ERROR_RATIO, LARGEST_ERROR_RATIO),
            is_well_counted: self.turns >= WELL_COUNTED_TURNS,
        }
    }
}

/// What a [`Calibration`] comes to: how real tokens follow from estimated ones, and how far that may be off.
///
/// ```
/// use epitome::Calibration;
///
/// let rate = Calibration::default().rate();
/// assert_eq!(rate.real(10_000), 10_000);
/// assert_eq!(rate.error_tokens(10_000, 200_000), 1_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    ratio: f64,
    error_ratio: f64,
    is_well_counted: bool,
}

impl Rate {
    /// How far above [`Rate::real`] the truth may lie, as a part of it (0.1 = a tenth). Shrinks with the square root of the
    /// turns down to [`CALIBRATED_ERROR_RATIO`], and grows with how far the high counts lie above the median. A provider
    /// that counts less than the meter makes it no larger.
    #[must_use]
    pub const fn error_ratio(self) -> f64 {
        self.error_ratio
    }

    /// The error bar of so many real tokens that no provider counted, in a window: never more than a tenth of it once
    /// ten plain turns were counted, nor a quarter before.
    #[must_use]
    pub fn error_tokens(self, uncounted_tokens: u64, window_tokens: u64) -> u64 {
        let most = match self.is_well_counted {
            true => window_tokens / 10,
            false => window_tokens / 4,
        };
        rounded_up(uncounted_tokens, self.error_ratio).min(most)
    }

    /// Real tokens for estimated ones, rounded up.
    #[must_use]
    pub fn real(self, estimated_tokens: u64) -> u64 {
        match self.ratio {
            1.0 => estimated_tokens,
            ratio => rounded_up(estimated_tokens, ratio),
        }
    }
}

/// A part of a number of tokens, rounded: what `is_up` says of the rest decides. It is asked for at every request, and
/// without calls: not every processor that this is built for can round, and what fits in 63 bits is converted at once.
fn part_of(tokens: u64, part: f64, is_up: impl Fn(f64) -> bool) -> u64 {
    let tokens = i64::try_from(tokens).unwrap_or(i64::MAX) as f64 * part;
    let whole = tokens as i64;
    let rounded = whole.saturating_add(i64::from(is_up(tokens - whole as f64)));
    u64::try_from(rounded).unwrap_or(0)
}

fn rounded_up(tokens: u64, part: f64) -> u64 {
    part_of(tokens, part, |rest| rest > 0.0)
}

pub(super) fn rounded(tokens: u64, part: f64) -> u64 {
    part_of(tokens, part, |rest| rest >= 0.5)
}

/// The middle of a sorted list, or the mean of the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    let upper = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
    let lower = sorted.get(sorted.len().saturating_sub(1) / 2);
    f64::midpoint(upper, lower.copied().unwrap_or(upper))
}

/// A provider's count of a conversation up to some message, beside the meter's. Whatever came later is
/// estimated; what came before is known. Void once the history before it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CountedSize {
    /// What the provider counted.
    pub real_tokens: u64,
    /// What the meter said of the same messages.
    pub estimated_tokens: u64,
}

impl CountedSize {
    /// Real tokens of the conversation now that the meter says `estimated_now`. What came since is taken to be like what
    /// was counted where that counts more than usual.
    #[must_use]
    pub fn anchored(self, estimated_now: u64, rate: Rate) -> u64 {
        match estimated_now.checked_sub(self.estimated_tokens) {
            Some(new) => self.real_tokens.saturating_add(self.since(new, rate)),
            None => {
                let gone = rate.real(self.estimated_tokens - estimated_now);
                self.real_tokens.saturating_sub(gone)
            }
        }
    }

    /// Real tokens of what came since, by the meter `estimated_tokens`.
    #[must_use]
    pub fn since(self, estimated_tokens: u64, rate: Rate) -> u64 {
        let own = self.real_tokens as f64 / self.estimated_tokens.max(1) as f64;
        let ratio = own.min(*PLAUSIBLE_RATIOS.end()).max(rate.ratio);
        rounded_up(estimated_tokens, ratio)
    }
}
