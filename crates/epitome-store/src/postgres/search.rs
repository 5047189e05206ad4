//! The words of entries: keeping them, and finding entries by them.

mod tenant;
mod terms;

use std::collections::BTreeMap;

use epitome::Digest;
use futures_util::TryStreamExt as _;
use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::query::{blob, query};
use crate::bag::{self, Found};
use crate::seal::Value;
use crate::words::{Counted, Expression, Need};
use crate::{EntryRow, EntryWords, Keys, Result, Search, SearchHit, SearchScope, TenantId};

pub(super) use terms::{Matches, Terms};

/// Returns those that are new.
const INSERT_KEYS: &str = "\
    INSERT INTO indexed_entries (tenant, key, words, counts) \
        SELECT $1, i.* FROM unnest($2, $3, $4) AS i \
    ON CONFLICT (tenant, key) DO NOTHING RETURNING key, number";

const INSERT_WORDS: &str = "\
    INSERT INTO entry_words (tenant, entry, word, count) \
        SELECT $1, w.* FROM unnest($2, $3, $4) AS w";

/// The position is there for the sake of decoding.
const SELECT_UNINDEXED: &str = "\
    SELECT CAST(0 AS BIGINT), e.key, e.raw, e.wire, e.tokens FROM entries AS e \
    WHERE e.tenant = $1 AND e.key > $3 AND NOT EXISTS (SELECT 1 FROM indexed_entries AS i \
        WHERE i.tenant = $1 AND i.key = e.key) ORDER BY e.key LIMIT $2";

/// From the nodes that a query starts with up to the root: every entry there in its last place.
macro_rules! places {
    ($start:literal, $at:literal) => {
        concat!(
            "WITH RECURSIVE path (digest, parent, entry, position, conversation) AS ( \
                SELECT digest, parent, entry, position, conversation FROM nodes \
                    WHERE tenant = $1 AND ",
            $start,
            " = ",
            $at,
            " \
                UNION \
                SELECT n.digest, n.parent, n.entry, n.position, n.conversation FROM path \
                    JOIN nodes AS n ON n.tenant = $1 AND n.digest = path.parent \
            ), place AS ( \
                SELECT DISTINCT ON (entry) entry, digest, position, conversation \
                    FROM path ORDER BY entry, position DESC, digest \
            )"
        )
    };
}

/// Of every entry there how often it has each term. The cost goes by the entries there and not by how many others there are.
macro_rules! ancestry {
    ($start:literal) => {
        concat!(
            places!($start, "$4"),
            ", searched AS MATERIALIZED ( \
                SELECT i.number, i.key, i.words, place.digest, place.position, place.conversation \
                    FROM place JOIN indexed_entries AS i ON i.tenant = $1 AND i.key = place.entry \
            ) \
            SELECT s.key, s.digest, s.position, s.conversation, s.words, term.place, found.count, \
                (SELECT count(*) FROM searched), \
                (SELECT CAST(sum(words) AS BIGINT) FROM searched) \
            FROM searched AS s \
                CROSS JOIN unnest($2, $3) WITH ORDINALITY AS term (first, behind, place) \
                CROSS JOIN LATERAL (SELECT CAST(sum(w.count) AS BIGINT) AS count \
                    FROM entry_words AS w WHERE w.entry = s.number \
                        AND w.word >= term.first AND w.word < term.behind) AS found \
            WHERE found.count IS NOT NULL"
        )
    };
}

/// The words of an entry, a line for each, also of one whose words were stored before there was a key.
macro_rules! counts {
    () => {
        "COALESCE(i.counts, (SELECT convert_to(string_agg(w.count || ' ' || w.word, E'\\n'), 'UTF8') \
            FROM entry_words AS w WHERE w.entry = i.number), CAST('' AS BYTEA))"
    };
}

