//! A store in a PostgreSQL database, for any number of nodes.

mod append;
mod beliefs;
mod chains;
mod changes;
mod compactions;
mod connections;
mod conversations;
mod counted;
mod decode;
mod deleted;
mod entries;
mod housekeeping;
mod jobs;
mod leases;
mod location;
mod memories;
mod outcomes;
mod pins;
mod query;
mod schema;
mod search;
mod tenants;
mod turns;
mod usage;

use std::fmt;

use crate::{Keys, Result, Store};
use connections::{Access, Connections};

/// A store in a PostgreSQL database (15 or later). A clone is another handle to the same store, with the same connections.
///
/// **Location.** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with the parameters of libpq that `sqlx` knows (`sslmode`,
/// `sslrootcert`, `host` for a folder of sockets …) and two more: `max_connections` (10 unless it is given), and `direct_url`, a
/// whole location with `%`-escapes that is used for migrations only, where a pooler stands between. Its parts are never part
/// of an error.
///
/// **Poolers.** Nothing is kept in a session: every call is one transaction of unnamed statements, so that it works through
/// PgBouncer in transaction mode, migrations included.
///
/// **Durability.** A call that has returned is committed as the server commits (`synchronous_commit`). A write that fails
/// with [`Unreachable`](crate::Error::Unreachable) may have happened, as a whole, when the server was lost during the commit.
///
/// **Concurrency.** Writers of one conversation wait for each other, others do not. Nobody waits longer than 5 seconds for a
/// lock ([`Busy`](crate::Error::Busy)) or 3 seconds for a connection ([`NoConnection`](crate::Error::NoConnection)). A server
/// that was away is used again with the first call after it is back.
///
/// **Time.** Leases go by the clock of the database server; clocks of nodes need not agree.
#[derive(Clone)]
pub struct PostgresStore {
    connections: Connections,
}

impl PostgresStore {
    /// Opens the database that `location` names and brings its schema up to date. Any number of nodes may do so at once.
    ///
    /// # Errors
    /// [`BadLocation`](crate::Error::BadLocation), [`Unreachable`](crate::Error::Unreachable), [`Login`](crate::Error::Login),
    /// [`NewerSchema`](crate::Error::NewerSchema), [`ForeignFile`](crate::Error::ForeignFile) or
    /// [`KeyNeeded`](crate::Error::KeyNeeded), with nothing changed;
    /// [`CannotOpen`](crate::Error::CannotOpen) when there is no such database or it is not in UTF-8;
    /// [`ReadOnly`](crate::Error::ReadOnly) when the schema would have to be made or migrated on a replica. A replica whose
    /// schema is up to date is opened: reads work, and writes too as soon as it is promoted.
    pub fn open(location: &str) -> impl Future<Output = Result<Self>> + Send {
        schema::open(location.to_owned(), Access::ReadWrite, Keys::none())
    }

    /// Opens an existing store for reading; never writes to it.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and [`CannotOpen`](crate::Error::CannotOpen) when the database holds no store.
    pub fn open_read_only(location: &str) -> impl Future<Output = Result<Self>> + Send {
        schema::open(location.to_owned(), Access::ReadOnly, Keys::none())
    }

    /// The same as [`open`](Self::open) with keys. Only [`AnyStore`](crate::AnyStore) makes use of all of them.
    pub(crate) fn open_with(
        location: &str,
        keys: Keys,
    ) -> impl Future<Output = Result<Self>> + Send {
        schema::open(location.to_owned(), Access::ReadWrite, keys)
    }

    /// The same for reading.
    pub(crate) fn open_read_only_with(
        location: &str,
        keys: Keys,
    ) -> impl Future<Output = Result<Self>> + Send {
        schema::open(location.to_owned(), Access::ReadOnly, keys)
    }

    pub(crate) const fn keys(&self) -> &Keys {
        self.connections.keys()
    }
}

impl fmt::Debug for PostgresStore {
    /// Without the location, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl Store for PostgresStore {
    fn close(&self) -> impl Future<Output = ()> + Send {
        self.connections.close()
    }
}
