//! Background work, over all nodes that share a store.

use crate::{Claimed, ConversationId, JobClaim, JobRow, Result, TenantId};

/// Background work that is wanted: one job for a conversation, done under its lease (see [`Leases`](crate::Leases)).
///
/// Nobody holds a transaction while the work is done. A holder prolongs the lease; when a node dies the lease ends by the
/// store's clock, and the job is there for whoever asks next.
pub trait Jobs {
    /// Notes that a job is wanted, and asks to do it. What nobody asked for again within an hour is dropped meanwhile.
    fn claim_job(
        &self,
        tenant: &TenantId,
        claim: &JobClaim<'_>,
    ) -> impl Future<Output = Result<Claimed>> + Send;

    /// The job is done, and its lease is given back. `false`, and nothing changes, where the lease has gone to another holder.
    /// Who cannot finish gives the lease back: then the job waits again.
    fn finish_job(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> impl Future<Output = Result<bool>> + Send;

    /// At most `limit` jobs of a tenant, the longest wanted first; `now_ms` counts where a store has no clock of its own.
    fn jobs(
        &self,
        tenant: &TenantId,
        now_ms: i64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<JobRow>>> + Send;
}
