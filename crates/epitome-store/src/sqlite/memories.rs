//! Memories, and finding them by their words.

use sqlx::SqlitePool;

use super::SqliteStore;
use super::decode;
use super::transaction::begin;
use crate::words::{self, Need};
use crate::{ConversationId, Error, Keys, Memories, MemoryRow, Result, Saved, TenantId, bag};

/// The columns of a memory, in the order in which they are decoded.
macro_rules! columns {
    () => {
        "m.id, m.key, m.kind, m.text, m.conversation, m.entries, m.created_ms"
    };
}

const INSERT: &str = "\
    INSERT INTO memories (tenant, id, key, kind, text, conversation, entries, created_ms) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tenant, key) DO NOTHING RETURNING number";

const INSERT_WORDS: &str = "INSERT INTO memory_words (rowid, words) VALUES ($1, $2)";

const SELECT_NEWEST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM memories AS m WHERE m.tenant = $1 ORDER BY m.created_ms DESC, m.number DESC LIMIT $2"
);

const SEARCH: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM memory_words AS w JOIN memories AS m ON m.number = w.rowid AND m.tenant = $1 \
    WHERE w.memory_words MATCH $3 ORDER BY bm25(memory_words), m.number DESC LIMIT $2"
);

const DELETE: &str = "DELETE FROM memories WHERE tenant = $1 AND id = $2 RETURNING number";

const DELETE_WORDS: &str = "DELETE FROM memory_words WHERE rowid = $1";

impl Memories for SqliteStore {
    fn save_memory(
        &self,
        tenant: &TenantId,
        memory: &MemoryRow,
    ) -> impl Future<Output = Result<Saved>> + Send {
        save(&self.writer, &self.keys, tenant, memory)
    }

    fn memories(
        &self,
        tenant: &TenantId,
        query: Option<&str>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<MemoryRow>>> + Send {
        list(&self.readers, &self.keys, tenant, query, limit)
    }

    fn forget_memory(
        &self,
        tenant: &TenantId,
        memory_id: &str,
    ) -> impl Future<Output = Result<bool>> + Send {
        forget(&self.writer, tenant, memory_id)
    }
}

async fn save(
    writer: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    memory: &MemoryRow,
) -> Result<Saved> {
    let words = keys
        .is_empty()
        .then(|| words::of_text(tenant, &memory.text));
    let memory = keys.seal_memory(tenant, memory)?;
    let mut transaction = begin(writer).await?;
    let inserted = sqlx::query_scalar(INSERT)
        .bind(tenant.as_str())
        .bind(&memory.id)
        .bind(memory.key.as_bytes().as_slice())
        .bind(&memory.kind)
        .bind(&memory.text)
        .bind(memory.conversation.as_ref().map(ConversationId::as_str))
        .bind(serde_json::Value::from(memory.entries.as_slice()).to_string())
        .bind(memory.created_ms)
        .fetch_optional(&mut *transaction)
        .await;
    let number: Option<i64> = match inserted {
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            let id = memory.id.clone();
            return Err(Error::IdTaken { id });
        }
        result => result?,
    };
    let Some(number) = number else {
        return Ok(Saved::Known);
    };
    if let Some(words) = words {
        sqlx::query(INSERT_WORDS)
            .bind(number)
            .bind(words)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(Saved::New)
}

async fn list(
    readers: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    query: Option<&str>,
    limit: u32,
) -> Result<Vec<MemoryRow>> {
    match query {
        Some(query) if keys.is_empty() => search(readers, tenant, query, limit).await,
        Some(query) => {
            let all = newest(readers, keys, tenant, i64::MAX).await?;
            bag::by_words(&all, query, limit)
        }
        None => newest(readers, keys, tenant, limit.into()).await,
    }
}

async fn newest(
    readers: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    limit: i64,
) -> Result<Vec<MemoryRow>> {
    let rows = sqlx::query(SELECT_NEWEST)
        .bind(tenant.as_str())
        .bind(limit)
        .fetch_all(readers)
        .await?;
    let memories = rows.iter().map(decode::memory);
    memories
        .map(|memory| keys.open_memory(tenant, memory?))
        .collect()
}

async fn search(
    readers: &SqlitePool,
    tenant: &TenantId,
    query: &str,
    limit: u32,
) -> Result<Vec<MemoryRow>> {
    for need in [Need::All, Need::Any] {
        let Some(expression) = words::of_query(tenant, query, need) else {
            break;
        };
        let rows = sqlx::query(SEARCH)
            .bind(tenant.as_str())
            .bind(i64::from(limit))
            .bind(expression)
            .fetch_all(readers)
            .await?;
        if !rows.is_empty() {
            let memories = rows.iter().map(decode::memory);
            // One in clear may begin as an encrypted one does.
            return memories
                .map(|memory| Keys::none().open_memory(tenant, memory?))
                .collect();
        }
    }
    Ok(Vec::new())
}

async fn forget(writer: &SqlitePool, tenant: &TenantId, id: &str) -> Result<bool> {
    let mut transaction = begin(writer).await?;
    let number: Option<i64> = sqlx::query_scalar(DELETE)
        .bind(tenant.as_str())
        .bind(id)
        .fetch_optional(&mut *transaction)
        .await?;
    let Some(number) = number else {
        return Ok(false);
    };
    sqlx::query(DELETE_WORDS)
        .bind(number)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(true)
}
