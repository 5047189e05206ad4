//! What providers say when they refuse a request, as data with its sources: `vectors/refusals`.

#![expect(clippy::panic, reason = "a row that cannot be read stops the test")]

use serde_json::Value;

const OVERFLOWS: &str = include_str!("../vectors/refusals/overflow.jsonl");
const OTHERS: &str = include_str!("../vectors/refusals/others.jsonl");

/// An answer that refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What it says: the name of a wording of "too long", or the kind of refusal that it is instead.
    pub what: String,
    /// Who says it, and where that was seen.
    pub source: String,
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: String,
    /// The window that it names.
    pub window_tokens: Option<u64>,
    /// The size of the request that it names.
    pub request_tokens: Option<u64>,
}

/// Every known way of saying that a request is too long.
///
/// # Panics
/// When the table cannot be read.
#[must_use]
pub fn overflows() -> Vec<Refused> {
    rows(OVERFLOWS, "name")
}

/// Refusals that are none of these, though some sound like it.
///
/// # Panics
/// When the table cannot be read.
#[must_use]
pub fn others() -> Vec<Refused> {
    rows(OTHERS, "kind")
}

fn rows(table: &str, what: &str) -> Vec<Refused> {
    let row = |line: &str| {
        let row: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let text = |name: &str| match row.get(name).and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => panic!("{line}: no {name}"),
        };
        let number = |name: &str| row.get(name).and_then(Value::as_u64);
        let status = number("status").and_then(|status| status.try_into().ok());
        Refused {
            what: text(what),
            source: text("source"),
            status: status.unwrap_or_else(|| panic!("{line}: no status")),
            body: text("body"),
            window_tokens: number("window"),
            request_tokens: number("request"),
        }
    };
    table.lines().map(row).collect()
}
