//! A store in one SQLite file.

mod append;
mod change;
mod decode;
mod file;
mod memory;
mod pool;
mod read;
mod schema;
mod search;
mod transaction;
mod write;

#[cfg(test)]
#[path = "sqlite_tests.rs"]
mod tests;

use std::path::Path;

use epitome::Digest;
use sqlx::SqlitePool;

use crate::{
    Append, Appended, BeliefRow, ChangeRow, Committed, CompactionRow, CompactionState,
    ConversationId, ConversationRow, EntryRow, EntryWords, LearnedWindow, MemoryRow, NewChange,
    NodeRow, Outcome, Result, Saved, SearchHit, SearchScope, Store, TenantId,
};

/// A store in one SQLite file, or in memory. A clone is another handle to the same store.
///
/// **Durability.** The file is in write-ahead mode with `synchronous = NORMAL`. A commit survives the death of this
/// process, `kill -9` included. A crash of the operating system or a loss of power may lose the last commits, always
/// the newest ones and always whole; it never corrupts the file. Clients resend their history, so the next request
/// writes lost entries again.
///
/// **Concurrency.** One connection writes and a few read; readers and the writer never wait for each other. Several
/// processes on one machine may open the same file; a write waits up to 5 seconds for another process's, then fails
/// with [`Busy`](crate::Error::Busy). The file must not be on a network file system.
///
/// **Privacy.** A new file, and new folders above it, can be read by their owner only (on Unix).
#[derive(Debug, Clone)]
pub struct SqliteStore {
    readers: SqlitePool,
    /// The one connection that writes; in a read-only store the readers again, so that SQLite itself refuses.
    writer: SqlitePool,
    access: Access,
}

// The methods below say `+ Send` themselves. Callers that spawn an `async fn` would make the compiler look inside, where
// it gives up on sqlx's traits ("not general enough").

/// Whether a store takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    ReadWrite,
    ReadOnly,
}

impl SqliteStore {
    /// Opens the file at `path`, creating it and its folders when missing, and brings its schema up to date.
    ///
    /// A file or folder that cannot be written is opened for reading: [`is_read_only`](Self::is_read_only) tells, and
    /// writes fail with [`ReadOnly`](crate::Error::ReadOnly).
    ///
    /// Touches the file system on the calling thread; meant for start-up.
    ///
    /// # Errors
    /// [`Corrupt`](crate::Error::Corrupt), [`ForeignFile`](crate::Error::ForeignFile) or
    /// [`NewerSchema`](crate::Error::NewerSchema) when the file is not one of ours or from a later version; nothing is
    /// written then. [`ReadOnly`](crate::Error::ReadOnly) when it would have to be created or migrated but cannot be
    /// written.
    pub fn open(path: impl AsRef<Path>) -> impl Future<Output = Result<Self>> + Send {
        file::open(path.as_ref().to_owned())
    }

    /// Opens an existing, up-to-date file for reading; never writes to it.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and [`CannotOpen`](crate::Error::CannotOpen) when there is no such file.
    pub fn open_read_only(path: impl AsRef<Path>) -> impl Future<Output = Result<Self>> + Send {
        file::open_read_only(path.as_ref().to_owned())
    }

    /// A new, empty store that lives as long as its handles. One that runs out of memory loses its content.
    ///
    /// # Errors
    /// Only when the system is out of memory or threads.
    pub fn in_memory() -> impl Future<Output = Result<Self>> + Send {
        file::in_memory()
    }

    /// Whether every write will fail with [`ReadOnly`](crate::Error::ReadOnly).
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.access == Access::ReadOnly
    }
}

impl Store for SqliteStore {
    fn tenant_key(
        &self,
        tenant: &TenantId,
        fresh: [u8; 32],
    ) -> impl Future<Output = Result<[u8; 32]>> + Send {
        write::tenant_key(&self.readers, &self.writer, tenant, fresh)
    }

    fn find_nodes(
        &self,
        tenant: &TenantId,
        digests: &[Digest],
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        read::find_nodes(&self.readers, tenant, digests)
    }

    fn append(
        &self,
        tenant: &TenantId,
        append: &Append,
    ) -> impl Future<Output = Result<()>> + Send {
        write::append(&self.writer, tenant, std::slice::from_ref(append))
    }

    fn append_all(
        &self,
        tenant: &TenantId,
        appends: &[Append],
    ) -> impl Future<Output = Result<()>> + Send {
        write::append(&self.writer, tenant, appends)
    }

    fn commit_compaction(
        &self,
        tenant: &TenantId,
        span: &Append,
        compaction: &CompactionRow,
    ) -> impl Future<Output = Result<Committed>> + Send {
        write::commit_compaction(&self.writer, tenant, span, compaction)
    }

    fn publish(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
        record: Option<&str>,
    ) -> impl Future<Output = Result<()>> + Send {
        write::publish(&self.writer, tenant, compaction_id, record)
    }

