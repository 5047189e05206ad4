//! What can go wrong, by what a caller can do about it.
//!
//! - `codes`: which error it is, by what a database calls it.

use std::path::PathBuf;

use epitome::Digest;
use sqlx::migrate::MigrateError;
use sqlx::postgres::PgDatabaseError;
use sqlx::sqlite::SqliteError;

mod codes;

/// The result of every store operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The underlying error, kept for logs.
pub type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Why a store operation failed. A failed write has changed nothing; after [`Unreachable`](Self::Unreachable) alone it may
/// have happened as a whole, where a server was lost while it committed.
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
    /// The server of the database does not answer, or went away in the middle. The same call may succeed later.
    #[error(
        "the database server does not answer: see that it runs, and that host and port of the store's location are right"
    )]
    Unreachable(#[source] Source),
    /// The server of the database knows no such user, or not with this password.
    #[error(
        "the database server refuses the user or the password: check both in the store's location"
    )]
    Login(#[source] Source),
    /// No connection was free in time, here or at the server. The same call may succeed later.
    #[error(
        "no connection to the database was free in time: try again, or raise max_connections in the store's location or \
         at the server"
    )]
    NoConnection(#[source] Source),
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
    /// The file is a sound database of another program, or another program has tables with our names in it. Nothing was
    /// changed.
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
    /// What is given stands on a conversation that was deleted, and does not bring it back.
    #[error("the conversation was deleted")]
    Deleted,
    /// Engines put these conversations together from the one that was to be deleted. Nothing was changed.
    #[error(
        "conversation {id} cannot be deleted: {} forked off from it; delete what forked off first",
        forks.join(", ")
    )]
    Forked {
        /// The conversation that was to be deleted.
        id: String,
        /// Those that branched off.
        forks: Vec<String>,
    },
    /// A tenant has one secret in a snapshot and another here, so that no link of the one would be known in the other.
    #[error(
        "tenant {tenant} has another secret in this store: import into one that this tenant has never used"
    )]
    OtherSecret {
        /// The tenant.
        tenant: String,
    },
    /// A snapshot cannot be read.
    #[error("the export cannot be read: {problem}")]
    BadSnapshot {
        /// What is wrong with it.
        problem: String,
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
    #[error(
        "unknown store scheme {scheme:?}: a location is sqlite:PATH, sqlite::memory: or postgres://…"
    )]
    UnknownScheme {
        /// The text before the first colon, empty if there is no colon.
        scheme: String,
    },
    /// A `sqlite:` location names no file.
    #[error("the store has no path: a location is sqlite:PATH or sqlite::memory:")]
    NoPath,
    /// A `postgres:` location cannot be read. It may hold a password and is not repeated.
    #[error(
        "the location of the store cannot be read: {problem}; it is postgres://USER:PASSWORD@HOST:PORT/DATABASE"
    )]
    BadLocation {
        /// What is wrong with it.
        problem: String,
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
    /// Values of the store are encrypted, and no key was given.
    #[error(
        "the store is encrypted and no key was given: give it in EPITOME_STORE_KEY, or its file with --key-file or \
         server.store_key_file"
    )]
    KeyNeeded,
    /// Values of the store are encrypted with a key that is not among those that were given.
    #[error(
        "the store is encrypted with another key, whose name is {id}: give that one too, behind the one that is to write"
    )]
    WrongKey {
        /// What the key is called, which tells nothing of it.
        id: String,
    },
    /// A key cannot be read. It is not repeated.
    #[error(
        "the key of the store cannot be read: {problem}; a key is 64 hexadecimal digits, such as `openssl rand -hex 32` \
         prints"
    )]
    BadKey {
        /// What is wrong with it.
        problem: String,
    },
    /// The system gives no random numbers, so nothing can be encrypted.
    #[error("the system gives no random numbers, so nothing can be encrypted")]
    NoRandom,
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
            sqlx::Error::Database(inner) => {
                let code = inner.code();
                let code = code.as_deref().unwrap_or_default();
                let variant = if inner.try_downcast_ref::<SqliteError>().is_some() {
                    codes::of_sqlite(code)
                } else if inner.try_downcast_ref::<PgDatabaseError>().is_some() {
                    codes::of_postgres(code)
                } else {
                    Self::Database
                };
                variant(Box::new(error))
            }
            sqlx::Error::Io(_) => Self::Unreachable(Box::new(error)),
            sqlx::Error::Tls(_) => Self::CannotOpen(Box::new(error)),
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
