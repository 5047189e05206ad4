//! Where tests keep their stores: in a file each, or in PostgreSQL where the run asks for it.
//!
//! `EPITOME_TEST_STORE=postgres` gives every file that a test names a schema of its own in a database of this process, so that
//! whole suites run on both. Nothing is skipped: without a server they fail.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on stops"
)]

use std::path::Path;
use std::time::Duration;

use crate::postgres::schemas;

/// The variable that says where: `sqlite`, which is what nothing means too, or `postgres`.
pub const VARIABLE: &str = "EPITOME_TEST_STORE";

const PAUSE: Duration = Duration::from_millis(2);
const PAUSES: u32 = 30_000;

/// What is behind the stores of this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file each.
    Sqlite,
    /// A schema each.
    Postgres,
}

/// What this run asks for.
///
/// # Panics
/// When the variable says something that nobody knows.
#[must_use]
pub fn kind() -> Kind {
    match std::env::var(VARIABLE).as_deref() {
        Err(_) | Ok("sqlite") => Kind::Sqlite,
        Ok("postgres") => Kind::Postgres,
        Ok(other) => panic!("{VARIABLE}={other} is neither sqlite nor postgres"),
    }
}

/// The location of the store that stands for `file`: the same one for the same path, an empty one for a new path.
///
/// # Panics
/// When PostgreSQL is asked for and there is none.
#[must_use]
pub fn location(file: &Path) -> String {
    match kind() {
        Kind::Sqlite => format!("sqlite:{}", file.display()),
        Kind::Postgres => schemas::location(&file.to_string_lossy()),
    }
}

/// The location of an empty store that nobody else has.
///
/// # Panics
/// As for [`location`].
#[must_use]
pub fn fresh() -> String {
    match kind() {
        Kind::Sqlite => "sqlite::memory:".to_owned(),
        Kind::Postgres => schemas::fresh(),
    }
}

/// The same store, opened by somebody whose connections can be told from others by this name.
#[must_use]
pub fn opened_by(location: &str, name: &str) -> String {
    match location.starts_with("postgres:") {
        true => format!("{location}&application_name={name}"),
        false => location.to_owned(),
    }
}

/// Waits until a server has noticed that whoever opened a store by this name is dead: what it was doing is done or undone.
///
/// # Panics
/// When it takes for ever.
pub fn wait_until_gone(location: &str, name: &str) {
    if !location.starts_with("postgres:") {
        return;
    }
    let statement =
        format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}'");
    for _ in 0..PAUSES {
        if schemas::ask(&statement) == Some(0) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("the connections of {name} do not end");
}

/// Lets so much time go by on the clock that the leases of this store go by, where that is the clock of a server: setting a
/// clock forward and moving every end back is the same.
///
/// # Panics
/// When the server refuses.
pub fn let_time_pass(location: &str, milliseconds: i64) {
    if let Some(schema) = schemas::schema_of(location) {
        // Who was to make the tables may have died before that: then there is no lease.
        let there =
            format!("SELECT CAST(to_regclass('{schema}.leases') IS NOT NULL AS INT)::BIGINT");
        if schemas::ask(&there) == Some(0) {
            return;
        }
        let statement = format!(
            "WITH moved AS (UPDATE {schema}.leases SET until_ms = until_ms - {milliseconds} RETURNING 1) \
             SELECT count(*) FROM moved"
        );
        schemas::ask(&statement).unwrap();
    }
}
