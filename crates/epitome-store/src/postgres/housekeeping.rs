//! Looking after the database.

use std::ops::ControlFlow;

use futures_util::TryStreamExt as _;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, Row as _};

use super::PostgresStore;
use super::connections::{Connections, settle};
use super::query::query;
use super::tenants::{keep_secret, stored_secret};
use crate::housekeeping::restore::memory;
use crate::housekeeping::snapshot::{Kind, MEMORIES};
use crate::housekeeping::{
    delete::{Why, delete},
    reseal::{DELETE_OTHER_KEYS, reseal},
    restore::restore,
    sealed::{self, ROWS_OF, Rows, words},
    snapshot::snapshot,
    statistics::statistics,
    sweep::sweep,
};
use crate::rows::housekeeping::Brought;
use crate::{
    Cell, ConversationId, Deleted, Error, Housekeeping, Memories, MemoryRow, Oldest,
    OwnedConversation, Resealed, Restored, Result, Saved, SnapshotRow, StoreStatistics,
    SweepBefore, Swept, TenantId,
};

/// Whoever adds to it waits here, and finds it deleted.
const LOCK: &str = "SELECT touched_ms FROM conversations WHERE tenant = $1 AND id = $2 FOR UPDATE";

const DELETE_WORDS: &str = "DELETE FROM entry_words WHERE entry = $1";

const DELETE_MEMORY_WORDS: &str = "DELETE FROM memory_words WHERE memory = $1";

const SELECT_TABLES: &str =
    "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()";

const SELECT_SCHEMA: &str = "SELECT COALESCE(max(version), 0) FROM epitome_migrations";

const SELECT_BYTES: &str = "\
    SELECT CAST(COALESCE(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM pg_class AS c \
        JOIN pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE n.nspname = current_schema() AND c.relkind = 'r'";

/// How often a write is tried that lost a race: somebody used an entry in the moment in which it was to go.
const TRIES: u32 = 5;

/// Those that were stored before there was a key are in `entry_words`.
const WORDS: Rows = words(
    "SELECT tenant, key, CAST(COALESCE(octet_length(counts), 0) AS BIGINT), \
            COALESCE(substr(counts, 1, 32), CAST('' AS BYTEA)) \
        FROM indexed_entries WHERE (tenant, key) > ($1, $2) ORDER BY tenant, key LIMIT $3",
    "SELECT COALESCE(i.counts, \
            (SELECT convert_to(string_agg(w.count || ' ' || w.word, E'\\n'), 'UTF8') \
                FROM entry_words AS w WHERE w.entry = i.number), CAST('' AS BYTEA)) \
        FROM indexed_entries AS i WHERE i.tenant = $1 AND i.key = $2",
    "UPDATE indexed_entries SET counts = $3, words = 0 \
        WHERE tenant = $1 AND key = $2 AND (counts IS NULL OR counts = $4)",
);

/// The words of all of them are encrypted now.
const CLEAR_INDEX: &str = "TRUNCATE entry_words, memory_words";

/// Our own tables: a database may hold those of others.
macro_rules! vacuum {
    ($how:literal) => {
        concat!(
            "VACUUM (",
            $how,
            ") beliefs, changes, compactions, conversations, counted, deleted_conversations, \
            deleted_nodes, entries, entry_words, epitome_migrations, indexed_entries, jobs, \
            leases, memories, memory_words, nodes, outcomes, pins, sealed_secrets, store_keys, \
            summary_spend, tenants, turns, windows"
        )
    };
}

delete!(PgConnection, LOCK, DELETE_WORDS, DELETE_MEMORY_WORDS);
statistics!(PgConnection, SELECT_TABLES, SELECT_SCHEMA, SELECT_BYTES);
sweep!(PgConnection);
snapshot!(PgConnection, SELECT_TABLES, cell);
reseal!(PgConnection, cell, beginning, bind);
restore!(PgConnection, bind);

impl Housekeeping for PostgresStore {
    async fn statistics(&self) -> Result<StoreStatistics> {
        statistics(&mut *self.connections.begin().await?).await
    }

