//! How far an answer of the model is, where it is several entries.

use super::Facts;
use crate::message::Role;

/// How far the model is with its answer. Some formats hold it as several entries in a row: thinking, text and
/// one for each call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Answer {
    /// Somebody else spoke last.
    #[default]
    Absent,
    /// Thinking stands last: nothing may part it from what follows.
    Thinking,
    /// Thinking and what it led to: refused by its provider where one of them is missing.
    Thought,
    /// Entries without thinking.
    Said,
}

impl Answer {
    /// After one more entry; the client's own notes change nothing.
    pub(super) const fn then(self, facts: &Facts) -> Self {
        match (facts.role, self) {
            (Role::System, _) => self,
            (Role::User | Role::Tool, _) => Self::Absent,
            (Role::Assistant, _) if facts.is_only_thinking => Self::Thinking,
            // What nobody knows may be a part of the answer that the others need.
            (Role::Assistant, _) if facts.is_unknown => Self::Thought,
            (Role::Assistant, Self::Thinking | Self::Thought) => Self::Thought,
            (Role::Assistant, Self::Absent | Self::Said) => Self::Said,
        }
    }

    /// Whether an entry cannot be parted from the one before. New thinking is a new beginning.
    pub(super) const fn holds(self, facts: &Facts) -> bool {
        match self {
            Self::Thinking => true,
            Self::Thought => {
                matches!(facts.role, Role::Assistant | Role::System) && !facts.is_only_thinking
            }
            Self::Said => facts.is_unknown && matches!(facts.role, Role::Assistant),
            Self::Absent => false,
        }
    }
}
