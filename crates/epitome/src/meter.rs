//! How big is it? Estimates, exact counts, and what providers themselves report.

#[cfg(feature = "exact-tokens")]
mod exact;
mod reference;
mod weights;

pub use reference::ReferenceMeter;

use crate::message::{Block, Message, ResultPart};
use weights::{Scale, UNITS};

/// How tokens are counted.
///
/// All but [`Meter::Chars4`] add the same assumed overhead per message and per call or result, so an exact
/// meter is exact for texts only. Calibration makes up for the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Meter {
    /// A quarter of the characters, rounded up per message; no overhead.
    Chars4,
    /// Characters weighed by kind and by what stands beside them. Leans to the high side.
    #[default]
    Estimate,
    /// Exact in the vocabulary of GPT-4o and later. More text may cost less: a word may become one token.
    #[cfg(feature = "exact-tokens")]
    O200k,
    /// Exact in the vocabulary of GPT-4 and GPT-3.5. More text may cost less here too.
    #[cfg(feature = "exact-tokens")]
    Cl100k,
}

/// Tokens a provider adds around every message, as the estimate assumes.
const MESSAGE_OVERHEAD: u64 = 4;
/// Tokens a provider adds around every call and result.
const CALL_OVERHEAD: u64 = 8;
/// What is not read is taken for a quarter of its characters.
const QUARTER: u64 = UNITS / 4;

impl Meter {
    /// Tokens of a text.
    #[must_use]
    pub fn text(self, text: &str) -> u64 {
        self.units(text).div_ceil(UNITS)
    }

    /// Tokens of a whole message: texts, tool names, arguments, results, media.
    #[must_use]
    pub fn message(self, message: &Message) -> u64 {
        self.message_with(message, |_, _| {})
    }

    /// The same. What each text of a tool result costs, each text that somebody said and the arguments of each call, is
    /// handed on, because counting it takes time.
    pub(crate) fn message_with(
        self,
        message: &Message,
        mut text_of: impl FnMut(&Block, u64),
    ) -> u64 {
        let mut units = 0;
        let mut tokens = self.overhead(MESSAGE_OVERHEAD);
        for block in &message.blocks {
            match block {
                Block::Text(text) | Block::Injected(text) => {
                    let own = self.units(text);
                    if matches!(block, Block::Text(_)) {
                        text_of(block, own.div_ceil(UNITS));
                    }
                    units += own;
                }
                Block::Thinking { chars } | Block::Opaque { chars, .. } => {
                    units += opaque_units(*chars);
                }
                Block::Call(call) => {
                    let own = self.units(&call.arguments);
                    text_of(block, own.div_ceil(UNITS));
                    units += self.units(&call.name) + own;
                    tokens += self.overhead(CALL_OVERHEAD);
                }
                Block::Result(result) => {
                    tokens += self.overhead(CALL_OVERHEAD);
                    for part in &result.parts {
                        match part {
                            ResultPart::Text(text) => {
                                let own = self.units(text);
                                text_of(block, own.div_ceil(UNITS));
                                units += own;
                            }
                            ResultPart::Media(media) => tokens += u64::from(media.tokens),
                            ResultPart::Opaque { chars } => units += opaque_units(*chars),
                        }
                    }
                }
                Block::Media(media) => tokens += u64::from(media.tokens),
            }
        }
        tokens + units.div_ceil(UNITS)
    }

    /// The longest prefix of `text` that costs at most `tokens`. With an exact meter it may fall a few
    /// characters short of the longest; it never costs more, and more tokens never give a shorter one.
    #[must_use]
    pub fn prefix(self, text: &str, tokens: u64) -> &str {
        match self {
            Self::Chars4 | Self::Estimate => {
                let fitting = self.fitting_bytes(text.chars(), tokens);
                text.get(..fitting).unwrap_or(text)
            }
            #[cfg(feature = "exact-tokens")]
            Self::O200k => exact::prefix(exact::o200k(), text, tokens),
            #[cfg(feature = "exact-tokens")]
            Self::Cl100k => exact::prefix(exact::cl100k(), text, tokens),
        }
    }

    /// The longest suffix of `text` that costs at most `tokens`; with an exact meter as with
    /// [`Meter::prefix`], but for the order of lengths.
    #[must_use]
    pub fn suffix(self, text: &str, tokens: u64) -> &str {
        match self {
            Self::Chars4 | Self::Estimate => {
                let fitting = self.fitting_bytes(text.chars().rev(), tokens);
                text.get(text.len() - fitting..).unwrap_or(text)
            }
            #[cfg(feature = "exact-tokens")]
            Self::O200k => exact::suffix(exact::o200k(), text, tokens),
            #[cfg(feature = "exact-tokens")]
            Self::Cl100k => exact::suffix(exact::cl100k(), text, tokens),
        }
    }

    /// Bytes of the characters that fit, in the order in which they come.
    fn fitting_bytes(self, characters: impl Iterator<Item = char>, tokens: u64) -> usize {
        let limit = tokens.saturating_mul(UNITS);
        let mut scale = Scale::new();
        let mut quarters = 0;
        let mut bytes = 0;
        for character in characters {
            let units = if self == Self::Chars4 {
                quarters += QUARTER;
                quarters
            } else {
                scale.add(character);
                scale.units
            };
            if units > limit {
                break;
            }
            bytes += character.len_utf8();
        }
        bytes
    }

    const fn overhead(self, tokens: u64) -> u64 {
        match self {
            Self::Chars4 => 0,
            _ => tokens,
        }
    }

    fn units(self, text: &str) -> u64 {
        match self {
            Self::Chars4 => text.chars().count() as u64 * QUARTER,
            Self::Estimate => weights::units(text),
            #[cfg(feature = "exact-tokens")]
            Self::O200k => exact::count(exact::o200k(), text) * UNITS,
            #[cfg(feature = "exact-tokens")]
            Self::Cl100k => exact::count(exact::cl100k(), text) * UNITS,
        }
    }
}

const fn opaque_units(chars: usize) -> u64 {
    // Nothing is that long, but a host may say so.
    let chars = if chars > u32::MAX as usize {
        u32::MAX as u64
    } else {
        chars as u64
    };
    chars * QUARTER
}
