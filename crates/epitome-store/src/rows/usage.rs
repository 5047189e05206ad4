//! What a tenant has used.

/// How much is kept for one tenant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TenantUsage {
    /// Conversations.
    pub conversations: u64,
    /// The bytes of messages, of turns of histories that providers keep, and of compactions. Indexes are not counted.
    pub bytes: u64,
}
