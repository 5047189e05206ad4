//! What went wrong, and what came of it.

use super::unbroken;
use super::values::values;
use crate::files::is_failure;
use crate::message::{Message, Role, ToolResult};
use crate::word_cut::first_words;

/// How lines begin in which tools report a failure, in small letters.
const BEGINNINGS: &[&str] = &[
    "error",
    "fatal",
    "fail",
    "panic",
    "exception",
    "traceback",
    "assertionerror",
    "e   ",
    "✗",
    "×",
];
/// Of a long result, this many lines at either end are looked at.
const EDGE_LINES: usize = 40;
/// The longest quotation of a failure, and of what came of it.
const FAILURE_CHARS: usize = 160;
const REMEDY_CHARS: usize = 120;

/// Failures that nobody has answered yet.
#[derive(Default)]
pub(super) struct Troubles {
    open: Vec<(usize, String)>,
}

impl Troubles {
    /// Goes on to the next entry. Hands over each failure before it with what the assistant said or did next.
    pub(super) fn next(
        &mut self,
        position: usize,
        message: &Message,
        mut each: impl FnMut(usize, String),
    ) {
        if message.role == Role::Assistant {
            let remedy = remedy(message);
            for (position, failure) in self.open.drain(..) {
                each(position, format!("{failure} → {remedy}"));
            }
        }
        let failures = message.results().filter_map(failure);
        self.open.extend(failures.map(|text| (position, text)));
    }

    /// Hands over the failures at the end.
    pub(super) fn end(self, mut each: impl FnMut(usize, String)) {
        for (position, failure) in self.open {
            each(position, failure);
        }
    }
}

/// The line in which a result reports a failure.
fn failure(result: &ToolResult) -> Option<String> {
    let mut lines = result.texts().flat_map(edge_lines);
    let reported = lines.find(|line| reports(line));
    let line = reported.or_else(|| {
        let first = result.texts().flat_map(str::lines).map(str::trim);
        let mut first = first.filter(|line| !line.is_empty());
        first.next().filter(|_| is_failure(result, None))
    });
    Some(first_words(&unbroken(line?), FAILURE_CHARS).to_owned())
}

fn edge_lines(text: &str) -> impl Iterator<Item = &str> {
    let front = text.lines().take(EDGE_LINES);
    let mut behind: Vec<&str> = text.lines().rev().take(EDGE_LINES).collect();
    behind.reverse();
    front.chain(behind).map(str::trim)
}

fn reports(line: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| {
        let start = line.get(..beginning.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(beginning))
    })
}

/// What an assistant message says first, or else what it calls.
fn remedy(message: &Message) -> String {
    let said = message
        .spoken()
        .map(str::trim)
        .find(|text| !text.is_empty());
    let text = match (said, message.calls().next()) {
        (Some(text), _) => unbroken(text.lines().next().unwrap_or_default()),
        (None, Some(call)) => {
            let values = values(&call.arguments).join(" ");
            unbroken(&format!("{} {}", call.name, values))
        }
        (None, None) => String::new(),
    };
    first_words(&text, REMEDY_CHARS).to_owned()
}
