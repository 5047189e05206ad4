//! How big is it? Token counts without a tokenizer.

use std::cmp::Ordering;

use crate::message::{Block, Message, ResultPart};

/// How tokens are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Meter {
    /// A quarter of the characters, rounded up per message; no overhead.
    Chars4,
    /// Characters weighed by script, with the overhead of messages and calls. Leans to the high side.
    #[default]
    Estimate,
}

/// Tokens a provider adds around every message, as the estimate assumes.
const MESSAGE_OVERHEAD: u64 = 4;
/// Tokens a provider adds around every call and result.
const CALL_OVERHEAD: u64 = 8;
/// Weights are in sixtieths of a token, so that a quarter, a third and a fifth are whole numbers.
const UNITS: u64 = 60;
/// A run of this many characters without a break is taken for encoded data, which tokenizes badly.
const ENCODED_RUN: usize = 120;
/// What a character of such a run costs beyond a quarter.
const ENCODED_EXTRA: u64 = UNITS * 2 / 3 - UNITS / 4;

impl Meter {
    /// Tokens of a text.
    #[must_use]
    pub fn text(self, text: &str) -> u64 {
        self.tokens(self.units(text))
    }

    /// Tokens of a whole message: texts, tool names, arguments, results, media.
    #[must_use]
    pub fn message(self, message: &Message) -> u64 {
        let mut units = 0;
        let mut tokens = match self {
            Self::Chars4 => 0,
            Self::Estimate => MESSAGE_OVERHEAD,
        };
        for block in &message.blocks {
            match block {
                Block::Text(text) | Block::Injected(text) => units += self.units(text),
                Block::Thinking { chars } | Block::Opaque { chars } => {
                    units += opaque_units(*chars);
                }
                Block::Call(call) => {
                    units += self.units(&call.name) + self.units(&call.arguments);
                    tokens += self.call_overhead();
                }
                Block::Result(result) => {
                    tokens += self.call_overhead();
                    for part in &result.parts {
                        match part {
                            ResultPart::Text(text) => units += self.units(text),
                            ResultPart::Media(media) => tokens += u64::from(media.tokens),
                            ResultPart::Opaque { chars } => units += opaque_units(*chars),
                        }
                    }
                }
                Block::Media(media) => tokens += u64::from(media.tokens),
            }
        }
        tokens + self.tokens(units)
    }

    /// The longest prefix of `text` that costs at most `tokens`.
    #[must_use]
    pub fn prefix(self, text: &str, tokens: u64) -> &str {
        let limit = tokens.saturating_mul(UNITS);
        let mut units = 0;
        let mut run = 0;
        for (at, character) in text.char_indices() {
            units += self.weight(character);
            if self == Self::Estimate {
                run = if is_encoded(character) { run + 1 } else { 0 };
                units += match run.cmp(&ENCODED_RUN) {
                    Ordering::Less => 0,
                    Ordering::Equal => ENCODED_RUN as u64 * ENCODED_EXTRA,
                    Ordering::Greater => ENCODED_EXTRA,
                };
            }
            if units > limit {
                return text.get(..at).unwrap_or_default();
            }
        }
        text
    }

    const fn call_overhead(self) -> u64 {
        match self {
            Self::Chars4 => 0,
            Self::Estimate => CALL_OVERHEAD,
        }
    }

    const fn tokens(self, units: u64) -> u64 {
        units.div_ceil(UNITS)
    }

    fn units(self, text: &str) -> u64 {
        match self {
            Self::Chars4 => text.chars().count() as u64 * (UNITS / 4),
            Self::Estimate => {
                let plain: u64 = if text.is_ascii() {
                    text.len() as u64 * (UNITS / 4)
                } else {
                    text.chars().map(|character| self.weight(character)).sum()
                };
                plain + encoded_extra_units(text)
            }
        }
    }

    const fn weight(self, character: char) -> u64 {
        match self {
            Self::Chars4 => UNITS / 4,
            Self::Estimate => match character as u32 {
                0..0x80 => UNITS / 4,
                0x80..0x590 => UNITS / 2,
                0x590..0x1_0000 => UNITS,
                _ => UNITS * 2,
            },
        }
    }
}

const fn opaque_units(chars: usize) -> u64 {
    chars as u64 * (UNITS / 4)
}

/// What unbroken runs such as base64 cost beyond plain text: a character of them is two thirds of a token.
fn encoded_extra_units(text: &str) -> u64 {
    if text.len() < ENCODED_RUN {
        return 0;
    }
    let encoded: usize = text
        .split(|character| !is_encoded(character))
        .map(str::len)
        .filter(|&run| run >= ENCODED_RUN)
        .sum();
    encoded as u64 * ENCODED_EXTRA
}

const fn is_encoded(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '=')
}
