//! How full is it? Window, reserve, what providers counted and what nobody counted, in one place.
//!
//! Everybody who decides about a request (a session, a proxy, a command) asks here: [`Belief`] is what is known of a
//! model at an endpoint, [`Gauge`] is that for one request, and a [`Reading`] says how large the request is, how far
//! that may be off, and where the lines are. Pure data: no clock, no I/O.

mod belief;
mod calibration;
mod swap;

pub use belief::{Belief, Count, Evidence, Learned, Lesson, RefusedSize, TurnKind};
pub use calibration::{
    CALIBRATED_ERROR_RATIO, Calibration, CountedSize, Rate, UNCALIBRATED_ERROR_RATIO, UsageFinding,
};
pub use swap::{CachePrices, Growth as TurnGrowth, Swap, Target, Waited, is_surely_cold};

use crate::window::{Lines, Margins, Window};
use calibration::rounded;

/// A reserve that is counted only on the side of the output takes at most this part of the window.
const RESERVE_CAP_DIVISOR: u64 = 4;
/// However much output is asked for, this part of the window is left to the input: a request that asks for all of
/// it is the provider's to refuse.
const LEAST_INPUT_DIVISOR: u64 = 8;

/// What a request asks for besides its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The longest answer it wants; `None` where it does not say.
    pub output_tokens: Option<u64>,
    /// Where the provider counts that.
    pub counting: OutputCounting,
}

/// Whether the output that a request asks for stands against the window when the request is admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum OutputCounting {
    /// Only what is written in the end does, or nobody knows.
    #[default]
    Apart,
    /// Input and requested output together may not exceed the window.
    Together,
}

/// The gauge for one request.
///
/// ```
/// use epitome::{CountedSize, Asked, Calibration, Gauge, Margins, Window};
///
/// let gauge = Gauge {
///     window: Window::configured(200_000),
///     margins: Margins::default(),
///     asked: Asked::default(),
///     rate: Calibration::default().rate(),
/// };
/// let counted = CountedSize { real_tokens: 140_000, estimated_tokens: 140_000 };
/// let reading = gauge.read(142_000, &[counted]);
/// assert_eq!(reading.size_tokens, 142_000);
/// // Only the 2,000 tokens that no provider counted are uncertain.
/// assert_eq!(reading.lines.unwrap().hard_tokens, 200_000 - 20_000 - 200);
/// assert!(reading.fits());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    /// The window of the request's model.
    pub window: Window,
    /// What is kept free, and how early one acts.
    pub margins: Margins,
    /// What the request asks for.
    pub asked: Asked,
    /// How the provider counts.
    pub rate: Rate,
}

/// How large a request is, and where its lines are. Real tokens, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The provider's last count and what came since, or the estimate alone.
    pub size_tokens: u64,
    /// How much larger it may be: a part of what no provider counted.
    pub error_tokens: u64,
    /// The same request by the meter alone.
    pub estimated_tokens: u64,
    /// The lines of this request; `None` when the reserves leave nothing of the window.
    pub lines: Option<Lines>,
}

impl Gauge {
    /// Reads a request of `estimated_tokens` by the meter, tools and system prompt included. `anchors` are the
    /// newest counts of the same conversation under the same view; a provider that counts by turns more and less is
    /// believed where it counts more.
    #[must_use]
    pub fn read(&self, estimated_tokens: u64, anchors: &[CountedSize]) -> Reading {
        let rate = self.rate;
        let by_anchor = anchors.iter().map(|anchor| {
            let size = anchor.anchored(estimated_tokens, rate);
            let uncounted = estimated_tokens.saturating_sub(anchor.estimated_tokens);
            (size, anchor.since(uncounted, rate))
        });
        let whole = rate.real(estimated_tokens);
        let (size_tokens, uncounted_tokens) = by_anchor.max().unwrap_or((whole, whole));
        let error_tokens = rate.error_tokens(uncounted_tokens, self.window.tokens);
        Reading {
            size_tokens,
            error_tokens,
            estimated_tokens,
            lines: self.lines(error_tokens),
        }
    }

    /// The lines for a request that may be `error_tokens` larger than it is known to be.
    #[must_use]
    pub fn lines(&self, error_tokens: u64) -> Option<Lines> {
        let hard_tokens = self
            .window
            .tokens
            .checked_sub(self.reserve_tokens())?
            .checked_sub(error_tokens)?;
        let share = self.margins.prepare_share.clamp(0.0, 1.0);
        (hard_tokens > 0).then_some(Lines {
            prepare_tokens: rounded(hard_tokens, share),
            hard_tokens,
        })
    }

    /// The lines of a request none of which was counted yet, at the largest size that fits: what a compaction can make.
    #[must_use]
    pub fn fresh_lines(&self) -> Option<Lines> {
        let capacity = self.window.tokens.checked_sub(self.reserve_tokens())?;
        // The error bar is a share of the size, up to a bound.
        let within = (capacity as f64 / (1.0 + self.rate.error_ratio())) as u64;
        let error_tokens = self
            .rate
            .error_tokens(capacity, self.window.tokens)
            .min(capacity - within.min(capacity));
        self.lines(error_tokens)
    }

    /// What is kept free for the answer: what the request asks for, and at least the usual; in full where the provider
    /// counts it together with the input, else at most a quarter of the window.
    #[must_use]
    pub fn reserve_tokens(&self) -> u64 {
        let window = self.window.tokens;
        let cap = window / RESERVE_CAP_DIVISOR;
        let least_input = window / LEAST_INPUT_DIVISOR;
        let least = self.margins.reserve_tokens.min(cap);
        let asked = self.asked.output_tokens.unwrap_or(0).max(least);
        match self.asked.counting {
            OutputCounting::Together => asked.min(window - least_input),
            OutputCounting::Apart => asked.min(cap),
        }
    }

    /// Whether no input at all would let the request through: the output alone is more than the window, and the
    /// provider counts it.
    #[must_use]
    pub fn leaves_nothing(&self) -> bool {
        let output = self.asked.output_tokens.unwrap_or(0);
        let is_counted = self.asked.counting == OutputCounting::Together;
        (is_counted && output >= self.window.tokens) || self.fresh_lines().is_none()
    }

    /// The same gauge for a request that says nothing about its output: what is left of a line that only
    /// `max_tokens` lowered.
    #[must_use]
    pub const fn without_output(mut self) -> Self {
        self.asked.output_tokens = None;
        self
    }
}

impl Reading {
    /// Whether the request may go out as it is.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.lines
            .is_some_and(|lines| self.size_tokens <= lines.hard_tokens)
    }

    /// Whether a compaction is worth preparing.
    #[must_use]
    pub fn nears_the_line(&self) -> bool {
        self.lines
            .is_some_and(|lines| self.size_tokens > lines.prepare_tokens)
    }

    /// Tokens of the meter as this conversation's provider would count them.
    #[must_use]
    pub fn real(&self, estimated_tokens: u64) -> u64 {
        if self.estimated_tokens == 0 {
            return estimated_tokens;
        }
        let ratio = self.size_tokens as f64 / self.estimated_tokens as f64;
        (estimated_tokens as f64 * ratio).ceil() as u64
    }

    /// Real tokens of this conversation as the meter would count them.
    #[must_use]
    pub fn estimated(&self, real_tokens: u64) -> u64 {
        if self.size_tokens == 0 {
            return real_tokens;
        }
        let ratio = self.estimated_tokens as f64 / self.size_tokens as f64;
        (real_tokens as f64 * ratio).round() as u64
    }
}
