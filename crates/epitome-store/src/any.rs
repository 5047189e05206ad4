//! The store that a location names.

use epitome::Digest;

use crate::{
    Append, Appended, BeliefRow, ChangeRow, Committed, CompactionRow, CompactionState,
    ConversationId, ConversationRow, EntryRow, EntryWords, Error, LearnedWindow, MemoryRow,
    NewChange, NodeRow, Outcome, Result, Saved, SearchHit, SearchScope, SqliteStore, Store,
    TenantId,
};

/// Any of the stores, chosen at run time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AnyStore {
    /// One SQLite file, or memory.
    Sqlite(SqliteStore),
}

impl AnyStore {
    /// Opens `sqlite:PATH` (also `sqlite://PATH`) or `sqlite::memory:`.
    ///
    /// # Errors
    /// [`Error::NoPath`], [`Error::UnknownScheme`] for any other scheme, [`Error::Unavailable`] for `postgres:` and `postgresql:`, and
    /// those of [`SqliteStore::open`].
    pub async fn open(location: &str) -> Result<Self> {
        match sqlite_path(location)? {
            MEMORY => SqliteStore::in_memory().await,
            path => SqliteStore::open(path).await,
        }
        .map(Self::Sqlite)
    }

    /// Opens an existing, up-to-date store for reading; never writes to it.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and [`Error::CannotOpen`] when there is nothing at the location.
    pub async fn open_read_only(location: &str) -> Result<Self> {
        match sqlite_path(location)? {
            MEMORY => SqliteStore::in_memory().await,
            path => SqliteStore::open_read_only(path).await,
        }
        .map(Self::Sqlite)
    }
}

/// What stands for no file.
const MEMORY: &str = ":memory:";

fn sqlite_path(location: &str) -> Result<&str> {
    let (scheme, rest) = location.split_once(':').unwrap_or_default();
    match scheme {
        "sqlite" => match rest.strip_prefix("//").unwrap_or(rest) {
            "" => Err(Error::NoPath),
            path => Ok(path),
        },
        "postgres" | "postgresql" => Err(Error::Unavailable { scheme: "postgres" }),
        _ => Err(Error::UnknownScheme {
            scheme: scheme.to_owned(),
        }),
    }
}

/// Hands a call to whichever store this is.
macro_rules! delegate {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        async move {
            match $self {
                Self::Sqlite(store) => store.$method($($argument),*).await,
            }
        }
    };
}

#[expect(
    clippy::manual_async_fn,
    reason = "`+ Send` must be stated, or callers cannot spawn the futures"
)]
impl Store for AnyStore {
    fn tenant_key(
        &self,
        tenant: &TenantId,
        fresh: [u8; 32],
    ) -> impl Future<Output = Result<[u8; 32]>> + Send {
        delegate!(self.tenant_key(tenant, fresh))
    }

    fn find_nodes(
        &self,
        tenant: &TenantId,
        digests: &[Digest],
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        delegate!(self.find_nodes(tenant, digests))
    }

    fn append(
        &self,
        tenant: &TenantId,
        append: &Append,
    ) -> impl Future<Output = Result<()>> + Send {
        delegate!(self.append(tenant, append))
    }

    fn append_all(
        &self,
        tenant: &TenantId,
        appends: &[Append],
    ) -> impl Future<Output = Result<()>> + Send {
        delegate!(self.append_all(tenant, appends))
    }

    fn commit_compaction(
        &self,
        tenant: &TenantId,
        span: &Append,
        compaction: &CompactionRow,
    ) -> impl Future<Output = Result<Committed>> + Send {
        delegate!(self.commit_compaction(tenant, span, compaction))
    }

    fn publish(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
        record: Option<&str>,
    ) -> impl Future<Output = Result<()>> + Send {
        delegate!(self.publish(tenant, compaction_id, record))
    }

