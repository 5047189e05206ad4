//! Statements, and how values are handed to them.

use epitome::Digest;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

/// A statement without a name: a pooler gives the connection of the server to somebody else after the transaction.
pub(super) fn query<'a>(sql: &'static str) -> Query<'a, Postgres, PgArguments> {
    sqlx::query(sql).persistent(false)
}

/// Sorted, so that two writers take the same locks in the same order, and each once.
pub(super) fn sorted(digests: &[Digest]) -> Vec<&[u8]> {
    let mut digests: Vec<&[u8]> = digests.iter().map(blob).collect();
    digests.sort_unstable();
    digests.dedup();
    digests
}

pub(super) fn blob(digest: &Digest) -> &[u8] {
    digest.as_bytes()
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
