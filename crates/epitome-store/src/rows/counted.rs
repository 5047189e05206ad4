//! What providers counted for requests.

use epitome::Digest;

use crate::ConversationId;

/// What a provider counted for the request that ended at a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedRow {
    /// The last link of the request.
    pub node: Digest,
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// Tells one set of system prompt and tools from another.
    pub kind: u64,
    /// The compaction that the request went out under.
    pub compaction: Option<String>,
    /// What the provider counted.
    pub real_tokens: u64,
    /// What the request was estimated at.
    pub estimated_tokens: u64,
    /// When.
    pub at_ms: i64,
}
