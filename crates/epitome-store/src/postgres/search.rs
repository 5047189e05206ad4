//! The words of entries: keeping them, and finding entries by them.

mod terms;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use epitome::Digest;
use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::query::{blob, query};
use crate::words::{Counted, Expression, Need};
use crate::{EntryRow, EntryWords, Result, Search, SearchHit, SearchScope, TenantId};

pub(super) use terms::{Matches, Terms};

/// Returns those that are new.
const INSERT_KEYS: &str = "\
    INSERT INTO indexed_entries (tenant, key, words) SELECT $1, i.* FROM unnest($2, $3) AS i \
    ON CONFLICT (tenant, key) DO NOTHING RETURNING key, number";

const INSERT_WORDS: &str = "\
    INSERT INTO entry_words (tenant, entry, word, count) \
        SELECT $1, w.* FROM unnest($2, $3, $4) AS w";

/// The position is there for the sake of decoding.
const SELECT_UNINDEXED: &str = "\
    SELECT CAST(0 AS BIGINT), e.key, e.raw, e.wire, e.tokens FROM entries AS e \
    WHERE e.tenant = $1 AND NOT EXISTS (SELECT 1 FROM indexed_entries AS i \
        WHERE i.tenant = $1 AND i.key = e.key) LIMIT $2";

/// From the nodes that a query starts with up to the root: every entry there in its last place, and of each how often it has
/// each term. The cost goes by the entries there and not by how many others there are.
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
            ), place AS ( \
                SELECT DISTINCT ON (entry) entry, digest, position, conversation \
                    FROM path ORDER BY entry, position DESC, digest \
            ), searched AS MATERIALIZED ( \
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

const SEARCH_BRANCH: &str = ancestry!("digest");

const SEARCH_CONVERSATION: &str = ancestry!("conversation");

const SEARCH_TENANT: &str = "\
    WITH found AS ( \
        SELECT w.entry, term.place, CAST(sum(w.count) AS BIGINT) AS count \
            FROM unnest($2, $3) WITH ORDINALITY AS term (first, behind, place) \
            JOIN entry_words AS w ON w.tenant = $1 \
                AND w.word >= term.first AND w.word < term.behind \
            GROUP BY w.entry, term.place \
    ) \
    SELECT i.key, n.digest, n.position, n.conversation, i.words, found.place, found.count, \
        (SELECT count(*) FROM indexed_entries WHERE tenant = $1), \
        (SELECT CAST(sum(words) AS BIGINT) FROM indexed_entries WHERE tenant = $1) \
    FROM found JOIN indexed_entries AS i ON i.number = found.entry AND i.tenant = $1 \
        CROSS JOIN LATERAL (SELECT digest, position, conversation FROM nodes \
            WHERE tenant = $1 AND entry = i.key ORDER BY position DESC, digest LIMIT 1) AS n";

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
        limit: u32,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        unindexed(&self.connections, tenant, limit)
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
pub(super) struct Prepared(BTreeMap<Digest, Counted>);

pub(super) fn prepared<'a>(words: impl IntoIterator<Item = &'a EntryWords>) -> Prepared {
    let words = words.into_iter();
    Prepared(words.map(|one| (one.key, Counted::of(&one.text))).collect())
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
    let totals = words.values().map(|counted| counted.total);
    let rows = query(INSERT_KEYS)
        .bind(tenant.as_str())
        .bind(words.keys().map(blob).collect::<Vec<_>>())
        .bind(totals.collect::<Vec<_>>())
        .fetch_all(&mut *connection)
        .await?;
    let (mut numbers, mut texts, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        let key = decode::digest(row.try_get(0)?)?;
        let number: i64 = row.try_get(1)?;
        for (word, count) in words.get(&key).into_iter().flat_map(|one| &one.counts) {
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
    let words = prepared(words);
    let mut transaction = connections.begin().await?;
    insert(&mut transaction, tenant, &words).await?;
    transaction.commit().await?;
    Ok(())
}

async fn unindexed(
    connections: &Connections,
    tenant: &TenantId,
    limit: u32,
) -> Result<Vec<EntryRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(SELECT_UNINDEXED)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .fetch_all(&mut *transaction)
        .await?;
    let placed = rows.iter().map(decode::placed_entry);
    placed
        .map(|placed| placed.map(|(_, entry)| entry))
        .collect()
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
        let hits = matching(connections, tenant, scope, &expression, limit).await?;
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
        SearchScope::Tenant => SEARCH_TENANT,
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
    let mut hits: Vec<SearchHit> = matches
        .scored()
        .into_iter()
        .map(|(hit, score)| SearchHit { score, ..hit })
        .collect();
    hits.sort_by(|left, right| {
        let best = right.score.total_cmp(&left.score);
        best.then_with(|| {
            let order = |hit: &SearchHit| (Reverse(hit.position), hit.entry);
            order(left).cmp(&order(right))
        })
    });
    hits.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(hits)
}
