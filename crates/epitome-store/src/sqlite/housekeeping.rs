//! Looking after the file.

use std::ops::ControlFlow;

use futures_util::TryStreamExt as _;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row as _, Sqlite, SqliteConnection, SqlitePool};

use super::SqliteStore;
use super::arguments::query;
use super::tenants::{keep_secret, stored_secret};
use super::transaction::begin;
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
    Cell, ConversationId, Deleted, Error, Housekeeping, Keys, Memories, MemoryRow, Oldest,
    OwnedConversation, Resealed, Restored, Result, Saved, SnapshotRow, StoreStatistics,
    SweepBefore, Swept, TenantId,
};

/// The write lock of the transaction keeps everybody else out.
const FIND: &str = "SELECT touched_ms FROM conversations WHERE tenant = $1 AND id = $2";

const DELETE_WORDS: &str = "DELETE FROM entry_words WHERE rowid = $1";

const DELETE_MEMORY_WORDS: &str = "DELETE FROM memory_words WHERE rowid = $1";

const SELECT_TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table'";

const SELECT_SCHEMA: &str = "SELECT max(version) FROM _sqlx_migrations";

const SELECT_BYTES: &str = "\
    SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";

const WORDS: Rows = words(
    "SELECT tenant, key, COALESCE(octet_length(counts), 0), substr(counts, 1, 32) \
        FROM indexed_entries WHERE (tenant, key) > ($1, $2) ORDER BY tenant, key LIMIT $3",
    "SELECT counts FROM indexed_entries WHERE tenant = $1 AND key = $2",
    "UPDATE indexed_entries SET counts = $3 WHERE tenant = $1 AND key = $2 AND counts = $4",
);

const CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// Each time it waits as long as a write does.
const CHECKPOINT_TRIES: u32 = 3;

/// What is left of the index of words; those that only it knows are indexed again.
const CLEAR_INDEX: [&str; 3] = [
    "DELETE FROM indexed_entries WHERE counts IS NULL",
    "INSERT INTO entry_words (entry_words) VALUES ('delete-all')",
    "INSERT INTO memory_words (memory_words) VALUES ('delete-all')",
];

delete!(SqliteConnection, FIND, DELETE_WORDS, DELETE_MEMORY_WORDS);
statistics!(SqliteConnection, SELECT_TABLES, SELECT_SCHEMA, SELECT_BYTES);
sweep!(SqliteConnection);
snapshot!(SqliteConnection, SELECT_TABLES, cell);
reseal!(SqliteConnection, cell, cell, bind);
restore!(SqliteConnection, bind);

impl Housekeeping for SqliteStore {
    async fn statistics(&self) -> Result<StoreStatistics> {
        statistics(&mut *self.readers.acquire().await?).await
    }

