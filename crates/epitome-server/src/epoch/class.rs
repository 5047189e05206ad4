//! What an epoch was made for, and what it serves.

use std::fmt;

use epitome::{Gauge, Reading};

/// Windows within a tenth of each other are of one class.
const TOLERANCE_DIVISOR: u64 = 10;

/// What an epoch was made for. It serves its own class, and whatever does not fit without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EpochClass {
    /// Not recorded: an earlier version made it.
    Any,
    /// Requests in a window of this size.
    Window(u64),
    /// Requests in a window of this size that fit but for the output they ask for.
    Output(u64),
    /// Requests to a model that refused such a request and taught nothing about its window.
    Refused(u64),
}

/// A request as the choice of an epoch sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) window_tokens: u64,
    /// Tells one model at one endpoint from another.
    pub(crate) model: u64,
    /// Whether that model has just refused it, and taught nothing about its window.
    pub(crate) is_refused: bool,
    /// Whether it fits as the client sent it.
    pub(crate) fits_bare: bool,
    /// Whether it would fit, if it asked for less output.
    pub(crate) is_forced_by_output: bool,
}

impl Need {
    pub(crate) fn of(gauge: &Gauge, bare: &Reading, model: u64) -> Self {
        let fits_bare = bare.fits();
        let plain = gauge.without_output();
        let lines = plain.lines(bare.error_tokens);
        let would_fit = lines.is_some_and(|lines| bare.size_tokens <= lines.hard_tokens);
        Self {
            window_tokens: gauge.window.tokens,
            model,
            is_refused: false,
            fits_bare,
            is_forced_by_output: !fits_bare && would_fit,
        }
    }

    /// The class of an epoch that is made for this request.
    pub(crate) const fn class(&self) -> EpochClass {
        if self.is_refused {
            EpochClass::Refused(self.model)
        } else if self.is_forced_by_output {
            EpochClass::Output(self.window_tokens)
        } else {
            EpochClass::Window(self.window_tokens)
        }
    }
}

impl EpochClass {
    /// Whether an epoch of this class is in force for a request of its own class: then it is applied even where the
    /// request would fit.
    pub(crate) const fn is_own(self, need: &Need) -> bool {
        match self {
            Self::Window(made_for) => is_same(made_for, need.window_tokens),
            // What was refused once with these messages in it would be refused again.
            Self::Refused(model) => model == need.model,
            Self::Any | Self::Output(_) => false,
        }
    }

    /// Whether an epoch of this class may help a request that is not of its class.
    pub(crate) const fn helps(self, need: &Need) -> bool {
        match self {
            Self::Any | Self::Window(_) | Self::Refused(_) => !need.fits_bare,
            Self::Output(made_for) => !need.fits_bare && is_same(made_for, need.window_tokens),
        }
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok();
        match text.split_once('/') {
            None if text == "any" => Some(Self::Any),
            Some(("window", tokens)) => number(tokens).map(Self::Window),
            Some(("output", tokens)) => number(tokens).map(Self::Output),
            Some(("refused", model)) => u64::from_str_radix(model, 16).ok().map(Self::Refused),
            _ => None,
        }
    }
}

const fn is_same(one: u64, other: u64) -> bool {
    let larger = if one > other { one } else { other };
    one.abs_diff(other) <= larger / TOLERANCE_DIVISOR
}

impl fmt::Display for EpochClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Window(tokens) => write!(f, "window/{tokens}"),
            Self::Output(tokens) => write!(f, "output/{tokens}"),
            Self::Refused(model) => write!(f, "refused/{model:016x}"),
        }
    }
}
