//! One way to write a threshold: a share of the window, a number of tokens, or what to keep free.

use std::fmt;
use std::str::FromStr;

use crate::reason::Reason;

/// Hundredths of a percent in the whole window.
const WHOLE: u16 = 10_000;

/// The size from which something happens.
///
/// | written | means |
/// |---|---|
/// | `90%`, `87.5%` | that share of the window, rounded down |
/// | `100000`, `100_000` | that many tokens, whatever the window |
/// | `-20000` | the window minus that many tokens |
/// | `off`, `0`, `0%`, `-0` | never |
///
/// The minus sign belongs to the written form. A bare *number* in a configuration, where the references say that
/// zero or less switches off, is read by [`Threshold::from_number`].
///
/// ```
/// use epitome::{Reason, Threshold};
///
/// let line: Threshold = "-20000".parse()?;
/// assert_eq!(line.tokens(200_000), Some(180_000));
/// assert_eq!(line.resolve(16_000), Err(Reason::WindowBelowReserves));
/// assert_eq!("0".parse::<Threshold>()?.resolve(200_000), Err(Reason::SwitchedOff));
/// # Ok::<(), epitome::ThresholdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Threshold {
    /// Never.
    Off,
    /// A share of the window, in hundredths of a percent; 1 to 10,000.
    Share(u16),
    /// A number of tokens, above zero.
    Tokens(u64),
    /// The window minus this many tokens, above zero.
    Below(u64),
}

/// A text that is no threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// It has none of the forms.
    #[error(
        "`{text}` is not a threshold: write a share of the window (`90%`), a number of tokens (`100000`), \
         the window minus some (`-20000`), or `off`"
    )]
    Form {
        /// What was given.
        text: String,
    },
    /// It is a share that the window does not have.
    #[error("`{text}` is more than the window: a share is between 0% and 100%")]
    ShareAboveWindow {
        /// What was given.
        text: String,
    },
    /// It is a share that is finer than is kept.
    #[error("`{text}` is too fine: a share has at most two decimals, such as `87.25%`")]
    ShareTooFine {
        /// What was given.
        text: String,
    },
}

impl Threshold {
    /// A configured number of tokens; zero or less switches off.
    #[must_use]
    pub const fn from_number(tokens: i64) -> Self {
        if tokens <= 0 {
            Self::Off
        } else {
            Self::Tokens(tokens.unsigned_abs())
        }
    }

    /// The line in a window of `window_tokens`; never zero.
    ///
    /// # Errors
    /// [`Reason::SwitchedOff`] for [`Threshold::Off`]; [`Reason::WindowBelowReserves`] when nothing of the
    /// window is left. Both mean that nothing is to be done.
    pub fn resolve(self, window_tokens: u64) -> Result<u64, Reason> {
        let tokens = match self {
            Self::Off => return Err(Reason::SwitchedOff),
            Self::Share(hundredths) => {
                let share = u128::from(window_tokens) * u128::from(hundredths) / u128::from(WHOLE);
                u64::try_from(share).unwrap_or(u64::MAX)
            }
            Self::Tokens(tokens) => tokens,
            Self::Below(tokens) => window_tokens.saturating_sub(tokens),
        };
        match tokens {
            0 => Err(Reason::WindowBelowReserves),
            tokens => Ok(tokens),
        }
    }

    /// [`Threshold::resolve`] for those who need no reason.
    #[must_use]
    pub fn tokens(self, window_tokens: u64) -> Option<u64> {
        self.resolve(window_tokens).ok()
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let trimmed = text.trim();
        let form = || ThresholdError::Form {
            text: text.to_owned(),
        };
        if trimmed.eq_ignore_ascii_case("off") {
            return Ok(Self::Off);
        }
        if let Some(share) = trimmed.strip_suffix('%') {
            return percent(share.trim_end(), text);
        }
        let (digits, below) = match trimmed.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (trimmed, false),
        };
        Ok(match (number(digits).ok_or_else(form)?, below) {
            (0, _) => Self::Off,
            (tokens, false) => Self::Tokens(tokens),
            (tokens, true) => Self::Below(tokens),
        })
    }
}

/// A whole number, its digits grouped by `_` or not.
fn number(text: &str) -> Option<u64> {
    let is_grouped = text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '_');
    is_grouped.then(|| text.replace('_', "").parse().ok())?
}

fn percent(share: &str, text: &str) -> Result<Threshold, ThresholdError> {
    let text = || text.to_owned();
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = share.split_once('.').unwrap_or((share, "0"));
    if !is_digits(whole) || !is_digits(fraction) {
        return Err(ThresholdError::Form { text: text() });
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 2 {
        return Err(ThresholdError::ShareTooFine { text: text() });
    }
    let hundredths = format!("{whole}{fraction:0<2}")
        .parse::<u16>()
        .ok()
        .filter(|hundredths| *hundredths <= WHOLE)
        .ok_or_else(|| ThresholdError::ShareAboveWindow { text: text() })?;
    Ok(match hundredths {
        0 => Threshold::Off,
        hundredths => Threshold::Share(hundredths),
    })
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Share(hundredths) => match (hundredths / 100, hundredths % 100) {
                (whole, 0) => write!(f, "{whole}%"),
                (whole, rest) if rest % 10 == 0 => write!(f, "{whole}.{}%", rest / 10),
                (whole, rest) => write!(f, "{whole}.{rest:02}%"),
            },
            Self::Tokens(tokens) => write!(f, "{tokens}"),
            Self::Below(tokens) => write!(f, "-{tokens}"),
        }
    }
}
