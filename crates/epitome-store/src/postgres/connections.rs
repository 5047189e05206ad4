//! The one place that makes connections and begins transactions.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, PgPool, Postgres, Transaction};

use super::location::Location;
use crate::{Error, Keys, Result, clock};

/// How long a call waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the first connection may take, and the one that finds out why no other was made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the beginning of a transaction may take on a connection that was made, and a sign of life before it is used again. A
/// server that vanished without a word would be waited for for ever, and with it whoever needs the connection next.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The limits hold for the transaction only and travel with its beginning. A node that stops in the middle of one lets go of
/// its locks after half a minute. Statements that are done in milliseconds are not compiled first, which a server does to those
/// that look dear to it, and the more so the more it holds.
macro_rules! begin {
    ($mode:literal) => {
        concat!(
            "BEGIN ",
            $mode,
            "; SET LOCAL lock_timeout = 5000; SET LOCAL idle_in_transaction_session_timeout = 30000; \
             SET LOCAL jit = off"
        )
    };
}

/// Whether a store takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    ReadWrite,
    ReadOnly,
}

/// The connections of a store.
#[derive(Clone)]
pub(super) struct Connections {
    pool: PgPool,
    options: Arc<PgConnectOptions>,
    max_connections: u32,
    begin: &'static str,
    keys: Keys,
}

impl Connections {
    /// Makes none yet.
    pub(super) fn new(location: Location, access: Access, keys: Keys) -> Self {
        let pool = PgPoolOptions::new()
            .max_connections(location.max_connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // `begin` finds out by itself.
            .test_before_acquire(false)
            // Who stopped waiting for an answer leaves a connection that may never give one. It is ended, not kept.
            .after_release(|connection, _| {
                Box::pin(async move {
                    match clock::timeout(ANSWER_TIMEOUT, connection.ping()).await {
                        Ok(alive) => alive.map(|()| true),
                        Err(late) => Err(sqlx::Error::Io(std::io::Error::other(late))),
                    }
                })
            })
            .connect_lazy_with(location.options.clone());
        Self {
            pool,
            options: Arc::new(location.options),
            max_connections: location.max_connections,
            keys,
            begin: match access {
                Access::ReadWrite => begin!(""),
                Access::ReadOnly => begin!("READ ONLY"),
            },
        }
    }

    /// What values are encrypted with.
    pub(super) const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Begins a transaction. It is rolled back when dropped, behind the caller's back: one that only reads ends that way, so
    /// that nobody waits for its end.
    ///
    /// After a restart of the server all connections of the pool are dead. This is the first statement of every call, so
    /// here it is found out, and the next connection is tried.
    pub(super) async fn begin(&self) -> Result<Transaction<'static, Postgres>> {
        let mut tries = self.max_connections;
        loop {
            let begun = self.pool.begin_with(self.begin);
            let begun = clock::timeout(ACQUIRE_TIMEOUT + ANSWER_TIMEOUT, begun).await;
            match begun.map_err(|late| Error::Unreachable(late.into()))? {
                Ok(transaction) => return Ok(transaction),
                // It says that it waited, and not for what.
                Err(sqlx::Error::PoolTimedOut) => return Err(self.why_none().await),
                Err(error) => match error.into() {
                    Error::Unreachable(_) if tries > 0 => tries -= 1,
                    error => return Err(error),
                },
            }
        }
    }

    /// Begins a transaction that only reads, and sees one moment however long it takes.
    pub(super) async fn begin_snapshot(&self) -> Result<Transaction<'static, Postgres>> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        Ok(self.pool.begin_with(begin).await?)
    }

    /// Runs a statement that no transaction may hold.
    pub(super) async fn outside(&self, statement: &'static str) -> Result<()> {
        let mut connection = connect(&self.options).await?;
        sqlx::raw_sql(statement).execute(&mut connection).await?;
        end(connection).await;
        Ok(())
    }

    /// Why the pool had no connection in time: the server gives none, or all are in use.
    async fn why_none(&self) -> Error {
        match connect(&self.options).await {
            Ok(connection) => {
                end(connection).await;
                Error::NoConnection(sqlx::Error::PoolTimedOut.into())
            }
            Err(error) => error,
        }
    }

    pub(super) async fn close(&self) {
        self.pool.close().await;
    }
}

/// Ends a transaction that may hold locks: what went well is committed, anything else is rolled back before the caller goes on.
/// One that is only dropped is rolled back when its runtime gets round to it, and whoever wants the locks waits until then.
pub(super) async fn settle<T>(
    transaction: Transaction<'static, Postgres>,
    result: Result<T>,
) -> Result<T> {
    match result {
        Ok(done) => {
            transaction.commit().await?;
            Ok(done)
        }
        Err(error) => {
            // Where this fails the connection is gone, and the locks with it.
            let _ = transaction.rollback().await;
            Err(error)
        }
    }
}

/// Says good-bye to a connection outside of the pool. What it was for is done; whether it ends well does not matter.
pub(super) async fn end(connection: PgConnection) {
    let _ = connection.close().await;
}

/// A connection of its own, outside of any pool.
pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection> {
    match clock::timeout(CONNECT_TIMEOUT, PgConnection::connect_with(options)).await {
        Ok(connected) => Ok(connected?),
        Err(late) => Err(Error::Unreachable(late.into())),
    }
}
