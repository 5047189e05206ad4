//! Conversations, one by one and listed.

use crate::{ConversationId, ConversationRow, NodeRow, Result, TenantId};

/// The conversations of a tenant.
pub trait Conversations {
    /// A conversation by its name.
    fn conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<ConversationRow>>> + Send;

    /// At most `limit` conversations, the last touched first.
    fn conversations(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<ConversationRow>>> + Send;

    /// The node with the greatest position among those that the conversation was the first to append. `None` when it
    /// has none of its own, as right after a fork.
    fn tip(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<NodeRow>>> + Send;
}
