//! The words of entries: keeping them, and finding entries by them.

use std::collections::BTreeMap;

use epitome::Digest;
use futures_util::TryStreamExt as _;
use serde_json::json;
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::decode;
use super::schema::has_table;
use super::transaction::begin;
use super::{Access, SqliteStore};
use crate::bag::Found;
use crate::seal::Value;
use crate::words::{self, Counted, Expression, Need};
use crate::{
    ConversationId, EntryRow, EntryWords, Keys, Result, Search, SearchHit, SearchScope, TenantId,
};

/// The keys lie end to end in `$2`, the words in `$3`, where `$4` says. Those that an earlier version indexed get their words.
const INSERT_KEYS: &str = "\
    INSERT INTO indexed_entries (tenant, key, counts) \
        SELECT $1, substr($2, e.key * 32 + 1, 32), \
            COALESCE(substr($3, e.value ->> 0, e.value ->> 1), x'') \
        FROM json_each($4) AS e WHERE TRUE \
        ON CONFLICT (tenant, key) DO UPDATE SET counts = excluded.counts \
            WHERE indexed_entries.counts IS NULL \
        RETURNING key, number";

/// `[number, words]` for each. Those that an earlier version indexed are there.
const INSERT_WORDS: &str = "\
    INSERT OR REPLACE INTO entry_words (rowid, words) \
        SELECT e.value ->> 0, e.value ->> 1 FROM json_each($1) AS e";

/// The position is there for the sake of decoding.
pub(super) const SELECT_UNINDEXED: &str = "\
    SELECT 0, e.key, e.raw, e.wire, e.tokens FROM entries AS e \
    WHERE e.tenant = $1 AND e.key > $3 AND NOT EXISTS (SELECT 1 FROM indexed_entries AS i \
        WHERE i.tenant = $1 AND i.key = e.key AND i.counts IS NOT NULL) ORDER BY e.key LIMIT $2";

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

/// From the nodes that a query starts with up to the root. SQLite has to be told the index of a conversation, or it goes through
/// all nodes of the tenant.
macro_rules! path {
    ($nodes:literal, $start:literal, $at:literal) => {
        concat!(
            "WITH RECURSIVE path (digest, parent, entry, position, conversation) AS ( \
                SELECT digest, parent, entry, position, conversation FROM ",
            $nodes,
            " WHERE tenant = $1 AND ",
            $start,
            " = ",
            $at,
            " UNION \
                SELECT n.digest, n.parent, n.entry, n.position, n.conversation FROM path \
                    JOIN nodes AS n ON n.tenant = $1 AND n.digest = path.parent \
            )"
        )
    };
}

/// Every entry there in its last place, with its words. The cost goes by the entries there and not by how many others there are.
macro_rules! scanned {
    ($nodes:literal, $start:literal) => {
        concat!(
            path!($nodes, $start, "$2"),
            ", place AS (SELECT entry, digest, max(position) AS position, conversation FROM path \
                GROUP BY entry) \
            SELECT i.key, place.digest, place.position, place.conversation, 0.0, i.counts \
                FROM place CROSS JOIN indexed_entries AS i \
                ON i.tenant = $1 AND i.key = place.entry"
        )
    };
}

/// The same by the index of words, for what an earlier version indexed: through all matches of the tenant.
macro_rules! ancestry {
    ($nodes:literal, $start:literal) => {
        concat!(
            path!($nodes, $start, "$4"),
            ", ",
            found!(),
            ranked!("found JOIN path AS n ON n.entry = found.key")
        )
    };
}

pub(super) const SCAN_BRANCH: &str = scanned!("nodes", "digest");

pub(super) const SCAN_CONVERSATION: &str =
    scanned!("nodes INDEXED BY nodes_by_conversation", "conversation");

const SCAN_TENANT: &str = "\
    SELECT i.key, n.digest, max(n.position), n.conversation, 0.0, i.counts \
        FROM indexed_entries AS i CROSS JOIN nodes AS n ON n.tenant = $1 AND n.entry = i.key \
        WHERE i.tenant = $1 GROUP BY i.key";

const SEARCH_BRANCH: &str = ancestry!("nodes", "digest");

const SEARCH_CONVERSATION: &str =
    ancestry!("nodes INDEXED BY nodes_by_conversation", "conversation");

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
        index(&self.writer, &self.keys, tenant, words)
    }

    fn unindexed(
        &self,
        tenant: &TenantId,
        after: Option<Digest>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        unindexed(&self.readers, &self.keys, tenant, after, limit)
    }

    fn search(
        &self,
        tenant: &TenantId,
        scope: &SearchScope,
        query: &str,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<SearchHit>>> + Send {
        search(self, tenant, scope, query, limit)
    }
}

/// Words that are ready to be stored. Made before a transaction begins, because it takes a while.
pub(super) struct Prepared(BTreeMap<Digest, Words>);

struct Words {
    /// How often the entry has each.
    counts: Vec<u8>,
    /// For the index; none where words are encrypted.
    text: Option<String>,
}

