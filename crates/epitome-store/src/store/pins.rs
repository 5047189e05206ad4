//! What people said about the pins of conversations.

use crate::{ConversationId, PinRow, Result, TenantId};

/// Which sentences are pins of a conversation and which are none, where a person said so.
pub trait Pins {
    /// Says that a sentence is no pin of a conversation, or that it is one again. The later call wins.
    ///
    /// # Errors
    /// [`Dangling`](crate::Error::Dangling) when the conversation is not stored.
    fn mark_pin(&self, tenant: &TenantId, pin: &PinRow) -> impl Future<Output = Result<()>> + Send;

    /// What was said of the pins of a conversation and of those that it branched off from, each text once: the nearest
    /// conversation has the last word. Those of the conversation itself come first, then by time and text.
    fn marked_pins(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<PinRow>>> + Send;
}
