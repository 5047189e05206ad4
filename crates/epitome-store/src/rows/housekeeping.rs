//! What a store says of itself, and what is left of what was deleted.

use crate::{ConversationId, TenantId};

/// How much a store holds, of all tenants together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreStatistics {
    /// The number of the newest migration.
    pub schema: i64,
    /// Tenants that have a secret.
    pub tenants: u64,
    /// Conversations.
    pub conversations: u64,
    /// Messages, each once.
    pub entries: u64,
    /// The bytes of those messages.
    pub entry_bytes: u64,
    /// Links of hash chains.
    pub nodes: u64,
    /// Compactions, undone ones included.
    pub compactions: u64,
    /// Memories.
    pub memories: u64,
    /// Turns of histories that providers keep.
    pub turns: u64,
    /// Notes of what was done with requests.
    pub outcomes: u64,
    /// Last links of what was deleted, which do not come back.
    pub deleted_nodes: u64,
    /// What all of it takes on disk, indexes and free pages included.
    pub disk_bytes: u64,
    /// When a conversation was touched first, in milliseconds since the epoch.
    pub oldest_ms: Option<i64>,
    /// When one was touched last.
    pub newest_ms: Option<i64>,
}

/// What a deletion took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Links that are gone.
    pub nodes: u64,
    /// Links that other conversations stand on, and now own.
    pub rehomed_nodes: u64,
    /// Messages that nobody else has.
    pub entries: u64,
    /// The bytes of those messages.
    pub entry_bytes: u64,
    /// Compactions that are gone.
    pub compactions: u64,
    /// Memories that were made of it.
    pub memories: u64,
}

/// A conversation of any tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedConversation {
    /// Whose it is.
    pub tenant: TenantId,
    /// Its name.
    pub id: ConversationId,
    /// When it was last appended to, in milliseconds since the epoch.
    pub touched_ms: i64,
}

/// Which conversations are asked for, the oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oldest<'a> {
    /// Those of one tenant; else of all.
    pub tenant: Option<&'a TenantId>,
    /// Last touched before this moment, in milliseconds since the epoch.
    pub before_ms: i64,
    /// Those behind this one, which was the last of those that were asked for before.
    pub behind: Option<&'a OwnedConversation>,
}

/// What is older than this is swept out; all in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepBefore<'a> {
    /// What is one tenant's; else of all.
    pub tenant: Option<&'a TenantId>,
    /// Notes of what was done with requests.
    pub outcomes_ms: i64,
    /// Turns of histories that providers keep.
    pub turns_ms: i64,
    /// Marks of what was deleted. Who sends it again after that begins a new conversation.
    pub deleted_ms: i64,
}

/// What was swept out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Messages that no conversation has.
    pub entries: u64,
    /// The bytes of those messages.
    pub entry_bytes: u64,
    /// Notes of what was done with requests.
    pub outcomes: u64,
    /// Turns.
    pub turns: u64,
    /// Marks of what was deleted.
    pub deleted_marks: u64,
}

/// What was encrypted with the key that writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resealed {
    /// Rows that were in clear, or encrypted with another key.
    pub rows: u64,
}

/// What became of rows that were brought in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Restored {
    /// Rows that are new, or newer than those that were there.
    pub written: u64,
    /// Rows that were there already.
    pub left: u64,
    /// Rows of what was deleted here, or that refer to something that is not here; and a compaction or a mark where something
    /// else has its place.
    pub refused: u64,
}

impl Restored {
    /// One row more.
    pub(crate) fn count(&mut self, row: Brought) {
        match row {
            Brought::Written => self.written += 1,
            Brought::There => self.left += 1,
            Brought::Refused => self.refused += 1,
        }
    }
}

/// What became of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brought {
    Written,
    There,
    Refused,
}
