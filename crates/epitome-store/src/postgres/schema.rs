//! Whose database it is, and how new; and bringing it up to date.

use sqlx::migrate::Migrator;
use sqlx::{Connection as _, PgConnection, Row as _};

use super::PostgresStore;
use super::connections::{Access, Connections, connect, end};
use super::location::Location;
use super::query::query;
use crate::seal::KeyId;
use crate::statements as sql;
use crate::{Error, Keys, Result};

static MIGRATOR: Migrator = sqlx::migrate!("migrations/postgres");

/// Any number that nobody else in the database is likely to lock: "epitome", in bytes.
const LOCK: i64 = 0x65_7069_746f_6d65;

const CREATE_TABLE: &str = "\
    CREATE TABLE IF NOT EXISTS epitome_migrations ( \
        version BIGINT PRIMARY KEY, checksum BYTEA NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())";

const DUPLICATE_TABLE: &str = "42P07";

/// What a database holds before we touch it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Version(i64),
}

pub(super) async fn open(location: String, access: Access, keys: Keys) -> Result<PostgresStore> {
    let location = Location::parse(&location)?;
    // A connection of its own says at once what is wrong; a pool would go on trying.
    let mut connection = connect(&location.options).await?;
    let found = found(&mut connection).await?;
    // Before anything is changed.
    let known_keys = store_keys(&mut connection).await?;
    end(connection).await;
    keys.check(&known_keys)?;
    match (found, access) {
        (Found::Version(version), _) if version == known() => {}
        (_, Access::ReadWrite) => migrate(&location).await?,
        // There is no earlier version that could be read as it is.
        (Found::Version(_), Access::ReadOnly) => {
            return Err(Error::ReadOnly("its schema needs an update".into()));
        }
        (Found::Nothing, Access::ReadOnly) => {
            return Err(Error::CannotOpen("the database holds no store yet".into()));
        }
    }
    let new_key = keys.writing().filter(|id| !known_keys.contains(id));
    let connections = Connections::new(location, access, keys);
    if let (Some(id), Access::ReadWrite) = (new_key, access) {
        let mut transaction = connections.begin().await?;
        query(sql::INSERT_STORE_KEY)
            .bind(id.to_vec())
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
    }
    Ok(PostgresStore { connections })
}

/// The names of the keys that values are encrypted with; none in a schema of an earlier version.
async fn store_keys(connection: &mut PgConnection) -> Result<Vec<KeyId>> {
    let mut transaction = connection.begin().await?;
    let row = query("SELECT to_regclass('store_keys') IS NOT NULL")
        .fetch_one(&mut *transaction)
        .await?;
    if !row.try_get::<bool, _>(0)? {
        return Ok(Vec::new());
    }
    let rows = query(sql::SELECT_STORE_KEYS)
        .fetch_all(&mut *transaction)
        .await?;
    let id = |row: &sqlx::postgres::PgRow| {
        let id: Vec<u8> = row.try_get(0)?;
        id.try_into()
            .map_err(|_| Error::corrupt("the name of a key has another length"))
    };
    rows.iter().map(id).collect()
}

/// Creates or updates the schema in one transaction. Its lock ends with it, so that of several nodes one does it and the others
/// find it done, and it works through a pooler.
async fn migrate(location: &Location) -> Result<()> {
    let mut connection = connect(&location.direct).await?;
    let mut transaction = connection.begin().await?;
    query("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *transaction)
        .await?;
    version(&mut transaction).await?;
    query(CREATE_TABLE).execute(&mut *transaction).await?;
    // One by one: a number may have been left out when the next one was made.
    let rows = query("SELECT version FROM epitome_migrations")
        .fetch_all(&mut *transaction)
        .await?;
    let done = rows.iter().map(|row| row.try_get(0));
    let done: Vec<i64> = done.collect::<Result<_, _>>()?;
    for migration in MIGRATOR.iter().filter(|one| !done.contains(&one.version)) {
        let script = sqlx::raw_sql(migration.sql.clone());
        script.execute(&mut *transaction).await.map_err(ours)?;
        query("INSERT INTO epitome_migrations (version, checksum) VALUES ($1, $2)")
            .bind(migration.version)
            .bind(migration.checksum.as_ref())
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    end(connection).await;
    Ok(())
}

/// A table of the same name that no migration of ours has made is somebody else's.
fn ours(error: sqlx::Error) -> Error {
    match &error {
        sqlx::Error::Database(inner) if inner.code().as_deref() == Some(DUPLICATE_TABLE) => {
            Error::ForeignFile
        }
        _ => error.into(),
    }
}

async fn found(connection: &mut PgConnection) -> Result<Found> {
    let mut transaction = connection.begin().await?;
    let row = query("SELECT current_setting('server_encoding')")
        .fetch_one(&mut *transaction)
        .await?;
    let encoding: String = row.try_get(0)?;
    if encoding != "UTF8" {
        let problem = format!("its encoding is {encoding}: create it with ENCODING 'UTF8'");
        return Err(Error::CannotOpen(problem.into()));
    }
    version(&mut transaction).await
}

async fn version(connection: &mut PgConnection) -> Result<Found> {
    let row = query("SELECT to_regclass('epitome_migrations') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await?;
    if !row.try_get::<bool, _>(0)? {
        return Ok(Found::Nothing);
    }
    let row = query("SELECT coalesce(max(version), 0) FROM epitome_migrations")
        .fetch_one(connection)
        .await?;
    let (version, known) = (row.try_get(0)?, known());
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