    async fn delete_conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        at_ms: i64,
    ) -> Result<Option<Deleted>> {
        let why = Why::Ordered { at_ms };
        delete_with_tries(&self.connections, tenant, conversation, why).await
    }

    async fn delete_idle_conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        before_ms: i64,
    ) -> Result<Option<Deleted>> {
        let why = Why::Idle { before_ms };
        delete_with_tries(&self.connections, tenant, conversation, why).await
    }

    async fn oldest_conversations(
        &self,
        wanted: Oldest<'_>,
        limit: u32,
    ) -> Result<Vec<OwnedConversation>> {
        oldest(&mut *self.connections.begin().await?, wanted, limit).await
    }

    async fn sweep(&self, before: SweepBefore<'_>) -> Result<Swept> {
        let mut tries = TRIES;
        loop {
            match sweep_once(&self.connections, before).await {
                Err(Error::Dangling(_) | Error::Busy(_)) if tries > 0 => tries -= 1,
                result => return result,
            }
        }
    }

    async fn reseal(&self) -> Result<Resealed> {
        let Some(id) = self.connections.keys().writing() else {
            return Err(Error::KeyNeeded);
        };
        let mut resealed = Resealed::default();
        // Until a pass finds nothing: others may be writing.
        loop {
            let written = reseal_all(&self.connections).await?;
            resealed.rows += written;
            if written == 0 {
                break;
            }
        }
        let mut transaction = self.connections.begin().await?;
        query(CLEAR_INDEX).execute(&mut *transaction).await?;
        query(DELETE_OTHER_KEYS)
            .bind(id.to_vec())
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        // What was written over is still in the files of the tables until they are made anew.
        self.connections.outside(vacuum!("FULL, ANALYZE")).await?;
        Ok(resealed)
    }

    fn vacuum(&self) -> impl Future<Output = Result<()>> + Send {
        self.connections.outside(vacuum!("ANALYZE"))
    }

    async fn snapshot(
        &self,
        each: &mut (dyn FnMut(SnapshotRow) -> ControlFlow<()> + Send),
    ) -> Result<()> {
        let mut transaction = self.connections.begin_snapshot().await?;
        snapshot(&mut transaction, each).await
    }

    async fn restore(&self, rows: &[SnapshotRow]) -> Result<Restored> {
        let mut restored = Restored::default();
        let mut transaction = self.connections.begin().await?;
        let brought_in = async {
            for row in rows.iter().filter(|row| row.table != MEMORIES) {
                restored.count(restore_row(&mut transaction, self.connections.keys(), row).await?);
            }
            Ok(())
        };
        let brought_in = brought_in.await;
        settle(transaction, brought_in).await?;
        for row in rows.iter().filter(|row| row.table == MEMORIES) {
            let (tenant, memory) = memory(row)?;
            let memory = self.connections.keys().open_memory(&tenant, memory)?;
            if is_deleted(&mut *self.connections.begin().await?, &tenant, &memory).await? {
                restored.count(Brought::Refused);
                continue;
            }
            restored.count(match self.save_memory(&tenant, &memory).await? {
                Saved::New => Brought::Written,
                Saved::Known => Brought::There,
            });
        }
        Ok(restored)
    }
}

/// One pass, in pieces that nobody waits for long. How many rows were written.
async fn reseal_all(connections: &Connections) -> Result<u64> {
    let keys = connections.keys();
    let mut transaction = connections.begin().await?;
    let some = async {
        let written = reseal_secrets(&mut transaction, keys).await?;
        Ok(written + reseal_pins(&mut transaction, keys).await?)
    };
    let some = some.await;
    let mut written = settle(transaction, some).await?;
    for rows in ROWS_OF.iter().chain([&WORDS]) {
        let mut last = rows.before_all();
        loop {
            let mut transaction = connections.begin().await?;
            let some = reseal_some(&mut transaction, keys, rows, &last).await;
            let (behind, some) = settle(transaction, some).await?;
            written += some;
            match behind {
                Some(behind) => last = behind,
                None => break,
            }
        }
    }
    Ok(written)
}

async fn delete_with_tries(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
    why: Why,
) -> Result<Option<Deleted>> {
    let mut tries = TRIES;
    loop {
        match delete_once(connections, tenant, conversation, why).await {
            Err(Error::Dangling(_) | Error::Busy(_)) if tries > 0 => tries -= 1,
            result => return result,
        }
    }
}

async fn delete_once(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
    why: Why,
) -> Result<Option<Deleted>> {
    let mut transaction = connections.begin().await?;
    let deleted = delete(&mut transaction, tenant, conversation, why).await;
    settle(transaction, deleted).await
}

async fn sweep_once(connections: &Connections, before: SweepBefore<'_>) -> Result<Swept> {
    let mut transaction = connections.begin().await?;
    let swept = sweep(&mut transaction, before).await;
    settle(transaction, swept).await
}

fn cell(row: &PgRow, at: usize, kind: Kind) -> Result<Cell> {
    let cell = match kind {
        Kind::Name => row.try_get::<Option<String>, _>(at)?.map(Cell::Text),
        Kind::Text => {
            let bytes: Option<Vec<u8>> = row.try_get(at)?;
            let text = bytes.map(String::from_utf8).transpose();
            text.map_err(Error::corrupt)?.map(Cell::Text)
        }
        Kind::Bytes => row.try_get::<Option<Vec<u8>>, _>(at)?.map(Cell::Bytes),
        Kind::Integer => row.try_get::<Option<i64>, _>(at)?.map(Cell::Integer),
    };
    Ok(cell.unwrap_or(Cell::Null))
}

/// How a value begins, which may be in the middle of a letter: it is only looked at for the marks of encrypted values.
fn beginning(row: &PgRow, at: usize, kind: Kind) -> Result<Cell> {
    Ok(match (kind, cell(row, at, Kind::Bytes)?) {
        (Kind::Text, Cell::Bytes(bytes)) => {
            Cell::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
        (_, cell) => cell,
    })
}

type Statement<'a> = Query<'a, Postgres, PgArguments>;

fn bind<'a>(statement: Statement<'a>, kind: Kind, cell: &Cell) -> Option<Statement<'a>> {
    Some(match (kind, cell) {
        (Kind::Name, Cell::Text(text)) => statement.bind(text.clone()),
        (Kind::Text, Cell::Text(text)) => statement.bind(text.clone().into_bytes()),
        (Kind::Bytes, Cell::Bytes(bytes)) => statement.bind(bytes.clone()),
        (Kind::Integer, Cell::Integer(number)) => statement.bind(*number),
        (Kind::Name, Cell::Null) => statement.bind(None::<String>),
        (Kind::Text | Kind::Bytes, Cell::Null) => statement.bind(None::<Vec<u8>>),
        (Kind::Integer, Cell::Null) => statement.bind(None::<i64>),
        _ => return None,
    })
}
