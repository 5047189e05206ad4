//! One body for each behaviour, run over every store.

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
#[path = "all/sqlite_shared.rs"]
mod sqlite_shared;
#[cfg(test)]
#[path = "all/suite.rs"]
mod suite;

suite::run_over!(sqlite_in_file);
suite::run_over!(sqlite_in_memory);
suite::run_over!(any_sqlite);
