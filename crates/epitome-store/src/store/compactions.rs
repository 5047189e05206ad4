//! Compactions and their states.

use epitome::Digest;

use crate::{Append, Committed, CompactionRow, CompactionState, ConversationId, Result, TenantId};

/// Compactions, each with the span that it stands for.
pub trait Compactions {
    /// Stores a compaction together with the span it covers, in one transaction.
    ///
    /// The first writer wins for (tenant, node, model class) among compactions that are not undone. A loser's entries
    /// and nodes are kept, its compaction is not.
    ///
    /// # Errors
    /// As for [`append`](crate::Entries::append); [`Dangling`](crate::Error::Dangling) also when the compaction's node or
    /// conversation is not stored; [`IdTaken`](crate::Error::IdTaken) when the id is in use elsewhere;
    /// [`Deleted`](crate::Error::Deleted) when it stands on what was deleted.
    fn commit_compaction(
        &self,
        tenant: &TenantId,
        span: &Append,
        compaction: &CompactionRow,
    ) -> impl Future<Output = Result<Committed>> + Send;

    /// Marks a compaction as published. Doing it again changes nothing.
    ///
    /// # Errors
    /// [`UnknownCompaction`](crate::Error::UnknownCompaction), or [`Undone`](crate::Error::Undone).
    fn publish(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
        record: Option<&str>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Marks a compaction as undone: its epoch is free again. Doing it again changes nothing.
    ///
    /// # Errors
    /// [`UnknownCompaction`](crate::Error::UnknownCompaction).
    fn undo(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<()>> + Send;

    /// A compaction by its id, whatever its state.
    fn compaction(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionRow>>> + Send;

    /// Whether a compaction is in force, without reading it.
    fn compaction_state(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionState>>> + Send;

    /// The compactions that end at any of `nodes` and are not undone, oldest first. Any number may be asked for.
    fn compactions_at(
        &self,
        tenant: &TenantId,
        nodes: &[Digest],
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send;

    /// All compactions of a conversation, undone ones included, oldest first.
    fn compactions_of(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send;

    /// At most `limit` compactions of a conversation and of those that it branched off from, the nearest conversation
    /// first and the newest of each first; undone ones are left out.
    fn compactions_along(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send;
}
