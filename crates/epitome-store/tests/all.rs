//! One body for each behaviour, run over every store. Another store is a fixture that opens an empty one, a fixture that
//! opens several handles on one, and a line at the end of this file.

#[cfg(test)]
#[path = "all/any.rs"]
mod any;
#[cfg(test)]
#[path = "all/fixtures.rs"]
mod fixtures;
#[cfg(test)]
#[path = "all/sqlite_file.rs"]
mod sqlite_file;
#[cfg(test)]
#[path = "all/suite.rs"]
mod suite;

suite::run_over!(sqlite_in_file, sqlite_handles);
suite::run_over!(sqlite_in_memory);
suite::run_over!(any_sqlite, any_sqlite_handles);
