//! What is remembered beyond one conversation.

use crate::{MemoryRow, Result, Saved, TenantId};

/// What is remembered beyond one conversation.
pub trait Memories {
    /// Keeps a memory, unless one with its key is there.
    ///
    /// # Errors
    /// [`IdTaken`](crate::Error::IdTaken) when its id belongs to a memory with another key.
    fn save_memory(
        &self,
        tenant: &TenantId,
        memory: &MemoryRow,
    ) -> impl Future<Output = Result<Saved>> + Send;

    /// At most `limit` memories: with a query those that have its words, the best first, as for [`search`](crate::Search::search);
    /// without one the newest first.
    fn memories(
        &self,
        tenant: &TenantId,
        query: Option<&str>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<MemoryRow>>> + Send;

    /// Deletes a memory. `false` when there is none with this id.
    fn forget_memory(
        &self,
        tenant: &TenantId,
        memory_id: &str,
    ) -> impl Future<Output = Result<bool>> + Send;
}
