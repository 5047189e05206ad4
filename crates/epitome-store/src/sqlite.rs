//! A store in one SQLite file.

mod append;
mod arguments;
mod beliefs;
mod chains;
mod changes;
mod compactions;
mod conversations;
mod counted;
mod decode;
mod deleted;
mod entries;
mod file;
mod housekeeping;
mod jobs;
mod leases;
mod memories;
mod outcomes;
mod pins;
mod pool;
mod schema;
mod search;
mod tenants;
mod transaction;
mod turns;
mod usage;

#[cfg(test)]
#[path = "sqlite_tests.rs"]
mod tests;

use std::path::Path;

use sqlx::SqlitePool;

use crate::{Keys, Result, Store};

/// A store in one SQLite file, or in memory. A clone is another handle to the same store.
///
/// **Durability.** The file is in write-ahead mode with `synchronous = NORMAL`. A commit survives the death of this
/// process, `kill -9` included. A crash of the operating system or a loss of power may lose the last commits, always
/// the newest ones and always whole; it never corrupts the file. Clients resend their history, so the next request
/// writes lost entries again.
///
/// **Concurrency.** One connection writes and a few read; readers and the writer never wait for each other. Several
/// processes on one machine may open the same file; a write waits up to 5 seconds for another process's, then fails
/// with [`Busy`](crate::Error::Busy). The file must not be on a network file system.
///
/// **Privacy.** A new file, and new folders above it, can be read by their owner only (on Unix).
#[derive(Debug, Clone)]
pub struct SqliteStore {
    readers: SqlitePool,
    /// The one connection that writes; in a read-only store the readers again, so that SQLite itself refuses.
    writer: SqlitePool,
    access: Access,
    /// What values are encrypted with.
    keys: Keys,
    /// What was opened; memory has no place.
    place: Option<file::Place>,
}

// Each noun of the trait has its module here. Their methods say `+ Send` themselves: callers that spawn an `async fn` would
// make the compiler look inside, where it gives up on sqlx's traits ("not general enough").

/// Whether a store takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    ReadWrite,
    ReadOnly,
}

impl SqliteStore {
    /// Opens the file at `path`, creating it and its folders when missing, and brings its schema up to date.
    ///
    /// A file or folder that cannot be written is opened for reading: [`is_read_only`](Self::is_read_only) tells, and
    /// writes fail with [`ReadOnly`](crate::Error::ReadOnly).
    ///
    /// Touches the file system on the calling thread; meant for start-up.
    ///
    /// # Errors
    /// [`Corrupt`](crate::Error::Corrupt), [`ForeignFile`](crate::Error::ForeignFile) or
    /// [`NewerSchema`](crate::Error::NewerSchema) when the file is not one of ours or from a later version; nothing is
    /// written then. [`ReadOnly`](crate::Error::ReadOnly) when it would have to be created or migrated but cannot be
    /// written. [`KeyNeeded`](crate::Error::KeyNeeded) when it is encrypted.
    pub fn open(path: impl AsRef<Path>) -> impl Future<Output = Result<Self>> + Send {
        file::open(path.as_ref().to_owned(), Keys::none())
    }

    /// Opens an existing, up-to-date file for reading; never writes to it.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and [`CannotOpen`](crate::Error::CannotOpen) when there is no such file.
    pub fn open_read_only(path: impl AsRef<Path>) -> impl Future<Output = Result<Self>> + Send {
        file::open_read_only(path.as_ref().to_owned(), Keys::none())
    }

    /// The same with keys. Only [`AnyStore`](crate::AnyStore) makes use of all of them.
    pub(crate) fn open_with(
        path: impl AsRef<Path>,
        keys: Keys,
    ) -> impl Future<Output = Result<Self>> + Send {
        file::open(path.as_ref().to_owned(), keys)
    }

    /// The same for reading.
    pub(crate) fn open_read_only_with(
        path: impl AsRef<Path>,
        keys: Keys,
    ) -> impl Future<Output = Result<Self>> + Send {
        file::open_read_only(path.as_ref().to_owned(), keys)
    }

    /// The same in memory.
    pub(crate) fn in_memory_with(keys: Keys) -> impl Future<Output = Result<Self>> + Send {
        file::in_memory(keys)
    }

    pub(crate) const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// A new, empty store that lives as long as its handles. One that runs out of memory loses its content.
    ///
    /// # Errors
    /// Only when the system is out of memory or threads.
    pub fn in_memory() -> impl Future<Output = Result<Self>> + Send {
        file::in_memory(Keys::none())
    }

    /// Whether the file was removed or replaced since it was opened: SQLite goes on writing to it, for nobody.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.place.as_ref().is_some_and(file::Place::is_gone)
    }

    /// Whether every write will fail with [`ReadOnly`](crate::Error::ReadOnly).
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.access == Access::ReadOnly
    }
}

impl Store for SqliteStore {
    fn close(&self) -> impl Future<Output = ()> + Send {
        pool::close(&self.readers, &self.writer)
    }
}