/// Of every entry there all of its words.
macro_rules! scanned {
    ($start:literal) => {
        concat!(
            places!($start, "$2"),
            " SELECT i.key, place.digest, place.position, place.conversation, ",
            counts!(),
            " FROM place JOIN indexed_entries AS i ON i.tenant = $1 AND i.key = place.entry"
        )
    };
}

const SEARCH_BRANCH: &str = ancestry!("digest");

const SEARCH_CONVERSATION: &str = ancestry!("conversation");

const SCAN_BRANCH: &str = scanned!("digest");

const SCAN_CONVERSATION: &str = scanned!("conversation");

const SCAN_TENANT: &str = concat!(
    "SELECT i.key, n.digest, n.position, n.conversation, ",
    counts!(),
    " FROM indexed_entries AS i \
        CROSS JOIN LATERAL (SELECT digest, position, conversation FROM nodes \
            WHERE tenant = $1 AND entry = i.key ORDER BY position DESC, digest LIMIT 1) AS n \
        WHERE i.tenant = $1"
);

impl Search for PostgresStore {
    fn index(
        &self,
        tenant: &TenantId,
        words: &[EntryWords],
    ) -> impl Future<Output = Result<()>> + Send {
        index(&self.connections, tenant, words)
    }

    fn unindexed(
        &self,
        tenant: &TenantId,
        after: Option<Digest>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        unindexed(&self.connections, tenant, after, limit)
    }

    fn search(
        &self,
        tenant: &TenantId,
        scope: &SearchScope,
        query: &str,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<SearchHit>>> + Send {
        search(&self.connections, tenant, scope, query, limit)
    }
}

/// Words that are ready to be stored. Made before a transaction begins, because it takes a while.
pub(super) struct Prepared(BTreeMap<Digest, Words>);

/// The words of an entry, one by one for the index, or all of them encrypted.
enum Words {
    Clear(Counted),
    Sealed(Vec<u8>),
}

pub(super) fn prepared<'a>(
    keys: &Keys,
    tenant: &TenantId,
    words: impl IntoIterator<Item = &'a EntryWords>,
) -> Result<Prepared> {
    let words = words.into_iter().map(|EntryWords { key, text }| {
        let counted = Counted::of(text);
        if keys.is_empty() {
            return Ok((*key, Words::Clear(counted)));
        }
        let lines = counted.to_bytes();
        let sealed = keys.seal(tenant, Value::Words(key), &lines)?;
        Ok((*key, Words::Sealed(sealed.into_owned())))
    });
    words.collect::<Result<_>>().map(Prepared)
}

impl Words {
    /// How many there are; what is encrypted does not say.
    const fn total(&self) -> i64 {
        match self {
            Self::Clear(counted) => counted.total,
            Self::Sealed(_) => 0,
        }
    }

    fn sealed(&self) -> Option<&[u8]> {
        match self {
            Self::Clear(_) => None,
            Self::Sealed(bytes) => Some(bytes),
        }
    }
}

/// Part of a transaction that the caller commits.
pub(super) async fn insert(
    connection: &mut PgConnection,
    tenant: &TenantId,
    Prepared(words): &Prepared,
) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let totals = words.values().map(Words::total);
    let sealed = words.values().map(Words::sealed);
    let rows = query(INSERT_KEYS)
        .bind(tenant.as_str())
        .bind(words.keys().map(blob).collect::<Vec<_>>())
        .bind(totals.collect::<Vec<_>>())
        .bind(sealed.collect::<Vec<_>>())
        .fetch_all(&mut *connection)
        .await?;
    let (mut numbers, mut texts, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        let key = decode::digest(row.try_get(0)?)?;
        let number: i64 = row.try_get(1)?;
        let Some(Words::Clear(counted)) = words.get(&key) else {
            continue;
        };
        for (word, count) in &counted.counts {
            numbers.push(number);
            texts.push(word.as_str());
            counts.push(*count);
        }
    }
    if numbers.is_empty() {
        return Ok(());
    }
    query(INSERT_WORDS)
        .bind(tenant.as_str())
        .bind(numbers)
        .bind(texts)
        .bind(counts)
        .execute(connection)
        .await?;
    Ok(())
}

