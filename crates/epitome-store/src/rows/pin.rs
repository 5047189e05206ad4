//! What a person said about a pin.

use crate::ConversationId;

/// What a person said about a pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PinMark {
    /// It is none.
    Dropped,
    /// It is one after all.
    Restored,
}

impl PinMark {
    /// The stored name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Restored => "restored",
        }
    }

    /// Reads a stored name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Dropped, Self::Restored]
            .into_iter()
            .find(|mark| mark.as_str() == name)
    }
}

/// A sentence of a conversation, and whether it is a pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinRow {
    /// The conversation.
    pub conversation: ConversationId,
    /// The sentence, word for word.
    pub text: String,
    /// What was said.
    pub mark: PinMark,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

impl PinRow {
    /// The texts that are dropped, sorted.
    #[must_use]
    pub fn dropped(rows: Vec<Self>) -> Vec<String> {
        let dropped = rows.into_iter().filter(|row| row.mark == PinMark::Dropped);
        let mut texts: Vec<String> = dropped.map(|row| row.text).collect();
        texts.sort_unstable();
        texts
    }
}
