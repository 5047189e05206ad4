//! Whose file it is, and how new.

use sqlx::migrate::Migrator;
use sqlx::{SqliteConnection, SqlitePool};

use super::transaction::begin;
use crate::{Error, Result};

static MIGRATOR: Migrator = sqlx::migrate!("migrations/sqlite");

/// "epit", written by the first migration.
const APPLICATION_ID: i64 = 0x6570_6974;

/// The oldest schema that is read without an update.
const READABLE_FROM: i64 = 2;

/// What a file holds before we touch it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Version(i64),
}

/// Creates or updates the schema. The write lock is held throughout, so that two processes cannot both do it.
pub(super) async fn migrate(writer: &SqlitePool) -> Result<()> {
    let mut transaction = begin(writer).await?;
    found(&mut transaction).await?;
    // `run` takes a generic connection, and with it no caller of `open` could be spawned; this is its body.
    MIGRATOR.run_direct(None, &mut *transaction, false).await?;
    // On a read-only file SQLite lets even this transaction begin; it refuses the first statement that could write.
    sqlx::query("DELETE FROM tenants WHERE FALSE")
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// Checks that a file we may not write is usable as it is.
pub(super) async fn verify(readers: &SqlitePool) -> Result<()> {
    let mut connection = readers.acquire().await?;
    match found(&mut connection).await? {
        // A file of an earlier version is read as it is: what came since are tables of their own.
        Found::Version(READABLE_FROM..) => Ok(()),
        Found::Version(_) => Err(Error::ReadOnly("its schema needs an update".into())),
        Found::Nothing => Err(Error::ReadOnly("it is still empty".into())),
    }
}

async fn found(connection: &mut SqliteConnection) -> Result<Found> {
    let (application, objects): (i64, i64) = sqlx::query_as(
        "SELECT (SELECT application_id FROM pragma_application_id), \
            (SELECT count(*) FROM sqlite_schema)",
    )
    .fetch_one(&mut *connection)
    .await?;
    match (application, objects) {
        (_, 0) => return Ok(Found::Nothing),
        (APPLICATION_ID, _) => {}
        _ => return Err(Error::ForeignFile),
    }
    let version: i64 = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await?;
    let known = known();
    if version > known {
        return Err(Error::NewerSchema {
            found: version,
            known,
        });
    }
    Ok(Found::Version(version))
}

fn known() -> i64 {
    let versions = MIGRATOR.iter().map(|migration| migration.version);
    versions.max().unwrap_or_default()
}
