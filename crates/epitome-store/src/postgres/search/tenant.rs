//! Entries of a whole tenant, found by their words. There may be millions of them, so only those are looked at that have the
//! rarest of what is needed, and how common a word is is counted no further than makes a difference.

use std::ops::Range;

use sqlx::{PgConnection, Row as _};

use super::super::connections::Connections;
use super::super::decode;
use super::super::query::query;
use super::{Matches, Terms};
use crate::bag;
use crate::rank::Searched;
use crate::words::Expression;
use crate::{Error, Result, SearchHit, TenantId};

/// How many entries have each term, as far as two thousand, and how long entries are, by as many of them: their keys are
/// digests, so that the first ones are any.
const HOW_COMMON: &str = "\
    WITH sample AS MATERIALIZED ( \
        SELECT words FROM indexed_entries WHERE tenant = $1 ORDER BY key LIMIT 2000 \
    ) \
    SELECT \
        (SELECT count(DISTINCT few.entry) FROM (SELECT w.entry FROM entry_words AS w \
            WHERE w.tenant = $1 AND w.word >= term.first AND w.word < term.behind \
            ORDER BY w.word LIMIT 2000) AS few), \
        (SELECT count(*) FROM sample), \
        (SELECT CAST(COALESCE(sum(words), 0) AS BIGINT) FROM sample) \
    FROM unnest($2, $3) WITH ORDINALITY AS term (first, behind, place) ORDER BY term.place";

/// The entries that have one of the words between the last two lists, ten thousand for each at most, and how often each has each
/// term. By their order words are found in their index and nowhere else.
const SEARCH: &str = "\
    WITH candidate AS MATERIALIZED ( \
        SELECT DISTINCT few.entry FROM unnest($4, $5) AS needed (first, behind) \
            CROSS JOIN LATERAL (SELECT w.entry FROM entry_words AS w \
                WHERE w.tenant = $1 AND w.word >= needed.first AND w.word < needed.behind \
                ORDER BY w.word LIMIT 10000) AS few \
    ) \
    SELECT i.key, n.digest, n.position, n.conversation, i.words, term.place, found.count, \
        CAST(0 AS BIGINT), CAST(0 AS BIGINT) \
    FROM candidate AS c \
        JOIN indexed_entries AS i ON i.number = c.entry AND i.tenant = $1 \
        CROSS JOIN unnest($2, $3) WITH ORDINALITY AS term (first, behind, place) \
        CROSS JOIN LATERAL (SELECT CAST(sum(w.count) AS BIGINT) AS count \
            FROM entry_words AS w WHERE w.entry = c.entry \
                AND w.word >= term.first AND w.word < term.behind) AS found \
        CROSS JOIN LATERAL (SELECT digest, position, conversation FROM nodes \
            WHERE tenant = $1 AND entry = i.key ORDER BY position DESC, digest LIMIT 1) AS n \
    WHERE found.count IS NOT NULL";

pub(super) async fn matching(
    connections: &Connections,
    tenant: &TenantId,
    expression: &Expression,
    limit: u32,
) -> Result<Vec<SearchHit>> {
    let terms = Terms::of(expression);
    let mut transaction = connections.begin().await?;
    let (having, searched) = how_common(&mut transaction, tenant, &terms).await?;
    let rarest = rarest(expression, &having);
    let of = |words: &[String]| words.get(rarest.clone()).unwrap_or_default().to_vec();
    let (first, behind) = (of(&terms.first), of(&terms.behind));
    let rows = query(SEARCH)
        .bind(tenant.as_str())
        .bind(terms.first)
        .bind(terms.behind)
        .bind(first)
        .bind(behind)
        .fetch_all(&mut *transaction)
        .await?;
    let mut matches = Matches::new(expression);
    for row in &rows {
        let hit = decode::place(row)?;
        matches.add(row, 4, hit.entry, hit)?;
    }
    Ok(bag::best(matches.scored_by(searched, &having), limit))
}

/// How many entries have each term, and what all of them are.
async fn how_common(
    connection: &mut PgConnection,
    tenant: &TenantId,
    terms: &Terms,
) -> Result<(Vec<usize>, Searched)> {
    let rows = query(HOW_COMMON)
        .bind(tenant.as_str())
        .bind(&terms.first)
        .bind(&terms.behind)
        .fetch_all(connection)
        .await?;
    let mut having = Vec::with_capacity(rows.len());
    let mut searched = Searched::default();
    for row in &rows {
        let count: i64 = row.try_get(0)?;
        having.push(usize::try_from(count).map_err(Error::corrupt)?);
        searched = Searched {
            texts: row.try_get(1)?,
            words: row.try_get(2)?,
        };
    }
    Ok((having, searched))
}

/// Of the sets of terms of which an entry must have one, the one that fewest have.
fn rarest(expression: &Expression, having: &[usize]) -> Range<usize> {
    let common = |range: &Range<usize>| {
        let having = having.get(range.clone()).unwrap_or_default();
        having.iter().sum::<usize>()
    };
    let needed = expression.needed().into_iter();
    needed.min_by_key(common).unwrap_or_default()
}
