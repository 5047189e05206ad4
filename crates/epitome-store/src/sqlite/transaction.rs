//! Beginning a transaction.

use sqlx::{Sqlite, SqlitePool, Transaction};

use crate::Result;

/// Takes the write lock at once: a transaction that began as a reader could fail half-way.
const BEGIN: &str = "BEGIN IMMEDIATE";

/// Begins a write. It is rolled back when dropped.
pub(super) async fn begin(writer: &SqlitePool) -> Result<Transaction<'static, Sqlite>> {
    match writer.begin_with(BEGIN).await {
        Err(sqlx::Error::InvalidSavePointStatement) => {
            replace_connection(writer).await?;
            Ok(writer.begin_with(BEGIN).await?)
        }
        result => Ok(result?),
    }
}

/// SQLite ends a transaction by itself when the disk is full or fails. The roll-back that follows then finds none, and
/// sqlx goes on counting one that no longer exists: such a connection could never begin another.
async fn replace_connection(writer: &SqlitePool) -> Result<()> {
    let connection = writer.acquire().await?;
    connection.close().await?;
    Ok(())
}
