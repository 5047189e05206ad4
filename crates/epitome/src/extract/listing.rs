//! What a compaction entry lists beside the record: files that were read, tools that failed.

use super::coverage::Coverage;
use super::survey::Survey;
use super::{OPEN_CHARS, PATH_TOKENS, Source, todo, unbroken};
use crate::anchor::path_end;
use crate::files::FileOperations;
use crate::plan::percent_of;
use crate::summary::{Earlier, Line, LineKind, Parts};
use crate::word_cut::first_words;

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
            let path = path_end(path).to_owned();
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

    /// The files that were changed, by the end of their paths, in the order in which they were last named.
    pub(super) fn changed(&self, earlier: &Earlier, survey: &Survey<'_>) -> Vec<Line> {
        let first = self.first_position();
        let line = |position, path: &str| Line {
            position,
            text: path.to_owned(),
            kind: LineKind::Done,
        };
        let operations = FileOperations::of(self.entries().map(|(_, message)| message));
        let mut changed: Vec<Line> = operations
            .modified_files
            .iter()
            .map(|path| path_end(path))
            .map(|path| line(survey.last_made(path).unwrap_or(first), path))
            .collect();
        changed.sort_by(|a, b| (a.position, &a.text).cmp(&(b.position, &b.text)));
        changed.dedup_by(|a, b| a.text == b.text);
        let old = earlier.changed.iter().map(|path| line(first, path));
        let old: Vec<Line> = old
            .filter(|old| changed.iter().all(|new| new.text != old.text))
            .collect();
        old.into_iter().chain(changed).collect()
    }

    /// The changed files that fit, the newest first in line for room, and are not named in view already.
    pub(super) fn list_changed(
        &self,
        changed: Vec<Line>,
        coverage: &mut Coverage<'_, '_>,
        cap_tokens: u64,
    ) -> Vec<Line> {
        let mut left = cap_tokens;
        let mut listed: Vec<Line> = Vec::new();
        for line in changed.into_iter().rev() {
            let cost = self.meter.text(&line.text) + PATH_TOKENS;
            if let Some(rest) = left.checked_sub(cost) {
                left = rest;
                coverage.tell_path(&line.text);
                listed.push(line);
            }
        }
        listed.reverse();
        listed
    }

    /// What the newest list of things to do says is open.
    pub(super) fn open(&self, earlier: &Earlier, cap_tokens: u64) -> Vec<Line> {
        let newest = self
            .entries()
            .rev()
            .find_map(|(position, message)| Some((position, todo::open_items(message)?)));
        let (position, items) =
            newest.unwrap_or_else(|| (self.first_position(), earlier.open.clone()));
        let mut left = cap_tokens;
        let lines = items.into_iter().map_while(|item| {
            let text = first_words(&unbroken(&item), OPEN_CHARS).to_owned();
            left = left.checked_sub(self.cost(&text))?;
            Some(Line {
                position,
                text,
                kind: LineKind::Said,
            })
        });
        lines.filter(|line| !line.text.is_empty()).collect()
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
