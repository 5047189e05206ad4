//! The one place that makes connections.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqlitePool};

use crate::Result;

/// How long SQLite itself waits for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a call waits for a connection, longer than one blocked write may take.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// What the write-ahead file shrinks back to after a burst.
const WAL_BYTES_KEPT: &str = "67108864";

const READERS: u32 = 4;

/// How many rows SQLite's thread may be ahead of ours; each stop costs two thread switches.
const ROWS_AHEAD: usize = 1_024;

/// What a pool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The one connection that writes.
    Write,
    /// A few that only read, next to a writer or alone.
    Read,
    /// As `Read`, for a file that nobody can be changing, in a folder where SQLite cannot put its own files.
    ReadFrozen,
    /// One connection for everything, to a database in memory.
    Memory,
}

/// Connects at least once, so that a file that cannot be used is found out here.
pub(super) async fn open(path: &Path, purpose: Purpose) -> Result<SqlitePool> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Normal)
        .row_buffer_size(ROWS_AHEAD)
        .disable_statement_logging();
    let options = match purpose {
        Purpose::Write => options
            .journal_mode(SqliteJournalMode::Wal)
            .pragma("journal_size_limit", WAL_BYTES_KEPT),
        Purpose::Read => options.read_only(true),
        Purpose::ReadFrozen => options.read_only(true).immutable(true),
        Purpose::Memory => options.in_memory(true),
    };
    let connections = match purpose {
        Purpose::Write | Purpose::Memory => 1,
        Purpose::Read | Purpose::ReadFrozen => READERS,
    };
    let pool = SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_with(options)
        .await?;
    Ok(pool)
}

/// Readers go first, so that the writer is the last connection and folds the write-ahead file into the database.
pub(super) async fn close(readers: &SqlitePool, writer: &SqlitePool) {
    readers.close().await;
    writer.close().await;
}