pub(super) fn prepared<'a>(
    keys: &Keys,
    tenant: &TenantId,
    words: impl IntoIterator<Item = &'a EntryWords>,
) -> Result<Prepared> {
    let words = words.into_iter().map(|EntryWords { key, text }| {
        let counts = Counted::of(text).to_bytes();
        let words = Words {
            counts: keys.seal(tenant, Value::Words(key), &counts)?.into_owned(),
            text: keys.is_empty().then(|| words::of_text(tenant, text)),
        };
        Ok((*key, words))
    });
    words.collect::<Result<_>>().map(Prepared)
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
    let keys: Vec<u8> = words.keys().flat_map(Digest::as_bytes).copied().collect();
    let mut counts = Vec::new();
    let mut places = Vec::with_capacity(words.len());
    for one in words.values() {
        places.push(json!([counts.len() + 1, one.counts.len()]));
        counts.extend_from_slice(&one.counts);
    }
    let rows = sqlx::query(INSERT_KEYS)
        .bind(tenant.as_str())
        .bind(keys)
        .bind(counts)
        .bind(serde_json::Value::from(places).to_string())
        .fetch_all(&mut *connection)
        .await?;
    let mut new = Vec::with_capacity(rows.len());
    for row in &rows {
        let key = decode::digest(row.try_get(0)?)?;
        let number: i64 = row.try_get(1)?;
        if let Some(text) = words.get(&key).and_then(|one| one.text.as_deref()) {
            new.push(json!([number, text]));
        }
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

async fn index(
    writer: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    words: &[EntryWords],
) -> Result<()> {
    let words = prepared(keys, tenant, words)?;
    let mut transaction = begin(writer).await?;
    insert(&mut transaction, tenant, &words).await?;
    transaction.commit().await?;
    Ok(())
}

async fn unindexed(
    readers: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    after: Option<Digest>,
    limit: u32,
) -> Result<Vec<EntryRow>> {
    let rows = sqlx::query(SELECT_UNINDEXED)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .bind(after_key(after.as_ref()))
        .fetch_all(readers)
        .await?;
    let placed = rows.iter().map(decode::placed_entry);
    placed
        .map(|placed| keys.open_entry(tenant, placed?.1))
        .collect()
}

/// Nothing stands behind no key at all.
fn after_key(after: Option<&Digest>) -> &[u8] {
    after.map_or(&[], |key| key.as_bytes())
}

async fn search(
    store: &SqliteStore,
    tenant: &TenantId,
    scope: &SearchScope,
    text: &str,
    limit: u32,
) -> Result<Vec<SearchHit>> {
    let mut is_indexed = matches!(scope, SearchScope::Tenant) && store.keys.is_empty();
    if store.access == Access::ReadOnly {
        // A file of an earlier version that may only be read has nothing else.
        let mut connection = store.readers.acquire().await?;
        is_indexed |= !has_table(&mut connection, "store_keys").await?;
    }
    for need in [Need::All, Need::Any] {
        let Some(expression) = Expression::of(text, need) else {
            break;
        };
        let mut hits = None;
        if !is_indexed {
            hits = scanned(store, tenant, scope, &expression, limit).await?;
        }
        let hits = match (hits, words::of_query(tenant, text, need)) {
            (Some(hits), _) => hits,
            (None, Some(words)) => matching(&store.readers, tenant, scope, &words, limit).await?,
            (None, None) => Vec::new(),
        };
        if !hits.is_empty() {
            return Ok(hits);
        }
    }
    Ok(Vec::new())
}

/// By the words of each entry there. `None` where an earlier version has indexed one of them, whose words are known to the index
/// alone until it is indexed again.
async fn scanned(
    store: &SqliteStore,
    tenant: &TenantId,
    scope: &SearchScope,
    expression: &Expression,
    limit: u32,
) -> Result<Option<Vec<SearchHit>>> {
    let statement = match scope {
        SearchScope::Branch(tip) => sqlx::query(SCAN_BRANCH)
            .bind(tenant.as_str())
            .bind(tip.as_bytes().as_slice()),
        SearchScope::Conversation(id) => sqlx::query(SCAN_CONVERSATION)
            .bind(tenant.as_str())
            .bind(ConversationId::as_str(id)),
        SearchScope::Tenant => sqlx::query(SCAN_TENANT).bind(tenant.as_str()),
    };
    let mut rows = statement.fetch(&store.readers);
    let mut found = Found::new(expression);
    while let Some(row) = rows.try_next().await? {
        let counts: Option<Vec<u8>> = row.try_get(5)?;
        let Some(counts) = counts else {
            if store.keys.is_empty() {
                return Ok(None);
            }
            // Where values are encrypted the index is not asked.
            continue;
        };
        let hit = decode::hit(&row)?;
        let words = Value::Words(&hit.entry);
        let lines = store.keys.open(tenant, words, counts.into())?;
        found.add(&lines, hit)?;
    }
    Ok(Some(found.best(limit)))
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
