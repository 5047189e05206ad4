//! What providers report, and what can be learned from it: pure data, one value per model and endpoint.

use std::ops::RangeInclusive;

use crate::session::UNCALIBRATED_ERROR_RATIO;
use crate::window::Window;

/// How far a meter may be off once it is well calibrated.
pub const CALIBRATED_ERROR_RATIO: f64 = 0.04;

/// No meter is trusted less than this, whatever was observed.
const LARGEST_ERROR_RATIO: f64 = 0.5;
/// How much of a new observation goes into a ratio that falls, and into the spread.
const LEARNING_RATE: f64 = 0.3;
/// The error bar covers this many average deviations.
const DEVIATIONS: f64 = 2.0;
/// Ratios outside this range come from answers that count something else.
const PLAUSIBLE_RATIOS: RangeInclusive<f64> = 0.3..=4.0;
/// Below this, overheads that no meter knows outweigh the rest.
const SMALLEST_TRUNCATION_TOKENS: u64 = 1_000;
/// Windows of local servers are multiples of this.
const WINDOW_STEP_TOKENS: u64 = 1_024;

/// What a provider counted for one request and its answer.
///
/// Anthropic reports fresh, read and written tokens apart; OpenAI's `prompt_tokens` has them all, and is
/// `fresh_tokens` here with nothing beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Input neither read from the cache nor written to it.
    pub fresh_tokens: u64,
    /// Input read from the cache.
    pub cache_read_tokens: u64,
    /// Input written to the cache.
    pub cache_write_tokens: u64,
    /// The answer.
    pub output_tokens: u64,
}

impl Usage {
    /// The whole input, cached or not: what stands against the window.
    #[must_use]
    pub const fn input_tokens(self) -> u64 {
        self.fresh_tokens
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
    }

    /// Input and answer: the size of the conversation after the turn.
    #[must_use]
    pub const fn context_tokens(self) -> u64 {
        self.input_tokens().saturating_add(self.output_tokens)
    }
}

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

/// How many real tokens an estimated one is, for one model at one endpoint.
///
/// *Input*: [`Calibration::observe`], [`Calibration::widen`]. *Queries*: [`Calibration::ratio`],
/// [`Calibration::error_ratio`], [`Calibration::real`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    ratio: f64,
    /// Average deviation of an observation from what the ratio before it said, as a part of it.
    spread: f64,
    observations: u32,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            ratio: 1.0,
            spread: 0.0,
            observations: 0,
        }
    }
}

impl Calibration {
    /// A provider counted `real_tokens` where the meter said `estimated_tokens`.
    ///
    /// An under-estimate is dangerous, so the ratio rises at once and falls slowly. Counts that cannot be
    /// meant (no estimate, a ratio outside 0.3 to 4, a truncated request) leave everything as it was; what
    /// the count gives away is returned either way.
    pub fn observe(
        &mut self,
        estimated_tokens: u64,
        real_tokens: u64,
        window: Window,
    ) -> Option<UsageFinding> {
        let finding = UsageFinding::of(real_tokens, self.real(estimated_tokens), window);
        let ratio = real_tokens as f64 / estimated_tokens.max(1) as f64;
        let is_truncated = matches!(finding, Some(UsageFinding::Truncated { .. }));
        if estimated_tokens == 0 || is_truncated || !PLAUSIBLE_RATIOS.contains(&ratio) {
            return finding;
        }
        if self.observations == 0 {
            self.ratio = ratio;
        } else {
            let deviation = (ratio / self.ratio - 1.0).abs();
            self.spread += (deviation - self.spread) * LEARNING_RATE;
            self.ratio = if ratio < self.ratio {
                self.ratio + (ratio - self.ratio) * LEARNING_RATE
            } else {
                ratio
            };
        }
        self.observations = self.observations.saturating_add(1);
        finding
    }

    /// The conversation was rewritten or the anchor is gone: the ratio stays, the error bar is that of the
    /// first observation again.
    pub const fn widen(&mut self) {
        if self.observations > 1 {
            self.observations = 1;
        }
    }

    /// Real tokens per estimated one; 1 before anything was observed.
    #[must_use]
    pub const fn ratio(self) -> f64 {
        self.ratio
    }

    /// How many observations the error bar rests on.
    #[must_use]
    pub const fn observations(self) -> u32 {
        self.observations
    }

    /// How far [`Calibration::real`] may be off, as a part of it (0.1 = a tenth). Shrinks with the square
    /// root of the observations down to [`CALIBRATED_ERROR_RATIO`], and grows with their spread.
    #[must_use]
    pub fn error_ratio(self) -> f64 {
        let known = UNCALIBRATED_ERROR_RATIO / (f64::from(self.observations) + 1.0).sqrt();
        known
            .max(self.spread * DEVIATIONS)
            .clamp(CALIBRATED_ERROR_RATIO, LARGEST_ERROR_RATIO)
    }

    /// Real tokens for estimated ones, rounded up.
    #[must_use]
    pub fn real(self, estimated_tokens: u64) -> u64 {
        (estimated_tokens as f64 * self.ratio).ceil() as u64
    }
}

/// A provider's count of a conversation up to some message, beside the meter's. Whatever came later is
/// estimated; what came before is known. Void once the history before it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// What the provider counted.
    pub real_tokens: u64,
    /// What the meter said of the same messages.
    pub estimated_tokens: u64,
}

impl Anchor {
    /// Real tokens of the conversation now that the meter says `estimated_now`.
    #[must_use]
    pub fn anchored(self, estimated_now: u64, calibration: Calibration) -> u64 {
        match estimated_now.checked_sub(self.estimated_tokens) {
            Some(new) => self.real_tokens.saturating_add(calibration.real(new)),
            None => {
                let gone = calibration.real(self.estimated_tokens - estimated_now);
                self.real_tokens.saturating_sub(gone)
            }
        }
    }

    /// How many tokens [`Anchor::anchored`] may be off: only what is not anchored is uncertain.
    #[must_use]
    pub fn error_tokens(self, estimated_now: u64, calibration: Calibration) -> u64 {
        let uncertain = calibration.real(estimated_now.abs_diff(self.estimated_tokens));
        (uncertain as f64 * calibration.error_ratio()).ceil() as u64
    }
}
