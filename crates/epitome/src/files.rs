//! Which files a span read and changed, and which of its tools failed.

pub(crate) mod arguments;
mod failure;
mod tools;
mod values;

use std::collections::{BTreeSet, HashMap};

use crate::message::{Call, Message, ToolResult};
use crate::one_line::one_line;

pub(crate) use arguments::{behind_string, short_strings, strings, strings_under};
use tools::patched;
pub(crate) use tools::{Access, access, name_words, paths, plain as plain_name};
pub(crate) use values::values;

/// The longest account of a failure, in characters.
pub const TOOL_FAILURE_CHARS: usize = 200;

/// What summaries and session files tell about a span besides its text.
///
/// Paths are sorted, and a changed file is not repeated among those read. Calls that failed touched nothing; they are
/// among the failures, in order, each once.
///
/// ```
/// use epitome::{Block, Call, FileOperations, Message, Role};
///
/// let call = |name: &str, arguments: &str| Message {
///     role: Role::Assistant,
///     blocks: vec![Block::Call(Call { id: name.into(), name: name.into(), arguments: arguments.into() })],
/// };
/// let messages = [
///     call("Read", r#"{"file_path":"src/lib.rs"}"#),
///     call("Read", r#"{"file_path":"src/main.rs"}"#),
///     call("edit_file", r#"{"path":"src/main.rs","new_text":"fn main() {}"}"#),
/// ];
/// let operations = FileOperations::of(&messages);
/// assert_eq!(operations.read_files, ["src/lib.rs"]);
/// assert_eq!(operations.modified_files, ["src/main.rs"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOperations {
    /// Files that were read and not changed.
    pub read_files: Vec<String>,
    /// Files that were written, edited, moved or deleted.
    pub modified_files: Vec<String>,
    /// Calls that failed.
    pub tool_failures: Vec<ToolFailure>,
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolFailure {
    /// The tool; `unknown` where the call is not in the span.
    pub tool_name: String,
    /// What it said, on one line of at most [`TOOL_FAILURE_CHARS`].
    pub summary: String,
}

/// Whether the result of a call says that the tool failed.
pub(crate) fn is_failure(result: &ToolResult, call: Option<&Call>) -> bool {
    failure::is_failure(result, call.and_then(access))
}

impl FileOperations {
    /// The operations in a span.
    #[must_use]
    pub fn of<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Self {
        let mut calls: Vec<&Call> = Vec::new();
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        let mut failed: BTreeSet<usize> = BTreeSet::new();
        let mut tool_failures = Vec::new();
        for message in messages {
            for call in message.calls() {
                by_id.insert(&call.id, calls.len());
                calls.push(call);
            }
            for result in message.results() {
                let at = by_id.get(result.call_id.as_ref()).copied();
                let call = at.and_then(|at| calls.get(at));
                if !is_failure(result, call.copied()) {
                    continue;
                }
                failed.extend(at);
                let text = result.texts().collect::<Vec<_>>().join(" ");
                push_once(
                    &mut tool_failures,
                    ToolFailure {
                        tool_name: call.map_or("unknown", |call| call.name.as_ref()).to_owned(),
                        summary: account(&text),
                    },
                );
            }
        }
        let succeeded = calls
            .iter()
            .enumerate()
            .filter(|(at, _)| !failed.contains(at));
        let mut read = BTreeSet::new();
        let mut modified = BTreeSet::new();
        for (_, call) in succeeded {
            modified.extend(patched(call));
            match access(call) {
                Some(Access::Read) => read.extend(paths(call)),
                Some(Access::Modify) => modified.extend(paths(call)),
                None => {}
            }
        }
        Self::sorted(read, modified, tool_failures)
    }

    /// These operations after those of an earlier compaction of the same conversation.
    #[must_use]
    pub fn after(self, earlier: &Self) -> Self {
        let join = |old: &[String], new: Vec<String>| old.iter().cloned().chain(new).collect();
        let mut tool_failures = earlier.tool_failures.clone();
        for failure in self.tool_failures {
            push_once(&mut tool_failures, failure);
        }
        Self::sorted(
            join(&earlier.read_files, self.read_files),
            join(&earlier.modified_files, self.modified_files),
            tool_failures,
        )
    }

    /// Whether there is nothing to tell.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.read_files.is_empty()
            && self.modified_files.is_empty()
            && self.tool_failures.is_empty()
    }

    fn sorted(
        read: BTreeSet<String>,
        modified: BTreeSet<String>,
        tool_failures: Vec<ToolFailure>,
    ) -> Self {
        Self {
            read_files: read
                .into_iter()
                .filter(|path| !modified.contains(path))
                .collect(),
            modified_files: modified.into_iter().collect(),
            tool_failures,
        }
    }
}

/// Whether a result says that its call failed.
pub(crate) fn failed(result: &ToolResult, call: &Call) -> bool {
    failure::is_failure(result, access(call))
}

fn push_once(failures: &mut Vec<ToolFailure>, failure: ToolFailure) {
    if !failures.contains(&failure) {
        failures.push(failure);
    }
}

fn account(text: &str) -> String {
    let bare = text
        .replace("<tool_use_error>", " ")
        .replace("</tool_use_error>", " ");
    match one_line(&bare, TOOL_FAILURE_CHARS) {
        line if line.is_empty() => "failed without a word".to_owned(),
        line => line,
    }
}