    async fn delete_conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        at_ms: i64,
    ) -> Result<Option<Deleted>> {
        delete_once(&self.writer, tenant, conversation, Why::Ordered { at_ms }).await
    }

    async fn delete_idle_conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        before_ms: i64,
    ) -> Result<Option<Deleted>> {
        delete_once(&self.writer, tenant, conversation, Why::Idle { before_ms }).await
    }

    async fn oldest_conversations(
        &self,
        wanted: Oldest<'_>,
        limit: u32,
    ) -> Result<Vec<OwnedConversation>> {
        oldest(&mut *self.readers.acquire().await?, wanted, limit).await
    }

    async fn sweep(&self, before: SweepBefore<'_>) -> Result<Swept> {
        let mut transaction = begin(&self.writer).await?;
        let swept = sweep(&mut transaction, before).await?;
        transaction.commit().await?;
        Ok(swept)
    }

    async fn reseal(&self) -> Result<Resealed> {
        let Some(id) = self.keys.writing() else {
            return Err(Error::KeyNeeded);
        };
        let mut resealed = Resealed::default();
        // Until a pass finds nothing: others may be writing.
        loop {
            let written = reseal_all(&self.writer, &self.keys).await?;
            resealed.rows += written;
            if written == 0 {
                break;
            }
        }
        let mut transaction = begin(&self.writer).await?;
        for statement in CLEAR_INDEX {
            query(statement).execute(&mut *transaction).await?;
        }
        query(DELETE_OTHER_KEYS)
            .bind(id.as_slice())
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        self.vacuum().await?;
        Ok(resealed)
    }

    async fn vacuum(&self) -> Result<()> {
        let mut connection = self.writer.acquire().await?;
        query("VACUUM").execute(&mut *connection).await?;
        // The new file is in the write-ahead file until then, and the old one is as it was. It stays so while somebody reads it,
        // which SQLite says in a row.
        for _ in 0..CHECKPOINT_TRIES {
            let row = query(CHECKPOINT).fetch_one(&mut *connection).await?;
            let blocked: i64 = row.try_get(0)?;
            if blocked == 0 {
                return Ok(());
            }
        }
        let reason = "somebody reads what was there before, so that it is still on the disk";
        Err(Error::Busy(reason.into()))
    }

    async fn snapshot(
        &self,
        each: &mut (dyn FnMut(SnapshotRow) -> ControlFlow<()> + Send),
    ) -> Result<()> {
        // In write-ahead mode a reader goes on seeing what was there when it began.
        let mut transaction = self.readers.begin().await?;
        snapshot(&mut transaction, each).await
    }

    async fn restore(&self, rows: &[SnapshotRow]) -> Result<Restored> {
        let mut restored = Restored::default();
        let mut transaction = begin(&self.writer).await?;
        for row in rows.iter().filter(|row| row.table != MEMORIES) {
            restored.count(restore_row(&mut transaction, &self.keys, row).await?);
        }
        transaction.commit().await?;
        for row in rows.iter().filter(|row| row.table == MEMORIES) {
            let (tenant, memory) = memory(row)?;
            let memory = self.keys.open_memory(&tenant, memory)?;
            if is_deleted(&mut *self.readers.acquire().await?, &tenant, &memory).await? {
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
async fn reseal_all(writer: &SqlitePool, keys: &Keys) -> Result<u64> {
    let mut transaction = begin(writer).await?;
    let mut written = reseal_secrets(&mut transaction, keys).await?;
    written += reseal_pins(&mut transaction, keys).await?;
    transaction.commit().await?;
    for rows in ROWS_OF.iter().chain([&WORDS]) {
        let mut last = rows.before_all();
        loop {
            let mut transaction = begin(writer).await?;
            let (behind, some) = reseal_some(&mut transaction, keys, rows, &last).await?;
            transaction.commit().await?;
            written += some;
            match behind {
                Some(behind) => last = behind,
                None => break,
            }
        }
    }
    Ok(written)
}

async fn delete_once(
    writer: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
    why: Why,
) -> Result<Option<Deleted>> {
    let mut transaction = begin(writer).await?;
    let deleted = delete(&mut transaction, tenant, conversation, why).await?;
    transaction.commit().await?;
    Ok(deleted)
}

fn cell(row: &SqliteRow, at: usize, kind: Kind) -> Result<Cell> {
    let cell = match kind {
        Kind::Name | Kind::Text => row.try_get::<Option<String>, _>(at)?.map(Cell::Text),
        Kind::Bytes => row.try_get::<Option<Vec<u8>>, _>(at)?.map(Cell::Bytes),
        Kind::Integer => row.try_get::<Option<i64>, _>(at)?.map(Cell::Integer),
    };
    Ok(cell.unwrap_or(Cell::Null))
}

type Statement<'a> = Query<'a, Sqlite, SqliteArguments>;

fn bind<'a>(statement: Statement<'a>, kind: Kind, cell: &Cell) -> Option<Statement<'a>> {
    Some(match (kind, cell) {
        (Kind::Name | Kind::Text, Cell::Text(text)) => statement.bind(text.clone()),
        (Kind::Bytes, Cell::Bytes(bytes)) => statement.bind(bytes.clone()),
        (Kind::Integer, Cell::Integer(number)) => statement.bind(*number),
        (_, Cell::Null) => statement.bind(None::<String>),
        _ => return None,
    })
}