    fn undo(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<()>> + Send {
        delegate!(self.undo(tenant, compaction_id))
    }

    fn compactions_at(
        &self,
        tenant: &TenantId,
        nodes: &[Digest],
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        delegate!(self.compactions_at(tenant, nodes))
    }

    fn compactions_of(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        delegate!(self.compactions_of(tenant, conversation))
    }

    fn conversations(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<ConversationRow>>> + Send {
        delegate!(self.conversations(tenant, limit))
    }

    fn history(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        delegate!(self.history(tenant, tip))
    }

    fn record_outcome(
        &self,
        tenant: &TenantId,
        outcome: &Outcome,
    ) -> impl Future<Output = Result<()>> + Send {
        delegate!(self.record_outcome(tenant, outcome))
    }

    fn outcomes(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Outcome>>> + Send {
        delegate!(self.outcomes(tenant, limit))
    }

    fn learn_window(
        &self,
        endpoint: &str,
        model: &str,
        window_tokens: u64,
        at_ms: i64,
    ) -> impl Future<Output = Result<()>> + Send {
        delegate!(self.learn_window(endpoint, model, window_tokens, at_ms))
    }

    fn learned_windows(&self) -> impl Future<Output = Result<Vec<LearnedWindow>>> + Send {
        delegate!(self.learned_windows())
    }

    fn save_belief(&self, belief: &BeliefRow) -> impl Future<Output = Result<()>> + Send {
        delegate!(self.save_belief(belief))
    }

    fn beliefs(&self) -> impl Future<Output = Result<Vec<BeliefRow>>> + Send {
        delegate!(self.beliefs())
    }

    fn forget_belief(
        &self,
        endpoint: &str,
        model: &str,
    ) -> impl Future<Output = Result<bool>> + Send {
        delegate!(self.forget_belief(endpoint, model))
    }

    fn compaction(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionRow>>> + Send {
        delegate!(self.compaction(tenant, compaction_id))
    }

    fn compaction_state(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionState>>> + Send {
        delegate!(self.compaction_state(tenant, compaction_id))
    }

    fn conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<ConversationRow>>> + Send {
        delegate!(self.conversation(tenant, conversation))
    }

    fn tip(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<NodeRow>>> + Send {
        delegate!(self.tip(tenant, conversation))
    }

    fn path(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        delegate!(self.path(tenant, tip))
    }

    fn entry(
        &self,
        tenant: &TenantId,
        key: Digest,
    ) -> impl Future<Output = Result<Option<EntryRow>>> + Send {
        delegate!(self.entry(tenant, key))
    }

    fn extend(
        &self,
        tenant: &TenantId,
        append: &Append,
        after: Option<Digest>,
    ) -> impl Future<Output = Result<Appended>> + Send {
        delegate!(self.extend(tenant, append, after))
    }

    fn append_change(
        &self,
        tenant: &TenantId,
        new: &NewChange,
    ) -> impl Future<Output = Result<Appended>> + Send {
        delegate!(self.append_change(tenant, new))
    }

    fn changes(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<ChangeRow>>> + Send {
        delegate!(self.changes(tenant, conversation))
    }

    fn acquire_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        holder: &str,
        now_ms: i64,
        until_ms: i64,
    ) -> impl Future<Output = Result<Option<u64>>> + Send {
        delegate!(self.acquire_lease(tenant, conversation, holder, now_ms, until_ms))
    }

    fn renew_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
        until_ms: i64,
    ) -> impl Future<Output = Result<bool>> + Send {
        delegate!(self.renew_lease(tenant, conversation, fence, until_ms))
    }

    fn release_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> impl Future<Output = Result<()>> + Send {
        delegate!(self.release_lease(tenant, conversation, fence))
    }

    fn save_memory(
        &self,
        tenant: &TenantId,
        memory: &MemoryRow,
    ) -> impl Future<Output = Result<Saved>> + Send {
        delegate!(self.save_memory(tenant, memory))
    }

    fn memories(
        &self,
        tenant: &TenantId,
        query: Option<&str>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<MemoryRow>>> + Send {
        delegate!(self.memories(tenant, query, limit))
    }

    fn forget_memory(
        &self,
        tenant: &TenantId,
        memory_id: &str,
    ) -> impl Future<Output = Result<bool>> + Send {
        delegate!(self.forget_memory(tenant, memory_id))
    }

    fn index(
        &self,
        tenant: &TenantId,
        words: &[EntryWords],
    ) -> impl Future<Output = Result<()>> + Send {
        delegate!(self.index(tenant, words))
    }

    fn unindexed(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        delegate!(self.unindexed(tenant, limit))
    }

    fn search(
        &self,
        tenant: &TenantId,
        scope: &SearchScope,
        query: &str,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<SearchHit>>> + Send {
        delegate!(self.search(tenant, scope, query, limit))
    }

    fn close(&self) -> impl Future<Output = ()> + Send {
        delegate!(self.close())
    }
}
