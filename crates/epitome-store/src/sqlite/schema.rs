//! Whose file it is, and how new.

use sqlx::migrate::Migrator;
use sqlx::{SqliteConnection, SqlitePool};

use super::transaction::begin;
use crate::seal::KeyId;
use crate::statements as sql;
use crate::{Error, Keys, Result};

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
pub(super) async fn migrate(writer: &SqlitePool, keys: &Keys) -> Result<()> {
    let mut transaction = begin(writer).await?;
    found(&mut transaction).await?;
    // `run` takes a generic connection, and with it no caller of `open` could be spawned; this is its body.
    MIGRATOR.run_direct(None, &mut *transaction, false).await?;
    check(&mut transaction, keys).await?;
    // On a read-only file SQLite lets even this transaction begin; it refuses the first statement that could write.
    sqlx::query("DELETE FROM tenants WHERE FALSE")
        .execute(&mut *transaction)
        .await?;
    if let Some(id) = keys.writing() {
        sqlx::query(sql::INSERT_STORE_KEY)
            .bind(id.as_slice())
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Checks that a file we may not write is usable as it is.
pub(super) async fn verify(readers: &SqlitePool, keys: &Keys) -> Result<()> {
    let mut connection = readers.acquire().await?;
    match found(&mut connection).await? {
        // A file of an earlier version is read as it is: what came since are tables of their own.
        Found::Version(READABLE_FROM..) => check(&mut connection, keys).await,
        Found::Version(_) => Err(Error::ReadOnly("its schema needs an update".into())),
        Found::Nothing => Err(Error::ReadOnly("it is still empty".into())),
    }
}

/// Refuses a file that is encrypted with a key that was not given. One of an earlier version is not.
async fn check(connection: &mut SqliteConnection, keys: &Keys) -> Result<()> {
    if !has_table(connection, "store_keys").await? {
        return Ok(());
    }
    let stored: Vec<Vec<u8>> = sqlx::query_scalar(sql::SELECT_STORE_KEYS)
        .fetch_all(connection)
        .await?;
    let stored = stored.iter().filter_map(|id| id.as_slice().try_into().ok());
    keys.check(&stored.collect::<Vec<KeyId>>())
}

/// Whether there is a table, which an earlier version may not have.
pub(super) async fn has_table(connection: &mut SqliteConnection, name: &str) -> Result<bool> {
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = $1")
            .bind(name)
            .fetch_one(connection)
            .await?;
    Ok(tables > 0)
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
