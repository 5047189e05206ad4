//! A PostgreSQL server for tests, with a fresh database for each.
//!
//! The server is the one that `EPITOME_TEST_POSTGRES=URL` names, or a temporary one of this process, from Debian's package:
//! started when it is first asked for, on a socket in a temporary folder, and gone with the process, however that ends. Where
//! there is neither, that is said and reported as `SUITE-SKIPPED`.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on stops"
)]

mod account;
mod cluster;
mod pooler;
mod relay;
pub(crate) mod schemas;
mod watchdog;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::data::report;
pub use cluster::Cluster;
use pooler::Pooler;
pub use relay::Relay;

/// The variable that names a server to use instead of a temporary one. Its user must be allowed to create databases.
pub const VARIABLE: &str = "EPITOME_TEST_POSTGRES";

enum Server {
    Temporary(Cluster),
    Given(String),
}

/// A database of its own; gone when dropped.
#[derive(Debug)]
pub struct Database {
    name: String,
    maintenance: String,
    url: String,
}

/// An empty database. `None` where there is no server; that is reported.
///
/// # Panics
/// When there is a server, but it gives no database.
pub async fn database() -> Option<Database> {
    let server = server()?;
    Some(Database::create(&server.url("postgres"), |name| server.url(name)).await)
}

/// An empty database behind PgBouncer in transaction mode. `None` where there is none; that is reported.
///
/// # Panics
/// When there is a server, but it gives no database.
pub async fn pooled_database() -> Option<Database> {
    let (server, pooler) = (server()?, pooler()?);
    Some(Database::create(&server.url("postgres"), |name| pooler.url(name)).await)
}

/// A server of the test's own, to be killed and started again. `None` where there is none to start; that is reported.
///
/// # Panics
/// When there is one that does not start.
#[must_use]
pub fn own_cluster() -> Option<Cluster> {
    match Cluster::find() {
        Ok(programs) => Some(Cluster::start(programs)),
        Err(reason) => skip("postgres", &reason),
    }
}

impl Server {
    fn url(&self, database: &str) -> String {
        match self {
            Self::Temporary(cluster) => cluster.url(database),
            Self::Given(url) => with_database(url, database),
        }
    }
}

impl Database {
    /// Where it is. For [`pooled_database`] that is the pooler.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its name at the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    async fn create(maintenance: &str, url: impl Fn(&str) -> String) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("epitome_test_{}_{count}", std::process::id());
        run(
            maintenance,
            format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"),
        )
        .await;
        Self {
            url: url(&name),
            maintenance: maintenance.to_owned(),
            name,
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let maintenance = self.maintenance.clone();
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // A runtime of its own: the one of the test must not be blocked on itself.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(run(&maintenance, statement));
        });
        // What cannot be dropped goes with the temporary server.
        let _ = dropping.join();
    }
}

async fn run(url: &str, statement: String) {
    let mut connection = PgConnection::connect(url)
        .await
        .unwrap_or_else(|error| panic!("the PostgreSQL server for tests: {error}"));
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(&mut connection)
        .await
        .unwrap_or_else(|error| panic!("the PostgreSQL server for tests: {error}"));
    connection.close().await.unwrap();
}

fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| match std::env::var(VARIABLE) {
        Ok(url) => Some(Server::Given(url)),
        Err(_) => match Cluster::find() {
            Ok(programs) => Some(Server::Temporary(Cluster::start(programs))),
            Err(reason) => skip("postgres", &reason),
        },
    });
    server.as_ref()
}

fn pooler() -> Option<&'static Pooler> {
    static POOLER: OnceLock<Option<Pooler>> = OnceLock::new();
    let pooler = POOLER.get_or_init(|| match server()? {
        Server::Temporary(cluster) => match Pooler::find() {
            Ok(program) => Some(Pooler::start(&program, cluster)),
            Err(reason) => skip("pgbouncer", &reason),
        },
        Server::Given(_) => skip(
            "pgbouncer",
            "it is put before a temporary server only, and EPITOME_TEST_POSTGRES names another",
        ),
    });
    pooler.as_ref()
}

fn skip<T>(suite: &str, reason: &str) -> Option<T> {
    report(&format!("SUITE-SKIPPED {suite}: {reason}"));
    None
}

/// The same URL with another database.
fn with_database(url: &str, database: &str) -> String {
    let (base, parameters) = match url.split_once('?') {
        Some((base, parameters)) => (base, format!("?{parameters}")),
        None => (url, String::new()),
    };
    let host = base.find("://").map_or(0, |at| at + 3);
    let authority = match base.get(host..).and_then(|rest| rest.rfind('/')) {
        Some(at) => base.get(..host + at).unwrap_or(base),
        None => base,
    };
    format!("{authority}/{database}{parameters}")
}