    fn undo(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<()>> + Send {
        let state = CompactionState::Undone;
        write::advance(&self.writer, tenant, compaction_id, state)
    }

    fn compactions_at(
        &self,
        tenant: &TenantId,
        nodes: &[Digest],
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        read::compactions_at(&self.readers, tenant, nodes)
    }

    fn compactions_of(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        read::compactions_of(&self.readers, tenant, conversation)
    }

    fn conversations(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<ConversationRow>>> + Send {
        read::conversations(&self.readers, tenant, limit)
    }

    fn history(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        read::history(&self.readers, tenant, tip)
    }

    fn record_outcome(
        &self,
        tenant: &TenantId,
        outcome: &Outcome,
    ) -> impl Future<Output = Result<()>> + Send {
        write::outcome(&self.writer, tenant, outcome)
    }

    fn outcomes(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Outcome>>> + Send {
        read::outcomes(&self.readers, tenant, limit)
    }

    fn learn_window(
        &self,
        endpoint: &str,
        model: &str,
        window_tokens: u64,
        at_ms: i64,
    ) -> impl Future<Output = Result<()>> + Send {
        write::window(&self.writer, endpoint, model, window_tokens, at_ms)
    }

    fn learned_windows(&self) -> impl Future<Output = Result<Vec<LearnedWindow>>> + Send {
        read::windows(&self.readers)
    }

    fn save_belief(&self, belief: &BeliefRow) -> impl Future<Output = Result<()>> + Send {
        write::belief(&self.writer, belief)
    }

    fn beliefs(&self) -> impl Future<Output = Result<Vec<BeliefRow>>> + Send {
        read::beliefs(&self.readers)
    }

    fn forget_belief(
        &self,
        endpoint: &str,
        model: &str,
    ) -> impl Future<Output = Result<bool>> + Send {
        write::forget_belief(&self.writer, endpoint, model)
    }

    fn compaction(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionRow>>> + Send {
        read::compaction(&self.readers, tenant, compaction_id)
    }

    fn compaction_state(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionState>>> + Send {
        read::compaction_state(&self.readers, tenant, compaction_id)
    }

    fn conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<ConversationRow>>> + Send {
        read::conversation(&self.readers, tenant, conversation)
    }

    fn tip(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<NodeRow>>> + Send {
        read::tip(&self.readers, tenant, conversation)
    }

    fn path(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        read::path(&self.readers, tenant, tip)
    }

    fn entry(
        &self,
        tenant: &TenantId,
        key: Digest,
    ) -> impl Future<Output = Result<Option<EntryRow>>> + Send {
        read::entry(&self.readers, tenant, key)
    }

    fn extend(
        &self,
        tenant: &TenantId,
        append: &Append,
        after: Option<Digest>,
    ) -> impl Future<Output = Result<Appended>> + Send {
        change::extend(&self.writer, tenant, append, after)
    }

    fn append_change(
        &self,
        tenant: &TenantId,
        new: &NewChange,
    ) -> impl Future<Output = Result<Appended>> + Send {
        change::append(&self.writer, tenant, new)
    }

    fn changes(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<ChangeRow>>> + Send {
        change::all(&self.readers, tenant, conversation)
    }

    fn acquire_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        holder: &str,
        now_ms: i64,
        until_ms: i64,
    ) -> impl Future<Output = Result<Option<u64>>> + Send {
        change::acquire_lease(&self.writer, tenant, conversation, holder, now_ms, until_ms)
    }

    fn renew_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
        until_ms: i64,
    ) -> impl Future<Output = Result<bool>> + Send {
        change::renew_lease(&self.writer, tenant, conversation, fence, until_ms)
    }

    fn release_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> impl Future<Output = Result<()>> + Send {
        change::release_lease(&self.writer, tenant, conversation, fence)
    }

    fn save_memory(
        &self,
        tenant: &TenantId,
        memory: &MemoryRow,
    ) -> impl Future<Output = Result<Saved>> + Send {
        memory::save(&self.writer, tenant, memory)
    }

    fn memories(
        &self,
        tenant: &TenantId,
        query: Option<&str>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<MemoryRow>>> + Send {
        memory::list(&self.readers, tenant, query, limit)
    }

    fn forget_memory(
        &self,
        tenant: &TenantId,
        memory_id: &str,
    ) -> impl Future<Output = Result<bool>> + Send {
        memory::forget(&self.writer, tenant, memory_id)
    }

    fn index(
        &self,
        tenant: &TenantId,
        words: &[EntryWords],
    ) -> impl Future<Output = Result<()>> + Send {
        search::index(&self.writer, tenant, words)
    }

    fn unindexed(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        search::unindexed(&self.readers, tenant, limit)
    }

    fn search(
        &self,
        tenant: &TenantId,
        scope: &SearchScope,
        query: &str,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<SearchHit>>> + Send {
        search::search(&self.readers, tenant, scope, query, limit)
    }

    fn close(&self) -> impl Future<Output = ()> + Send {
        pool::close(&self.readers, &self.writer)
    }
}
