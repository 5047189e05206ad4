//! Memories, and finding them by their words.

use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::query::{blob, query};
use super::search::{Matches, Terms};
use crate::words::{Counted, Expression, Need};
use crate::{ConversationId, Error, Memories, MemoryRow, Result, Saved, TenantId, bag};

/// The columns of a memory, in the order in which they are decoded.
macro_rules! columns {
    () => {
        "m.id, m.key, m.kind, m.text, m.conversation, m.entries, m.created_ms"
    };
}

const INSERT: &str = "\
    INSERT INTO memories \
        (tenant, id, key, kind, text, conversation, entries, created_ms, words) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
    ON CONFLICT (tenant, key) DO NOTHING RETURNING number";

const INSERT_WORDS: &str = "\
    INSERT INTO memory_words (memory, word, count) SELECT $1, w.* FROM unnest($2, $3) AS w";

const SELECT_NEWEST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM memories AS m WHERE m.tenant = $1 ORDER BY m.created_ms DESC, m.number DESC LIMIT $2"
);

/// How often each memory has each term; then the number that is to be found again.
const SEARCH: &str = "\
    SELECT m.words, term.place, found.count, \
        (SELECT count(*) FROM memories WHERE tenant = $1), \
        (SELECT CAST(sum(words) AS BIGINT) FROM memories WHERE tenant = $1), m.number \
    FROM memories AS m \
        CROSS JOIN unnest($2, $3) WITH ORDINALITY AS term (first, behind, place) \
        CROSS JOIN LATERAL (SELECT CAST(sum(w.count) AS BIGINT) AS count FROM memory_words AS w \
            WHERE w.memory = m.number AND w.word >= term.first AND w.word < term.behind) AS found \
    WHERE m.tenant = $1 AND found.count IS NOT NULL";

const SELECT_NUMBERED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM unnest($2) WITH ORDINALITY AS best (number, place) \
        JOIN memories AS m ON m.tenant = $1 AND m.number = best.number ORDER BY best.place"
);

const DELETE: &str = "DELETE FROM memories WHERE tenant = $1 AND id = $2 RETURNING number";

const DELETE_WORDS: &str = "DELETE FROM memory_words WHERE memory = $1";

impl Memories for PostgresStore {
    fn save_memory(
        &self,
        tenant: &TenantId,
        memory: &MemoryRow,
    ) -> impl Future<Output = Result<Saved>> + Send {
        save(&self.connections, tenant, memory)
    }

    fn memories(
        &self,
        tenant: &TenantId,
        query: Option<&str>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<MemoryRow>>> + Send {
        list(&self.connections, tenant, query, limit)
    }

    fn forget_memory(
        &self,
        tenant: &TenantId,
        memory_id: &str,
    ) -> impl Future<Output = Result<bool>> + Send {
        forget(&self.connections, tenant, memory_id)
    }
}

async fn save(connections: &Connections, tenant: &TenantId, memory: &MemoryRow) -> Result<Saved> {
    let keys = connections.keys();
    let words = match keys.is_empty() {
        true => Counted::of(&memory.text),
        false => Counted::default(),
    };
    let memory = keys.seal_memory(tenant, memory)?;
    let mut transaction = connections.begin().await?;
    let Some(number) = insert(&mut transaction, tenant, &memory, words.total).await? else {
        return Ok(Saved::Known);
    };
    let (words, counts): (Vec<String>, Vec<i64>) = words.counts.into_iter().unzip();
    query(INSERT_WORDS)
        .bind(number)
        .bind(words)
        .bind(counts)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(Saved::New)
}

/// Its number, or `None` when one with its key is there.
async fn insert(
    connection: &mut PgConnection,
    tenant: &TenantId,
    memory: &MemoryRow,
    words: i64,
) -> Result<Option<i64>> {
    let inserted = query(INSERT)
        .bind(tenant.as_str())
        .bind(memory.id.as_bytes())
        .bind(blob(&memory.key))
        .bind(memory.kind.as_bytes())
        .bind(memory.text.as_bytes())
        .bind(memory.conversation.as_ref().map(ConversationId::as_str))
        .bind(serde_json::Value::from(memory.entries.as_slice()).to_string())
        .bind(memory.created_ms)
        .bind(words)
        .fetch_optional(connection)
        .await;
    match inserted {
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            let id = memory.id.clone();
            Err(Error::IdTaken { id })
        }
        result => Ok(result?.map(|row| row.try_get(0)).transpose()?),
    }
}

async fn list(
    connections: &Connections,
    tenant: &TenantId,
    text: Option<&str>,
    limit: u32,
) -> Result<Vec<MemoryRow>> {
    let keys = connections.keys();
    let mut transaction = connections.begin().await?;
    let rows = match text {
        Some(text) if !keys.is_empty() => {
            let all = query(SELECT_NEWEST)
                .bind(tenant.as_str())
                .bind(i64::MAX)
                .fetch_all(&mut *transaction)
                .await?;
            let all = all
                .iter()
                .map(|row| keys.open_memory(tenant, decode::memory(row)?));
            return bag::by_words(&all.collect::<Result<Vec<_>>>()?, text, limit);
        }
        Some(text) => {
            let numbers = search(&mut transaction, tenant, text, limit).await?;
            query(SELECT_NUMBERED)
                .bind(tenant.as_str())
                .bind(numbers)
                .fetch_all(&mut *transaction)
                .await?
        }
        None => {
            query(SELECT_NEWEST)
                .bind(tenant.as_str())
                .bind(i64::from(limit))
                .fetch_all(&mut *transaction)
                .await?
        }
    };
    rows.iter()
        .map(|row| keys.open_memory(tenant, decode::memory(row)?))
        .collect()
}

/// The numbers of the best.
async fn search(
    connection: &mut PgConnection,
    tenant: &TenantId,
    text: &str,
    limit: u32,
) -> Result<Vec<i64>> {
    for need in [Need::All, Need::Any] {
        let Some(expression) = Expression::of(text, need) else {
            break;
        };
        let terms = Terms::of(&expression);
        let rows = query(SEARCH)
            .bind(tenant.as_str())
            .bind(terms.first)
            .bind(terms.behind)
            .fetch_all(&mut *connection)
            .await?;
        let mut matches = Matches::new(&expression);
        for row in &rows {
            let number: i64 = row.try_get(5)?;
            matches.add(row, 0, number, number)?;
        }
        let mut best = matches.scored();
        best.sort_by(|(left, left_score), (right, right_score)| {
            let order = right_score.total_cmp(left_score);
            order.then_with(|| right.cmp(left))
        });
        best.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        if !best.is_empty() {
            return Ok(best.into_iter().map(|(number, _)| number).collect());
        }
    }
    Ok(Vec::new())
}

async fn forget(connections: &Connections, tenant: &TenantId, id: &str) -> Result<bool> {
    let mut transaction = connections.begin().await?;
    let row = query(DELETE)
        .bind(tenant.as_str())
        .bind(id.as_bytes())
        .fetch_optional(&mut *transaction)
        .await?;
    let Some(row) = row else {
        return Ok(false);
    };
    let number: i64 = row.try_get(0)?;
    query(DELETE_WORDS)
        .bind(number)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(true)
}
