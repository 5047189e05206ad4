//! How numbers and digests are handed to SQLite.

use epitome::Digest;
use sqlx::Sqlite;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;

/// Turns the digests in `$2`, laid end to end, into rows; one prepared statement serves any number of them.
macro_rules! wanted {
    () => {
        "WITH RECURSIVE wanted (start) AS ( \
            SELECT 1 UNION ALL SELECT start + 32 FROM wanted WHERE start + 32 < length($2) \
        ) "
    };
}
pub(super) use wanted;

/// Sorted, so that neighbours in the index are read together, and each once.
pub(super) fn laid_end_to_end(digests: &[Digest]) -> Vec<u8> {
    let mut digests = digests.to_vec();
    digests.sort_unstable();
    digests.dedup();
    let bytes = digests.iter().flat_map(Digest::as_bytes);
    bytes.copied().collect()
}

pub(super) fn blob(digest: &Digest) -> &[u8] {
    digest.as_bytes()
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A statement that both databases accept.
pub(super) fn query<'a>(sql: &'static str) -> Query<'a, Sqlite, SqliteArguments> {
    sqlx::query(sql)
}
