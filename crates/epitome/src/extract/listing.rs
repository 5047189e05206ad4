//! What a compaction entry lists beside the record: files that were read, tools that failed.

use super::{PATH_TOKENS, Source};
use crate::anchor::last_two;
use crate::files::FileOperations;
use crate::plan::percent_of;
use crate::summary::{Earlier, Line, LineKind, Parts};

/// The share of the room that either list may take, in percent.
const LIST_PERCENT: u64 = 10;
/// A list of failures longer than this is not read.
const FAILURES: usize = 8;

impl Source<'_> {
    /// Fills both lists, the newest first in line for room, and returns what they take.
    pub(super) fn list_files(&self, earlier: &Earlier, parts: &mut Parts, room_tokens: u64) -> u64 {
        let operations = FileOperations::of(self.entries().map(|(_, message)| message));
        let position = self.first_position();
        let line = |text: String, kind| Line {
            position,
            text,
            kind,
        };
        let cap = percent_of(room_tokens, LIST_PERCENT);

        let mut read = earlier.read.clone();
        for path in &operations.read_files {
            let path = last_two(path).to_owned();
            read.retain(|known| *known != path);
            read.push(path);
        }
        let (read, read_tokens) = newest(read, usize::MAX, cap, |text| {
            self.meter.text(text) + PATH_TOKENS
        });

        let mut failures = earlier.failures.clone();
        for failure in &operations.tool_failures {
            let text = format!("{}: {}", failure.tool_name, failure.summary);
            failures.retain(|known| *known != text);
            failures.push(text);
        }
        let (failures, failures_tokens) = newest(failures, FAILURES, cap, |text| self.cost(text));

        parts.read = read
            .into_iter()
            .map(|text| line(text, LineKind::Listed))
            .collect();
        parts.failures = failures
            .into_iter()
            .map(|text| line(text, LineKind::Failed))
            .collect();
        read_tokens + failures_tokens
    }
}

/// The newest of `texts` that fit, in order, and what they take.
fn newest(
    texts: Vec<String>,
    most: usize,
    cap_tokens: u64,
    cost: impl Fn(&str) -> u64,
) -> (Vec<String>, u64) {
    let mut used = 0;
    let mut kept: Vec<String> = texts
        .into_iter()
        .rev()
        .take(most)
        .take_while(|text| {
            used += cost(text);
            used <= cap_tokens
        })
        .collect();
    let tokens = kept.iter().map(|text| cost(text)).sum();
    kept.reverse();
    (kept, tokens)
}
