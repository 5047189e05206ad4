//! Which provider's language a body is written in.

use std::fmt;

/// A provider's request format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// OpenAI Chat Completions.
    OpenAiChat,
    /// Anthropic Messages.
    Anthropic,
}

impl Wire {
    /// Every format.
    pub const ALL: &[Self] = &[Self::OpenAiChat, Self::Anthropic];

    /// The name users write.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
