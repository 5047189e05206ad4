//! Which error it is, by what a database calls it.

use super::{Error, Source};

type Variant = fn(Source) -> Error;

/// The variant for a result code of SQLite; its low byte is the primary code.
pub(super) fn of_sqlite(code: &str) -> Variant {
    const FOREIGN_KEY: i32 = 787;
    let code: i32 = code.parse().unwrap_or_default();
    match (code, code & 0xff) {
        (FOREIGN_KEY, _) => Error::Dangling,
        (_, 5 | 6) => Error::Busy,
        (_, 3 | 8) => Error::ReadOnly,
        (_, 11 | 26) => Error::Corrupt,
        (_, 13) => Error::Full,
        (_, 14) => Error::CannotOpen,
        (_, 18) => Error::TooLarge,
        _ => Error::Database,
    }
}

/// The variant for an SQLSTATE of PostgreSQL; its first two characters are the class.
pub(super) fn of_postgres(code: &str) -> Variant {
    match code {
        "23503" => Error::Dangling,
        // A lock was not to be had, two writers stood in each other's way, a statement or a pause took too long.
        "55P03" | "40P01" | "40001" | "57014" | "25P03" => Error::Busy,
        // A replica, or a database that is set to reading.
        "25006" => Error::ReadOnly,
        "53100" => Error::Full,
        "53300" => Error::NoConnection,
        "54000" => Error::TooLarge,
        "28000" | "28P01" => Error::Login,
        // No such database; no right to use it or a table.
        "3D000" | "42501" => Error::CannotOpen,
        // Shut down, crashed, still starting, idle for too long.
        "57P01" | "57P02" | "57P03" | "57P05" => Error::Unreachable,
        "XX001" | "XX002" => Error::Corrupt,
        _ if code.starts_with("08") => Error::Unreachable,
        _ => Error::Database,
    }
}
