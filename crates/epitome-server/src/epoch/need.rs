//! Which requests an epoch serves: those that it was made for, and whatever does not fit without it.

use epitome::{Gauge, Reading};
use epitome_engine::record::MadeFor;

/// Windows within a tenth of each other are of one class.
const TOLERANCE_DIVISOR: u64 = 10;

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
    pub(crate) const fn class(&self) -> MadeFor {
        if self.is_refused {
            MadeFor::Refused(self.model)
        } else if self.is_forced_by_output {
            MadeFor::Output(self.window_tokens)
        } else {
            MadeFor::Window(self.window_tokens)
        }
    }

    /// Whether an epoch that was made for this is in force for the request: then it is applied even where the request
    /// would fit.
    pub(crate) const fn owns(&self, made_for: MadeFor) -> bool {
        match made_for {
            MadeFor::Window(tokens) => is_same(tokens, self.window_tokens),
            // What was refused once with these messages in it would be refused again.
            MadeFor::Refused(model) => model == self.model,
            MadeFor::Any | MadeFor::Output(_) => false,
        }
    }

    /// Whether an epoch that was made for something else may help the request.
    pub(crate) const fn is_helped_by(&self, made_for: MadeFor) -> bool {
        match made_for {
            MadeFor::Any | MadeFor::Window(_) | MadeFor::Refused(_) => !self.fits_bare,
            MadeFor::Output(tokens) => !self.fits_bare && is_same(tokens, self.window_tokens),
        }
    }
}

const fn is_same(one: u64, other: u64) -> bool {
    let larger = if one > other { one } else { other };
    one.abs_diff(other) <= larger / TOLERANCE_DIVISOR
}
