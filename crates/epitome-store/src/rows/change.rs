//! What happens to a conversation, one change after the other.

use super::{Append, CompactionRow};
use crate::ConversationId;

/// What kind of change it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A compaction came into force.
    Compacted,
    /// A compaction was taken back.
    Undone,
    /// The conversation branched off another one.
    Forked,
    /// A compaction was made but came too late; kept as a record.
    Superseded,
}

impl ChangeKind {
    /// The stored name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::Undone => "undone",
            Self::Forked => "forked",
            Self::Superseded => "superseded",
        }
    }

    /// Reads a stored name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Compacted,
            Self::Undone,
            Self::Forked,
            Self::Superseded,
        ]
        .into_iter()
        .find(|kind| kind.as_str() == name)
    }
}

/// One change of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// The conversation.
    pub conversation: ConversationId,
    /// How many changes the conversation had before.
    pub seq: u32,
    /// What happened.
    pub kind: ChangeKind,
    /// The compaction that it is about.
    pub compaction: Option<String>,
    /// The details, as JSON. The store does not read them.
    pub body: String,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// A change with what must be stored together with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChange {
    /// The change. For [`ChangeKind::Undone`] the compaction it names becomes undone with it.
    pub change: ChangeRow,
    /// A new compaction, stored with the state it has here.
    pub compaction: Option<CompactionRow>,
    /// Entries and nodes that are not stored yet, such as those that the compaction covers.
    pub span: Option<Append>,
    /// The lease under which the change was made: if it has gone to another holder meanwhile, nothing is stored.
    pub fence: Option<u64>,
}

impl NewChange {
    /// The conversation that a fork is put together from.
    pub(crate) fn forked_off(&self) -> Option<&ConversationId> {
        let span = self.span.as_ref()?;
        let is_fork = self.change.kind == ChangeKind::Forked;
        span.conversation.parent.as_ref().filter(|_| is_fork)
    }
}

impl From<ChangeRow> for NewChange {
    fn from(change: ChangeRow) -> Self {
        Self {
            change,
            compaction: None,
            span: None,
            fence: None,
        }
    }
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Appended {
    /// It is stored, with all that belongs to it.
    Stored,
    /// Somebody else changed the conversation or took the lease first. Nothing was stored.
    Superseded,
}
