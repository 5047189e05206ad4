//! The operations of a store.

use epitome::Digest;

use crate::{
    Append, Committed, CompactionRow, ConversationId, ConversationRow, EntryRow, LearnedWindow,
    NodeRow, Outcome, Result, TenantId,
};

/// An append-only log of conversations with their compactions, for many tenants.
///
/// Every operation but the windows is scoped to a tenant: no call returns, counts or collides with a row of another.
///
/// **Cancellation.** Every future may be dropped at any time. A dropped write has happened as a whole or not at all.
///
/// **Numbers.** Token counts above `i64::MAX` are stored as `i64::MAX`.
pub trait Store: Send + Sync + 'static {
    /// The tenant's secret. Stores `fresh` when the tenant has none; all callers get the same one, also in a race.
    fn tenant_key(
        &self,
        tenant: &TenantId,
        fresh: [u8; 32],
    ) -> impl Future<Output = Result<[u8; 32]>> + Send;

    /// Those of `digests` that are known nodes, each once, in no particular order. Any number may be asked for.
    fn find_nodes(
        &self,
        tenant: &TenantId,
        digests: &[Digest],
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send;

    /// Adds entries and nodes to the log, in one transaction. What is stored already stays as it is.
    ///
    /// The conversation is created on first use; later, a given label replaces the old one, a parent is set once, and
    /// `touched_ms` only grows.
    ///
    /// # Errors
    /// [`Conflict`](crate::Error::Conflict) when an entry's key is stored with different bytes,
    /// [`Dangling`](crate::Error::Dangling) when a node's parent, entry or conversation is neither stored nor given.
    fn append(&self, tenant: &TenantId, append: &Append)
    -> impl Future<Output = Result<()>> + Send;

    /// Adds several pieces to the log in one transaction, in order: all of them or none.
    ///
    /// # Errors
    /// As for [`append`](Self::append).
    fn append_all(
        &self,
        tenant: &TenantId,
        appends: &[Append],
    ) -> impl Future<Output = Result<()>> + Send;

    /// Stores a compaction together with the span it covers, in one transaction.
    ///
    /// The first writer wins for (tenant, node, model class) among compactions that are not undone. A loser's entries
    /// and nodes are kept, its compaction is not.
    ///
    /// # Errors
    /// As for [`append`](Self::append); [`Dangling`](crate::Error::Dangling) also when the compaction's node or
    /// conversation is not stored; [`IdTaken`](crate::Error::IdTaken) when the id is in use elsewhere.
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

    /// At most `limit` conversations, the last touched first.
    fn conversations(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<ConversationRow>>> + Send;

    /// The entries from the root to `tip`, byte for byte as they were first stored. Empty when `tip` is unknown.
    fn history(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send;

    /// Notes what was done with a request.
    fn record_outcome(
        &self,
        tenant: &TenantId,
        outcome: &Outcome,
    ) -> impl Future<Output = Result<()>> + Send;

    /// At most `limit` outcomes, the newest first.
    fn outcomes(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Outcome>>> + Send;

    /// Notes the window of a model at an endpoint. A later one replaces an earlier one, whatever the order of calls.
    fn learn_window(
        &self,
        endpoint: &str,
        model: &str,
        window_tokens: u64,
        at_ms: i64,
    ) -> impl Future<Output = Result<()>> + Send;

    /// All learned windows, by endpoint and model.
    fn learned_windows(&self) -> impl Future<Output = Result<Vec<LearnedWindow>>> + Send;

    /// Waits for running calls and closes the store; later calls fail with [`Closed`](crate::Error::Closed).
    fn close(&self) -> impl Future<Output = ()> + Send;
}
