//! Finding entries by their words.

use epitome::Digest;

use crate::ConversationId;

/// The words of an entry, for the index. The store knows no wire formats, so the caller takes the text out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryWords {
    /// The key of the entry.
    pub key: Digest,
    /// Its text: what was said, called and returned. Only its words are kept.
    pub text: String,
}

/// Where to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchScope {
    /// From the root to this node: what the conversation that ends there can have seen. Abandoned branches are not.
    Branch(Digest),
    /// All that a conversation appended, abandoned branches included, and all that came before.
    Conversation(ConversationId),
    /// Everything of the tenant.
    Tenant,
}

/// An entry that was found. One that stands in several places is found once, in its last.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The key of the entry.
    pub entry: Digest,
    /// The node where it stands.
    pub node: Digest,
    /// The node's position in its chain, from 0.
    pub position: u32,
    /// The conversation that first appended the node.
    pub conversation: ConversationId,
    /// How well it fits (BM25), the more the better. Only comparable within one answer.
    pub score: f64,
}
