//! How the reference designs measure a conversation.

use super::Meter;
use crate::message::Message;
use crate::reference::{layer, micro, spacebot};
use crate::usage::Usage;

/// A reference design's own measure of a whole conversation, rounding and all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceMeter {
    /// What the provider reported for the last turn: prompt and completion.
    Vibe,
    /// A quarter of the characters, rounded up per message.
    OpenClaw,
    /// A quarter of all characters, rounded down once.
    Micro,
    /// A quarter of all characters, rounded up once.
    Spacebot,
    /// Two per message and a quarter of the characters, rounded up per part.
    Layer,
}

impl ReferenceMeter {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Vibe,
        Self::OpenClaw,
        Self::Micro,
        Self::Spacebot,
        Self::Layer,
    ];

    /// Tokens of a conversation. `reported` is the provider's count of the last turn, zero before the
    /// first one; only [`ReferenceMeter::Vibe`] looks at it, and it looks at nothing else.
    #[must_use]
    pub fn tokens(self, messages: &[Message], reported: Usage) -> u64 {
        match self {
            Self::Vibe => reported.context_tokens(),
            Self::OpenClaw => messages
                .iter()
                .map(|message| Meter::Chars4.message(message))
                .sum(),
            Self::Micro => micro::estimate(messages),
            Self::Spacebot => spacebot::estimate(messages),
            Self::Layer => layer::estimate(messages),
        }
    }

    /// What a message adds to the measure, in units that can be summed.
    #[must_use]
    pub fn units(self, message: &Message) -> u64 {
        let one = std::slice::from_ref(message);
        match self {
            Self::Vibe => 0,
            Self::OpenClaw => Meter::Chars4.message(message),
            Self::Micro | Self::Spacebot => micro::characters(message) as u64,
            Self::Layer => layer::estimate(one),
        }
    }

    /// Tokens of so many units.
    #[must_use]
    pub const fn tokens_of_units(self, units: u64) -> u64 {
        match self {
            Self::Vibe | Self::OpenClaw | Self::Layer => units,
            Self::Micro => units / 4,
            Self::Spacebot => units.div_ceil(4),
        }
    }
}
