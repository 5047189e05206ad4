//! One body for each behaviour, run over every store. Another store is a fixture that opens an empty one, a fixture that
//! opens several handles on one, and a line at the end of this file.

#[cfg(test)]
#[path = "all/any.rs"]
mod any;
#[cfg(test)]
#[path = "all/encrypted.rs"]
mod encrypted;
#[cfg(test)]
#[path = "all/fixtures.rs"]
mod fixtures;
#[cfg(test)]
#[path = "all/kill.rs"]
mod kill;
#[cfg(test)]
#[path = "all/model_check.rs"]
mod model_check;
#[cfg(test)]
#[path = "all/postgres_round_trips.rs"]
mod postgres_round_trips;
#[cfg(test)]
#[path = "all/postgres_server.rs"]
mod postgres_server;
#[cfg(test)]
#[path = "all/recall_parity.rs"]
mod recall_parity;
#[cfg(test)]
#[path = "all/sqlite_file.rs"]
mod sqlite_file;
#[cfg(test)]
#[path = "all/suite.rs"]
mod suite;

suite::run_over!(sqlite_in_file, sqlite_handles);
suite::run_over!(sqlite_in_memory);
suite::run_over!(any_sqlite, any_sqlite_handles);
suite::run_over!(postgres, postgres_handles);
suite::run_over!(pgbouncer, pgbouncer_handles);
suite::run_over!(any_postgres);
suite::run_over!(encrypted_sqlite, encrypted_sqlite_handles);
suite::run_over!(encrypted_postgres);

mod in_clear {
    crate::suite::run_over!(@clear sqlite_in_file, sqlite_handles);
    crate::suite::run_over!(@clear sqlite_in_memory);
    crate::suite::run_over!(@clear any_sqlite, any_sqlite_handles);
    crate::suite::run_over!(@clear postgres, postgres_handles);
    crate::suite::run_over!(@clear pgbouncer, pgbouncer_handles);
    crate::suite::run_over!(@clear any_postgres);
}

mod callers_clock {
    crate::suite::run_over!(@callers_clock sqlite_in_file, sqlite_handles);
}
