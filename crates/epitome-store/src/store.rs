//! The operations of a store.

use epitome::Digest;

use crate::{
    Append, Appended, BeliefRow, ChangeRow, Committed, CompactionRow, CompactionState,
    ConversationId, ConversationRow, EntryRow, EntryWords, LearnedWindow, MemoryRow, NewChange,
    NodeRow, Outcome, Result, Saved, SearchHit, SearchScope, TenantId,
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

    /// Keeps what is believed of a model at an endpoint. A later belief replaces an earlier one, whatever the order of
    /// calls.
    fn save_belief(&self, belief: &BeliefRow) -> impl Future<Output = Result<()>> + Send;

    /// All beliefs, by endpoint and model.
    fn beliefs(&self) -> impl Future<Output = Result<Vec<BeliefRow>>> + Send;

    /// Forgets what is believed of a model at an endpoint, learned windows included. Says whether there was anything.
    fn forget_belief(
        &self,
        endpoint: &str,
        model: &str,
    ) -> impl Future<Output = Result<bool>> + Send;

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

    /// A conversation by its name.
    fn conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<ConversationRow>>> + Send;

    /// The node with the greatest position among those that the conversation was the first to append. `None` when it
    /// has none of its own, as right after a fork.
    fn tip(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<NodeRow>>> + Send;

    /// The nodes from the root to `tip`. Empty when `tip` is unknown.
    fn path(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send;

    /// An entry by its key, byte for byte as it was first stored.
    fn entry(
        &self,
        tenant: &TenantId,
        key: Digest,
    ) -> impl Future<Output = Result<Option<EntryRow>>> + Send;

    /// Adds to a conversation that has one writer at a time, in one transaction: only if the last node that it appended
    /// itself is still `after`, and otherwise nothing is written. `None` is a conversation with no node of its own.
    ///
    /// # Errors
    /// As for [`append`](Self::append).
    fn extend(
        &self,
        tenant: &TenantId,
        append: &Append,
        after: Option<Digest>,
    ) -> impl Future<Output = Result<Appended>> + Send;

    /// Adds a change to a conversation, with the compaction and the entries that belong to it, in one transaction.
    ///
    /// It is stored only if its `seq` is the number of changes that the conversation has, if its compaction is the first
    /// for its epoch, and if the lease whose fence it names has gone to nobody else. Otherwise the answer is
    /// [`Superseded`](Appended::Superseded), and nothing was written. A change of kind
    /// [`Undone`](crate::ChangeKind::Undone) also marks the compaction that it names as undone.
    ///
    /// # Errors
    /// As for [`commit_compaction`](Self::commit_compaction), and
    /// [`UnknownCompaction`](crate::Error::UnknownCompaction) when the compaction to undo is not stored.
    fn append_change(
        &self,
        tenant: &TenantId,
        new: &NewChange,
    ) -> impl Future<Output = Result<Appended>> + Send;

    /// All changes of a conversation, in order.
    fn changes(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<ChangeRow>>> + Send;

    /// Asks for the right to do the background work of a conversation until `until_ms`. `None` while another holder has it.
    ///
    /// The answer is the fence, a number that grows with every new holding. A holder that asks again before its time is
    /// over keeps its fence and gets the later end. The times are the callers' own; holders on several machines need
    /// clocks that agree better than the time a lease lasts.
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
        until_ms: i64,
    ) -> impl Future<Output = Result<bool>> + Send;

    /// Gives a lease back. Does nothing when it has gone to another holder.
    fn release_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Keeps a memory, unless one with its key is there.
    ///
    /// # Errors
    /// [`IdTaken`](crate::Error::IdTaken) when its id belongs to a memory with another key.
    fn save_memory(
        &self,
        tenant: &TenantId,
        memory: &MemoryRow,
    ) -> impl Future<Output = Result<Saved>> + Send;

    /// At most `limit` memories: with a query those that have its words, the best first, as for [`search`](Self::search);
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

    /// Makes entries findable that were appended without their words. What is indexed already stays as it is.
    ///
    /// # Errors
    /// [`Dangling`](crate::Error::Dangling) when an entry is not stored.
    fn index(
        &self,
        tenant: &TenantId,
        words: &[EntryWords],
    ) -> impl Future<Output = Result<()>> + Send;

    /// At most `limit` entries whose words were never given. Looks through all entries of the tenant when there are few.
    fn unindexed(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send;

    /// At most `limit` entries that have the words of `query`, the best first.
    ///
    /// All words are required; if no entry has them all, any will do, also as the beginning of a longer word. A query is
    /// words and nothing else: quotes, operators and the like have no meaning, and one without words finds nothing. Case
    /// and accents do not matter; identifiers are also found by their parts, and text without spaces (Chinese, Japanese,
    /// Korean, Thai …) by any piece of it.
    fn search(
        &self,
        tenant: &TenantId,
        scope: &SearchScope,
        query: &str,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<SearchHit>>> + Send;

    /// Waits for running calls and closes the store; later calls fail with [`Closed`](crate::Error::Closed).
    fn close(&self) -> impl Future<Output = ()> + Send;
}
