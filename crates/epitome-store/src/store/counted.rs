//! What providers counted for requests.

use epitome::Digest;

use crate::{CountedRow, Result, TenantId};

/// What providers counted for requests, so that every node measures a conversation from the same count.
pub trait CountedRequests {
    /// Keeps counts. A later one of the same link replaces an earlier one; those of the same conversation that are a day older go.
    fn keep_counted(
        &self,
        tenant: &TenantId,
        rows: &[CountedRow],
    ) -> impl Future<Output = Result<()>> + Send;

    /// The counts at these links. Any number may be asked for.
    fn counted_at(
        &self,
        tenant: &TenantId,
        nodes: &[Digest],
    ) -> impl Future<Output = Result<Vec<CountedRow>>> + Send;
}
