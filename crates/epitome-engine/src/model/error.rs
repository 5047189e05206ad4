//! Why a model gave no answer.

use std::time::Duration;

use epitome::{Failure, Reason};
use epitome_wire::Overflow;

use super::key::KeyError;

/// Why there is no answer. Says nothing about keys: it is logged and stored.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There is no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Nobody answers at the address.
    #[error("the model at {place} could not be reached")]
    Unreachable {
        /// Where.
        place: String,
    },
    /// It took too long.
    #[error("the model did not answer within {seconds} s")]
    Timeout {
        /// The limit.
        seconds: u64,
    },
    /// The connection broke, or the stream ended before the answer did.
    #[error("the answer was cut off")]
    CutOff,
    /// The provider asks to wait for longer than there is time.
    #[error("the provider limits the rate of requests")]
    RateLimited {
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
    /// The request is too long for the model.
    #[error("the request is too long for the model: {message}")]
    TooLong {
        /// What the answer says about sizes.
        overflow: Overflow,
        /// The beginning of the provider's own words, on one line.
        message: String,
    },
    /// The provider refused the request.
    #[error("the provider refused the request with status {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The beginning of what it says, on one line.
        message: String,
    },
    /// What came back is not an answer.
    #[error("what came back is not an answer: {beginning}")]
    Garbage {
        /// How it begins, on one line.
        beginning: String,
    },
    /// The provider ended its answer with an error.
    #[error("the provider broke off its answer: {message}")]
    Broken {
        /// The beginning of what it says, on one line.
        message: String,
    },
    /// It may not cost more for now.
    #[error("the limit of {limit_usd} USD is reached ({spent_usd:.4} USD spent)")]
    SpendLimit {
        /// The limit.
        limit_usd: f64,
        /// What was spent.
        spent_usd: f64,
    },
    /// The operation was called off.
    #[error("the call was called off")]
    Cancelled,
}

impl CallError {
    /// What this means for a summary.
    #[must_use]
    pub const fn failure(&self) -> Failure {
        match self {
            Self::Timeout { .. } => Failure::SummaryTimeout,
            Self::CutOff => Failure::SummaryCutOff,
            Self::RateLimited { .. } => Failure::SummaryRateLimited,
            Self::TooLong { .. } => Failure::SummaryOverflow,
            Self::SpendLimit { .. } => Failure::SpendLimit,
            Self::Cancelled => Failure::Cancelled,
            Self::Key(_)
            | Self::Unreachable { .. }
            | Self::Refused { .. }
            | Self::Broken { .. }
            | Self::Garbage { .. } => Failure::SummaryFailed,
        }
    }

    /// The code of it.
    #[must_use]
    pub fn reason(&self) -> Reason {
        Reason::from(self.failure())
    }

    /// Whether asking again may help, and how long the provider wants to be left alone.
    pub(super) const fn retry(&self) -> Option<Option<Duration>> {
        match self {
            Self::RateLimited { wait } => Some(*wait),
            Self::Unreachable { .. }
            | Self::CutOff
            | Self::Broken { .. }
            | Self::Garbage { .. } => Some(None),
            Self::Refused { status, .. } => match status {
                408 | 409 | 425 | 500..=599 => Some(None),
                _ => None,
            },
            // One that hangs has cost a whole time limit already.
            Self::Timeout { .. }
            | Self::Key(_)
            | Self::TooLong { .. }
            | Self::SpendLimit { .. }
            | Self::Cancelled => None,
        }
    }
}
