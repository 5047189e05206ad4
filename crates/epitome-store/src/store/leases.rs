//! Who may do the background work of a conversation.

use crate::{ConversationId, Result, TenantId};

/// The right to do the background work of a conversation.
pub trait Leases {
    /// Asks for the right to do the background work of a conversation until `until_ms`. `None` while another holder has it.
    ///
    /// The answer is the fence, a number that grows with every new holding. A holder that asks again before its time is
    /// over keeps its fence and gets the later end.
    ///
    /// Whose clock it goes by is the store's choice. In one file the times are the callers' own. In a PostgreSQL database only
    /// the time between `now_ms` and `until_ms` counts, from the moment at which the server grants it, by the server's clock:
    /// clocks of holders on several machines need not agree.
    fn acquire_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        holder: &str,
        now_ms: i64,
        until_ms: i64,
    ) -> impl Future<Output = Result<Option<u64>>> + Send;

    /// Prolongs a lease; it is never shortened. `false` when it was released or has gone to another holder. One whose time
    /// is over but that nobody has taken is still good.
    fn renew_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
        now_ms: i64,
        until_ms: i64,
    ) -> impl Future<Output = Result<bool>> + Send;

    /// Gives a lease back. Does nothing when it has gone to another holder.
    fn release_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> impl Future<Output = Result<()>> + Send;
}
