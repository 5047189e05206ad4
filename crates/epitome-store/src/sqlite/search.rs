//! The words of entries: keeping them, and finding entries by them.

use std::collections::HashMap;

use epitome::Digest;
use serde_json::json;
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::SqliteStore;
use super::decode;
use super::transaction::begin;
use crate::words::{self, Need};
use crate::{
    ConversationId, EntryRow, EntryWords, Result, Search, SearchHit, SearchScope, TenantId,
};

/// The keys lie end to end in `$2`.
const INSERT_KEYS: &str = "\
    WITH RECURSIVE given (start) AS ( \
        SELECT 1 UNION ALL SELECT start + 32 FROM given WHERE start + 32 < length($2) \
    ) \
    INSERT INTO indexed_entries (tenant, key) \
        SELECT $1, substr($2, start, 32) FROM given WHERE TRUE \
        ON CONFLICT (tenant, key) DO NOTHING RETURNING key, number";

/// `[number, words]` for each.
const INSERT_WORDS: &str = "\
    INSERT INTO entry_words (rowid, words) \
        SELECT e.value ->> 0, e.value ->> 1 FROM json_each($1) AS e";

/// The position is there for the sake of decoding.
const SELECT_UNINDEXED: &str = "\
    SELECT 0, e.key, e.raw, e.wire, e.tokens FROM entries AS e \
    WHERE e.tenant = $1 AND NOT EXISTS (SELECT 1 FROM indexed_entries AS i \
        WHERE i.tenant = $1 AND i.key = e.key) LIMIT $2";

/// What was found, before it is known where it stands. The ranking must be done with before rows are grouped.
macro_rules! found {
    () => {
        "found (key, score) AS MATERIALIZED ( \
            SELECT i.key, -bm25(entry_words) FROM entry_words AS w \
                JOIN indexed_entries AS i ON i.number = w.rowid AND i.tenant = $1 \
                WHERE w.entry_words MATCH $2 \
        ) "
    };
}

/// With `max`, SQLite takes the other columns from the row that has the greatest position.
macro_rules! ranked {
    ($places:literal) => {
        concat!(
            "SELECT found.key, n.digest, max(n.position), n.conversation, found.score FROM ",
            $places,
            " GROUP BY found.key ORDER BY found.score DESC, n.position DESC, found.key LIMIT $3"
        )
    };
}

/// From the nodes that a query starts with up to the root.
macro_rules! ancestry {
    ($start:literal) => {
        concat!(
            "WITH RECURSIVE path (digest, parent, entry, position, conversation) AS ( \
                SELECT digest, parent, entry, position, conversation FROM nodes \
                    WHERE tenant = $1 AND ",
            $start,
            " = $4 \
                UNION \
                SELECT n.digest, n.parent, n.entry, n.position, n.conversation FROM path \
                    JOIN nodes AS n ON n.tenant = $1 AND n.digest = path.parent \
            ), ",
            found!(),
            ranked!("found JOIN path AS n ON n.entry = found.key")
        )
    };
}

const SEARCH_BRANCH: &str = ancestry!("digest");

const SEARCH_CONVERSATION: &str = ancestry!("conversation");

const SEARCH_TENANT: &str = concat!(
    "WITH ",
    found!(),
    ranked!("found CROSS JOIN nodes AS n ON n.tenant = $1 AND n.entry = found.key")
);

impl Search for SqliteStore {
    fn index(
        &self,
        tenant: &TenantId,
        words: &[EntryWords],
    ) -> impl Future<Output = Result<()>> + Send {
        index(&self.writer, tenant, words)
    }

    fn unindexed(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        unindexed(&self.readers, tenant, limit)
    }

    fn search(
        &self,
        tenant: &TenantId,
        scope: &SearchScope,
        query: &str,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<SearchHit>>> + Send {
        search(&self.readers, tenant, scope, query, limit)
    }
}

/// Words that are ready to be stored. Made before a transaction begins, because it takes a while.
pub(super) struct Prepared(HashMap<Digest, String>);

pub(super) fn prepared<'a>(
    tenant: &TenantId,
    words: impl IntoIterator<Item = &'a EntryWords>,
) -> Prepared {
    let words = words.into_iter();
    Prepared(
        words
            .map(|one| (one.key, words::of_text(tenant, &one.text)))
            .collect(),
    )
}

/// Part of a transaction that the caller commits.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    Prepared(words): &Prepared,
) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let mut keys: Vec<&Digest> = words.keys().collect();
    keys.sort_unstable();
    let keys: Vec<u8> = keys
        .into_iter()
        .flat_map(Digest::as_bytes)
        .copied()
        .collect();
    let rows = sqlx::query(INSERT_KEYS)
        .bind(tenant.as_str())
        .bind(keys)
        .fetch_all(&mut *connection)
        .await?;
    let mut new = Vec::with_capacity(rows.len());
    for row in &rows {
        let key = decode::digest(row.try_get(0)?)?;
        let number: i64 = row.try_get(1)?;
        new.push(json!([number, words.get(&key)]));
    }
    if new.is_empty() {
        return Ok(());
    }
    sqlx::query(INSERT_WORDS)
        .bind(serde_json::Value::from(new).to_string())
        .execute(connection)
        .await?;
    Ok(())
}

async fn index(writer: &SqlitePool, tenant: &TenantId, words: &[EntryWords]) -> Result<()> {
    let words = prepared(tenant, words);
    let mut transaction = begin(writer).await?;
    insert(&mut transaction, tenant, &words).await?;
    transaction.commit().await?;
    Ok(())
}

async fn unindexed(readers: &SqlitePool, tenant: &TenantId, limit: u32) -> Result<Vec<EntryRow>> {
    let rows = sqlx::query(SELECT_UNINDEXED)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .fetch_all(readers)
        .await?;
    let placed = rows.iter().map(decode::placed_entry);
    placed
        .map(|placed| placed.map(|(_, entry)| entry))
        .collect()
}

async fn search(
    readers: &SqlitePool,
    tenant: &TenantId,
    scope: &SearchScope,
    query: &str,
    limit: u32,
) -> Result<Vec<SearchHit>> {
    for need in [Need::All, Need::Any] {
        let Some(expression) = words::of_query(tenant, query, need) else {
            break;
        };
        let hits = matching(readers, tenant, scope, &expression, limit).await?;
        if !hits.is_empty() {
            return Ok(hits);
        }
    }
    Ok(Vec::new())
}

async fn matching(
    readers: &SqlitePool,
    tenant: &TenantId,
    scope: &SearchScope,
    expression: &str,
    limit: u32,
) -> Result<Vec<SearchHit>> {
    let statement = match scope {
        SearchScope::Branch(_) => SEARCH_BRANCH,
        SearchScope::Conversation(_) => SEARCH_CONVERSATION,
        SearchScope::Tenant => SEARCH_TENANT,
    };
    let query = sqlx::query(statement)
        .bind(tenant.as_str())
        .bind(expression)
        .bind(i64::from(limit));
    let query = match scope {
        SearchScope::Branch(tip) => query.bind(tip.as_bytes().as_slice()),
        SearchScope::Conversation(id) => query.bind(ConversationId::as_str(id)),
        SearchScope::Tenant => query,
    };
    let rows = query.fetch_all(readers).await?;
    rows.iter().map(decode::hit).collect()
}
