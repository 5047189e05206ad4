//! What can go wrong, by what a caller can do about it.

use std::path::PathBuf;

use epitome::Digest;
use sqlx::migrate::MigrateError;
use sqlx::sqlite::SqliteError;

/// The result of every store operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The underlying error, kept for logs.
pub type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Why a store operation failed. A failed write has changed nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database, its file or its folder cannot be written. Reads may still work.
    #[error("the store is read-only")]
    ReadOnly(#[source] Source),
    /// The disk or a quota is full. The same write may succeed after space is freed.
    #[error("the disk of the store is full")]
    Full(#[source] Source),
    /// The file is not a database, is damaged, or holds a value that this crate never writes.
    #[error("the store is corrupt")]
    Corrupt(#[source] Source),
    /// Another process or task held the write lock for too long. The same call may succeed later.
    #[error("the store is busy")]
    Busy(#[source] Source),
    /// The location cannot be opened: a missing file, a missing right.
    #[error("the store cannot be opened")]
    CannotOpen(#[source] Source),
    /// A newer epitome wrote this database. Nothing was changed.
    #[error(
        "a later version of epitome wrote this store: its schema is version {found}, this program knows up to {known}; \
         use that version, or name another store (nothing was changed)"
    )]
    NewerSchema {
        /// The version that the database has.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The file is a sound database of another program. Nothing was changed.
    #[error("the file is a database of another program")]
    ForeignFile,
    /// An entry with this key is stored with different bytes.
    #[error("entry {key} is already stored with different bytes")]
    Conflict {
        /// The key that was given for two contents.
        key: Digest,
    },
    /// A compaction with this id is stored already, for another epoch or undone; or a memory with another key.
    #[error("the id {id:?} is taken")]
    IdTaken {
        /// The id that was given twice.
        id: String,
    },
    /// A node names a parent, an entry or a conversation that is not stored, or a compaction names a node or a conversation.
    #[error("a row refers to one that is not stored")]
    Dangling(#[source] Source),
    /// No compaction of this tenant has this id.
    #[error("no compaction {id:?}")]
    UnknownCompaction {
        /// The id that was asked for.
        id: String,
    },
    /// The compaction was undone; an undone compaction is never published again.
    #[error("compaction {id:?} was undone")]
    Undone {
        /// The id that was asked for.
        id: String,
    },
    /// A value exceeds what the database can hold (SQLite: 1,000,000,000 bytes).
    #[error("a value is too large for the store")]
    TooLarge(#[source] Source),
    /// A tenant or conversation id is not 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
    #[error("{id:?} is not a valid {kind}: 1 to 64 characters of A-Z a-z 0-9 . _ -")]
    InvalidId {
        /// What the id was meant to name.
        kind: &'static str,
        /// The start of the rejected text.
        id: String,
    },
    /// A store location has no scheme, or one that nobody knows. The rest of it may hold a password and is not repeated.
    #[error("unknown store scheme {scheme:?}: a location is sqlite:PATH or sqlite::memory:")]
    UnknownScheme {
        /// The text before the first colon, empty if there is no colon.
        scheme: String,
    },
    /// A `sqlite:` location names no file.
    #[error("the store has no path: a location is sqlite:PATH or sqlite::memory:")]
    NoPath,
    /// The scheme is known, but this build has no such store.
    #[error("{scheme} stores are not available yet: use sqlite:PATH")]
    Unavailable {
        /// The scheme that was asked for.
        scheme: &'static str,
    },
    /// The file system refused before the database was involved: a folder in place of a file, or the reverse.
    #[error("cannot prepare {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The schema could not be brought up to date.
    #[error("the schema of the store cannot be migrated")]
    Migration(#[source] Source),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// Any other failure of the database.
    #[error("the database failed")]
    Database(#[source] Source),
}

impl Error {
    /// A stored value that this crate cannot have written.
    pub(crate) fn corrupt(what: impl Into<Source>) -> Self {
        Self::Corrupt(what.into())
    }

    /// Sorts an operating-system error by what a caller can do.
    pub(crate) fn io(path: PathBuf, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match source.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly(Box::new(source))
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full(Box::new(source)),
            _ => Self::Io { path, source },
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(inner) => match inner.try_downcast_ref::<SqliteError>() {
                Some(_) => sqlite_variant(inner.code().as_deref())(Box::new(error)),
                None => Self::Database(Box::new(error)),
            },
            sqlx::Error::PoolTimedOut => Self::Busy(Box::new(error)),
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                Self::Corrupt(Box::new(error))
            }
            _ => Self::Database(Box::new(error)),
        }
    }
}

impl From<MigrateError> for Error {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(inner) | MigrateError::ExecuteMigration(inner, _) => inner.into(),
            other => Self::Migration(Box::new(other)),
        }
    }
}

/// The variant for a SQLite result code; its low byte is the primary code.
fn sqlite_variant(code: Option<&str>) -> fn(Source) -> Error {
    const FOREIGN_KEY: i32 = 787;
    let code: i32 = code.and_then(|code| code.parse().ok()).unwrap_or_default();
    match (code, code & 0xff) {
        (FOREIGN_KEY, _) => Error::Dangling,
        (_, 5 | 6) => Error::Busy,
        (_, 3 | 8) => Error::ReadOnly,
        (_, 11 | 26) => Error::Corrupt,
        (_, 13) => Error::Full,
        (_, 14) => Error::CannotOpen,
        (_, 18) => Error::TooLarge,
        _ => Error::Database,
    }
}
