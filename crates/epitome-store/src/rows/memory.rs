//! What is to be known beyond one conversation.

use epitome::Digest;

use crate::ConversationId;

/// A sentence worth knowing in later conversations, with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// Its name, unique inside the tenant.
    pub id: String,
    /// The digest of its content as the caller normalises it; of two memories with one key the first is kept.
    pub key: Digest,
    /// What sort of memory it is.
    pub kind: String,
    /// What it says.
    pub text: String,
    /// The conversation it was learned in.
    pub conversation: Option<ConversationId>,
    /// The positions of the entries it was learned from.
    pub entries: Vec<u32>,
    /// When it was learned, in milliseconds since the epoch.
    pub created_ms: i64,
}

/// What became of a memory that was to be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Saved {
    /// It is stored.
    New,
    /// One with the same key was stored already and stays as it is.
    Known,
}