async fn index(connections: &Connections, tenant: &TenantId, words: &[EntryWords]) -> Result<()> {
    let words = prepared(connections.keys(), tenant, words)?;
    let mut transaction = connections.begin().await?;
    insert(&mut transaction, tenant, &words).await?;
    transaction.commit().await?;
    Ok(())
}

async fn unindexed(
    connections: &Connections,
    tenant: &TenantId,
    after: Option<Digest>,
    limit: u32,
) -> Result<Vec<EntryRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(SELECT_UNINDEXED)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .bind(after_key(after.as_ref()))
        .fetch_all(&mut *transaction)
        .await?;
    let placed = rows.iter().map(decode::placed_entry);
    placed
        .map(|placed| connections.keys().open_entry(tenant, placed?.1))
        .collect()
}

/// Nothing stands behind no key at all.
fn after_key(after: Option<&Digest>) -> &[u8] {
    after.map_or(&[], |key| key.as_bytes())
}

async fn search(
    connections: &Connections,
    tenant: &TenantId,
    scope: &SearchScope,
    text: &str,
    limit: u32,
) -> Result<Vec<SearchHit>> {
    for need in [Need::All, Need::Any] {
        let Some(expression) = Expression::of(text, need) else {
            break;
        };
        let hits = match connections.keys().is_empty() {
            true => matching(connections, tenant, scope, &expression, limit).await?,
            false => scanned(connections, tenant, scope, &expression, limit).await?,
        };
        if !hits.is_empty() {
            return Ok(hits);
        }
    }
    Ok(Vec::new())
}

async fn matching(
    connections: &Connections,
    tenant: &TenantId,
    scope: &SearchScope,
    expression: &Expression,
    limit: u32,
) -> Result<Vec<SearchHit>> {
    let statement = match scope {
        SearchScope::Branch(_) => SEARCH_BRANCH,
        SearchScope::Conversation(_) => SEARCH_CONVERSATION,
        SearchScope::Tenant => {
            return tenant::matching(connections, tenant, expression, limit).await;
        }
    };
    let terms = Terms::of(expression);
    let statement = query(statement)
        .bind(tenant.as_str())
        .bind(terms.first)
        .bind(terms.behind);
    let statement = match scope {
        SearchScope::Branch(tip) => statement.bind(blob(tip)),
        SearchScope::Conversation(id) => statement.bind(id.as_str()),
        SearchScope::Tenant => statement,
    };
    let mut transaction = connections.begin().await?;
    let rows = statement.fetch_all(&mut *transaction).await?;
    let mut matches = Matches::new(expression);
    for row in &rows {
        let hit = decode::place(row)?;
        matches.add(row, 4, hit.entry, hit)?;
    }
    Ok(bag::best(matches.scored(), limit))
}

/// What is encrypted is looked through, entry by entry.
async fn scanned(
    connections: &Connections,
    tenant: &TenantId,
    scope: &SearchScope,
    expression: &Expression,
    limit: u32,
) -> Result<Vec<SearchHit>> {
    let statement = match scope {
        SearchScope::Branch(tip) => query(SCAN_BRANCH).bind(tenant.as_str()).bind(blob(tip)),
        SearchScope::Conversation(id) => query(SCAN_CONVERSATION)
            .bind(tenant.as_str())
            .bind(id.as_str()),
        SearchScope::Tenant => query(SCAN_TENANT).bind(tenant.as_str()),
    };
    let keys = connections.keys();
    let mut transaction = connections.begin().await?;
    let mut rows = statement.fetch(&mut *transaction);
    let mut found = Found::new(expression);
    while let Some(row) = rows.try_next().await? {
        let hit = decode::place(&row)?;
        let lines: Vec<u8> = row.try_get(4)?;
        let lines = keys.open(tenant, Value::Words(&hit.entry), lines.into())?;
        found.add(&lines, hit)?;
    }
    Ok(found.best(limit))
}
