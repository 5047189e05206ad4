//! The store that a location names.
//!
//! - `sealed`: the rows that are encrypted on their way in, where there is a key, and opened on their way out.

mod sealed;

use std::ops::ControlFlow;
use std::time::Duration;

use epitome::Digest;

use crate::{
    BeliefRow, Beliefs, Claimed, ConversationId, CountedRequests, CountedRow, Deleted, EntryRow,
    EntryWords, Error, Housekeeping, JobClaim, JobRow, Jobs, Keys, LearnedWindow, Leases, Memories,
    MemoryRow, Oldest, Outcome, Outcomes, OwnedConversation, PinRow, Pins, PostgresStore, Resealed,
    Restored, Result, Saved, Search, SearchHit, SearchScope, SnapshotRow, SqliteStore, Store,
    StoreStatistics, SweepBefore, Swept, TenantId, TenantUsage, Tenants, Usage, clock,
};

/// Any of the stores, chosen at run time. Where there is a key, values are encrypted here: whoever takes a store out of it passes
/// that by.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AnyStore {
    /// One SQLite file, or memory.
    Sqlite(SqliteStore),
    /// A PostgreSQL database.
    Postgres(PostgresStore),
}

impl AnyStore {
    /// Opens `sqlite:PATH` (also `sqlite://PATH`), `sqlite::memory:`, or `postgres://…` (also `postgresql://…`).
    ///
    /// # Errors
    /// [`Error::NoPath`], [`Error::UnknownScheme`] for any other scheme, and those of [`SqliteStore::open`] and
    /// [`PostgresStore::open`].
    pub async fn open(location: &str) -> Result<Self> {
        Self::open_with(location, &Keys::none()).await
    }

    /// The same with keys: what is written is encrypted with the first of them. What was written in clear before stays readable, and
    /// stays as it is until [`reseal`](Housekeeping::reseal). From then on the store is not opened without its key.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and [`Error::KeyNeeded`] or [`Error::WrongKey`], with nothing changed.
    pub async fn open_with(location: &str, keys: &Keys) -> Result<Self> {
        let keys = keys.clone();
        match Location::of(location)? {
            Location::Memory => SqliteStore::in_memory_with(keys).await.map(Self::Sqlite),
            Location::File(path) => SqliteStore::open_with(path, keys).await.map(Self::Sqlite),
            Location::Server(url) => Box::pin(PostgresStore::open_with(url, keys))
                .await
                .map(Self::Postgres),
        }
    }

    /// Opens an existing, up-to-date store for reading; never writes to it.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and [`Error::CannotOpen`] when there is nothing at the location.
    pub async fn open_read_only(location: &str) -> Result<Self> {
        Self::open_read_only_with(location, &Keys::none()).await
    }

    /// The same with keys.
    ///
    /// # Errors
    /// As for [`open_read_only`](Self::open_read_only), and [`Error::KeyNeeded`] or [`Error::WrongKey`].
    pub async fn open_read_only_with(location: &str, keys: &Keys) -> Result<Self> {
        let keys = keys.clone();
        match Location::of(location)? {
            Location::Memory => SqliteStore::in_memory_with(keys).await.map(Self::Sqlite),
            Location::File(path) => SqliteStore::open_read_only_with(path, keys)
                .await
                .map(Self::Sqlite),
            Location::Server(url) => Box::pin(PostgresStore::open_read_only_with(url, keys))
                .await
                .map(Self::Postgres),
        }
    }

    /// Whether what is written is encrypted; a conversation is then recalled by looking through it.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        !self.keys().is_empty()
    }

    const fn keys(&self) -> &Keys {
        match self {
            Self::Sqlite(store) => store.keys(),
            Self::Postgres(store) => store.keys(),
        }
    }
}

impl AnyStore {
    /// Whether other machines may use it too, so that what is true now may have been written elsewhere a moment ago.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Whether what was opened was removed or replaced since, so that writes are lost with this process.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        match self {
            Self::Sqlite(store) => store.is_gone(),
            // A server that goes away says so, and comes back as the same.
            Self::Postgres(_) => false,
        }
    }
}

