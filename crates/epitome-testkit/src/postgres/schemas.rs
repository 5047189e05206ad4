//! Many stores in one database of this process, a schema each: a schema is made in a moment, a database is not.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use super::{run, server};

/// Every such database is this and the number of its process.
const PREFIX: &str = "epitome_suites_";

/// How a location names its schema.
const SEARCH_PATH: &str = "options=-csearch_path%3D";

/// Asks the database of this process: one thread and one connection for all tests, whatever runtimes they have.
struct Desk {
    url: String,
    questions: Mutex<Sender<(String, Sender<Option<i64>>)>>,
}

static DESK: LazyLock<Desk> = LazyLock::new(Desk::open);

/// The location of the schema that goes by this name.
pub(crate) fn location(name: &str) -> String {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    known.entry(name.to_owned()).or_insert_with(fresh).clone()
}

/// The location of an empty schema.
pub(crate) fn fresh() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    ask(&format!("CREATE SCHEMA s{count}"));
    let url = &DESK.url;
    let mark = if url.contains('?') { '&' } else { '?' };
    format!("{url}{mark}{SEARCH_PATH}s{count}")
}

/// The schema of a location that came from here.
pub(crate) fn schema_of(location: &str) -> Option<&str> {
    let (_, rest) = location.split_once(SEARCH_PATH)?;
    rest.split('&').next()
}

/// The first number that a statement gives.
pub(crate) fn ask(statement: &str) -> Option<i64> {
    let (answer, answered) = channel();
    let question = (statement.to_owned(), answer);
    DESK.questions.lock().unwrap().send(question).unwrap();
    answered
        .recv()
        .unwrap_or_else(|_| panic!("the PostgreSQL server for tests refused: {statement}"))
}

impl Desk {
    fn open() -> Self {
        let (opened, url) = channel();
        let (questions, asked) = channel::<(String, Sender<Option<i64>>)>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let url = create().await;
                let mut connection = PgConnection::connect(&url).await.unwrap();
                opened.send(url).unwrap();
                while let Ok((statement, answer)) = asked.recv() {
                    let sql = AssertSqlSafe(statement);
                    let row = sqlx::raw_sql(sql).fetch_optional(&mut connection).await;
                    // Who asked may be gone.
                    let _ = answer.send(row.unwrap().map(|row| row.get(0)));
                }
            });
        });
        let url = url.recv();
        let url = url.unwrap_or_else(|_| {
            panic!("there is no PostgreSQL server, and this run is to be on one")
        });
        Self {
            url,
            questions: Mutex::new(questions),
        }
    }
}

/// A database of this process. On a server that outlives it, those of processes that have ended go first.
async fn create() -> String {
    let server = server().unwrap();
    let maintenance = server.url("postgres");
    let mut connection = PgConnection::connect(&maintenance).await.unwrap();
    let rows = sqlx::query("SELECT datname::text FROM pg_database WHERE datname LIKE $1")
        .bind(format!("{PREFIX}%"))
        .fetch_all(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    for row in rows {
        let name: String = row.get(0);
        let process = name.trim_start_matches(PREFIX);
        if !std::path::Path::new("/proc").join(process).exists() {
            let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
            run(&maintenance, statement).await;
        }
    }
    let name = format!("{PREFIX}{}", std::process::id());
    let statement = format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'");
    run(&maintenance, statement).await;
    server.url(&name)
}
