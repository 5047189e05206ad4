//! House rule: the time is read, waited for and made names of in a crate's `clock` module and nowhere else.
//!
//! So that a test can bring its own time, and a replay makes the same bytes.

#[cfg(test)]
#[path = "clock_tests.rs"]
mod tests;

use super::files::{File, product_source};
use super::imports::{place, product_tokens};

/// What belongs into `clock`, in the words of the source.
const OF_THE_CLOCK: &[&[&str]] = &[
    // What time it is.
    &["SystemTime", "::", "now"],
    &["Instant", "::", "now"],
    &["Utc", "::", "now"],
    &["Local", "::", "now"],
    &["OffsetDateTime", "::", "now_utc"],
    &["OffsetDateTime", "::", "now_local"],
    &["Timestamp", "::", "now"],
    &["Zoned", "::", "now"],
    &[".", "elapsed", "("],
    // Timers. The whole of this module, so that deadlines are made there too.
    &["tokio", "::", "time"],
    &["thread", "::", "sleep"],
    // Names and numbers that nobody can foresee.
    &["Uuid", "::", "new_v4"],
    &["Uuid", "::", "now_v1"],
    &["Uuid", "::", "now_v6"],
    &["Uuid", "::", "now_v7"],
    &["rand", "::"],
    &["fastrand", "::"],
    &["getrandom", "::"],
];

/// The module in which all of it is at home.
const HOME: &str = "clock";

pub(super) fn outside_its_module(files: &[File]) -> Vec<String> {
    product_source(files)
        .filter(|file| !is_at_home(&file.path))
        .flat_map(|file| {
            let text = String::from_utf8_lossy(&file.bytes);
            let found = found(&text).into_iter();
            found
                .map(|(line, what)| format!("{}:{line}: {what}", file.path))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn is_at_home(path: &str) -> bool {
    place(path).is_some_and(|(_, inside)| inside.split('/').next() == Some(HOME))
}

/// What belongs into `clock`, each with its line.
fn found(source: &str) -> Vec<(usize, String)> {
    let tokens = product_tokens(source);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let rest = tokens.get(at..).unwrap_or_default();
        for words in OF_THE_CLOCK.iter().filter(|words| rest.starts_with(words)) {
            found.push((line_of(source, token), words.concat()));
        }
    }
    found
}

/// The line, from 1, of a part of the source.
fn line_of(source: &str, part: &str) -> usize {
    let start = part.as_ptr().addr() - source.as_ptr().addr();
    let before = source.get(..start).unwrap_or_default();
    before.matches('\n').count() + 1
}