/// What a location names.
enum Location<'a> {
    /// SQLite without a file.
    Memory,
    /// A file of SQLite.
    File(&'a str),
    /// A PostgreSQL database; the whole location.
    Server(&'a str),
}

impl<'a> Location<'a> {
    fn of(location: &'a str) -> Result<Self> {
        let (scheme, rest) = location.split_once(':').unwrap_or_default();
        match scheme {
            "sqlite" => match rest.strip_prefix("//").unwrap_or(rest) {
                "" => Err(Error::NoPath),
                ":memory:" => Ok(Self::Memory),
                path => Ok(Self::File(path)),
            },
            "postgres" | "postgresql" => Ok(Self::Server(location)),
            _ => Err(Error::UnknownScheme {
                scheme: scheme.to_owned(),
            }),
        }
    }
}

/// How long a call may take at a server. One that vanished without a word would be waited for for ever: nothing on the way
/// says that it is gone. Looking after a store takes as long as it takes.
const CALL_DEADLINE: Duration = Duration::from_secs(30);

async fn answered<T>(call: impl Future<Output = Result<T>>) -> Result<T> {
    match clock::timeout(CALL_DEADLINE, call).await {
        Ok(answer) => answer,
        Err(late) => Err(Error::Unreachable(late.into())),
    }
}

async fn awaited<T>(call: impl Future<Output = T>) -> T {
    call.await
}

/// Hands the calls of one trait to whichever store this is. The `match` is the one place that knows them all: another store
/// is a variant of [`AnyStore`], a [`Location`] and an arm here.
macro_rules! dispatch {
    ($noun:ident, $wait:ident {
        $(fn $method:ident(&self $(, $argument:ident: $kind:ty)* $(,)?) -> $answer:ty;)+
    }) => {
        impl $noun for AnyStore {
            $(fn $method(&self $(, $argument: $kind)*) -> impl Future<Output = $answer> + Send {
                async move {
                    match self {
                        Self::Sqlite(store) => store.$method($($argument),*).await,
                        // Boxed, because it is large; a call waits for the network anyway.
                        Self::Postgres(store) => $wait(Box::pin(store.$method($($argument),*))).await,
                    }
                }
            })+
        }
    };
}

dispatch!(Tenants, answered {
    fn tenant_key(&self, tenant: &TenantId, fresh: [u8; 32]) -> Result<[u8; 32]>;
});

dispatch!(Pins, answered {
    fn mark_pin(&self, tenant: &TenantId, pin: &PinRow) -> Result<()>;
    fn marked_pins(&self, tenant: &TenantId, conversation: &ConversationId) -> Result<Vec<PinRow>>;
});

dispatch!(Leases, answered {
    fn acquire_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        holder: &str,
        now_ms: i64,
        until_ms: i64,
    ) -> Result<Option<u64>>;
    fn renew_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
        now_ms: i64,
        until_ms: i64,
    ) -> Result<bool>;
    fn release_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> Result<()>;
});

dispatch!(Jobs, answered {
    fn claim_job(&self, tenant: &TenantId, claim: &JobClaim<'_>) -> Result<Claimed>;
    fn finish_job(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> Result<bool>;
    fn jobs(&self, tenant: &TenantId, now_ms: i64, limit: u32) -> Result<Vec<JobRow>>;
});

dispatch!(CountedRequests, answered {
    fn keep_counted(&self, tenant: &TenantId, rows: &[CountedRow]) -> Result<()>;
    fn counted_at(&self, tenant: &TenantId, nodes: &[Digest]) -> Result<Vec<CountedRow>>;
});

dispatch!(Memories, answered {
    fn save_memory(&self, tenant: &TenantId, memory: &MemoryRow) -> Result<Saved>;
    fn memories(
        &self,
        tenant: &TenantId,
        query: Option<&str>,
        limit: u32,
    ) -> Result<Vec<MemoryRow>>;
    fn forget_memory(&self, tenant: &TenantId, memory_id: &str) -> Result<bool>;
});

dispatch!(Search, answered {
    fn index(&self, tenant: &TenantId, words: &[EntryWords]) -> Result<()>;
    fn unindexed(&self, tenant: &TenantId, after: Option<Digest>, limit: u32) -> Result<Vec<EntryRow>>;
    fn search(
        &self,
        tenant: &TenantId,
        scope: &SearchScope,
        query: &str,
        limit: u32,
    ) -> Result<Vec<SearchHit>>;
});

dispatch!(Beliefs, answered {
    fn learn_window(
        &self,
        endpoint: &str,
        model: &str,
        window_tokens: u64,
        at_ms: i64,
    ) -> Result<()>;
    fn learned_windows(&self) -> Result<Vec<LearnedWindow>>;
    fn save_belief(&self, belief: &BeliefRow) -> Result<()>;
    fn beliefs(&self) -> Result<Vec<BeliefRow>>;
    fn belief(&self, endpoint: &str, model: &str) -> Result<Option<BeliefRow>>;
    fn forget_belief(&self, endpoint: &str, model: &str) -> Result<bool>;
});

dispatch!(Outcomes, answered {
    fn record_outcome(&self, tenant: &TenantId, outcome: &Outcome) -> Result<()>;
    fn outcomes(&self, tenant: &TenantId, limit: u32) -> Result<Vec<Outcome>>;
});

dispatch!(Usage, answered {
    fn usage(&self, tenant: &TenantId) -> Result<TenantUsage>;
    fn add_summary_spend(&self, tenant: &TenantId, day: i64, nanodollars: u64) -> Result<()>;
    fn summary_spend(&self, tenant: &TenantId, from_day: i64) -> Result<u64>;
});

dispatch!(Housekeeping, awaited {
    fn reseal(&self) -> Result<Resealed>;
    fn statistics(&self) -> Result<StoreStatistics>;
    fn delete_conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        at_ms: i64,
    ) -> Result<Option<Deleted>>;
    fn delete_idle_conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        before_ms: i64,
    ) -> Result<Option<Deleted>>;
    fn oldest_conversations(&self, wanted: Oldest<'_>, limit: u32) -> Result<Vec<OwnedConversation>>;
    fn sweep(&self, before: SweepBefore<'_>) -> Result<Swept>;
    fn vacuum(&self) -> Result<()>;
    fn snapshot(
        &self,
        each: &mut (dyn FnMut(SnapshotRow) -> ControlFlow<()> + Send),
    ) -> Result<()>;
    fn restore(&self, rows: &[SnapshotRow]) -> Result<Restored>;
});

dispatch!(Store, awaited {
    fn close(&self) -> ();
});
