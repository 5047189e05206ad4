//! How much a store holds.

/// The tables that are counted; what an earlier version does not have counts as empty.
pub(crate) const COUNTS: [(&str, &str); 10] = [
    ("tenants", "SELECT count(*) FROM tenants"),
    ("conversations", "SELECT count(*) FROM conversations"),
    ("entries", "SELECT count(*) FROM entries"),
    ("nodes", "SELECT count(*) FROM nodes"),
    ("compactions", "SELECT count(*) FROM compactions"),
    ("memories", "SELECT count(*) FROM memories"),
    ("turns", "SELECT count(*) FROM turns"),
    ("outcomes", "SELECT count(*) FROM outcomes"),
    ("deleted_nodes", "SELECT count(*) FROM deleted_nodes"),
    (
        "entry_bytes",
        "SELECT CAST(COALESCE(sum(length(raw)), 0) AS BIGINT) FROM entries",
    ),
];

pub(crate) const TOUCHED: &str = "SELECT min(touched_ms), max(touched_ms) FROM conversations";

/// `statistics`, on one connection. The statements give the names of the tables, the newest migration, and the bytes on disk.
macro_rules! statistics {
    ($connection:ty, $tables:expr, $schema:expr, $bytes:expr) => {
        async fn statistics(connection: &mut $connection) -> Result<StoreStatistics> {
            use crate::housekeeping::statistics as sql;
            let rows = query($tables).fetch_all(&mut *connection).await?;
            let tables = rows.iter().map(|row| Ok(row.try_get(0)?));
            let tables: Vec<String> = tables.collect::<Result<_>>()?;
            let mut found = StoreStatistics::default();
            for (name, statement) in sql::COUNTS {
                let table = if name == "entry_bytes" {
                    "entries"
                } else {
                    name
                };
                if !tables.iter().any(|one| one == table) {
                    continue;
                }
                let row = query(statement).fetch_one(&mut *connection).await?;
                let count = row.try_get::<i64, _>(0)?.unsigned_abs();
                match name {
                    "tenants" => found.tenants = count,
                    "conversations" => found.conversations = count,
                    "entries" => found.entries = count,
                    "nodes" => found.nodes = count,
                    "compactions" => found.compactions = count,
                    "memories" => found.memories = count,
                    "turns" => found.turns = count,
                    "outcomes" => found.outcomes = count,
                    "deleted_nodes" => found.deleted_nodes = count,
                    _ => found.entry_bytes = count,
                }
            }
            let row = query(sql::TOUCHED).fetch_one(&mut *connection).await?;
            found.oldest_ms = row.try_get(0)?;
            found.newest_ms = row.try_get(1)?;
            let row = query($schema).fetch_one(&mut *connection).await?;
            found.schema = row.try_get(0)?;
            let row = query($bytes).fetch_one(&mut *connection).await?;
            found.disk_bytes = row.try_get::<i64, _>(0)?.unsigned_abs();
            Ok(found)
        }
    };
}
pub(crate) use statistics;
