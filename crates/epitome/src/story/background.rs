//! Commands that went on behind their first answer: what they printed later comes back to calls that only ask for it.

use std::collections::HashMap;

use super::outcome::{is_wrapper, printed};
use crate::files::{plain_name, strings_under, values};
use crate::message::{Call, Message, ResultPart, Role, ToolResult};

/// How a line begins that names a process that goes on.
const RUNNING: &[&str] = &[
    "Process running with session ID ",
    "Command running in background with ID: ",
];
/// It stands among the first lines of an answer.
const RUNNING_LINES: usize = 6;
/// Tools that ask what a process printed since.
const ASKING: &[&str] = &["writestdin", "bashoutput", "taskoutput"];

/// Which calls belong together.
#[derive(Debug, Default)]
pub(super) struct Background<'a> {
    /// The call that began each process.
    began: HashMap<&'a str, &'a str>,
    /// For each call that only asks, the one that began what it asks about.
    asks: HashMap<&'a str, &'a str>,
    /// For each call that began something, what came later.
    later: HashMap<&'a str, Vec<&'a ToolResult>>,
}

impl<'a> Background<'a> {
    pub(super) fn of(entries: impl Iterator<Item = &'a Message>) -> Self {
        let mut background = Self::default();
        let mut asked: Option<&Message> = None;
        for message in entries {
            if message.role == Role::Assistant {
                asked = Some(message);
                if !background.began.is_empty() {
                    message.calls().for_each(|call| background.ask(call));
                }
            }
            for result in message.results() {
                let mut calls = asked.into_iter().flat_map(Message::calls);
                background.answer(result, || calls.find(|call| call.id == result.call_id));
            }
        }
        background
    }

    fn ask(&mut self, call: &'a Call) {
        if !only_asks(call) {
            return;
        }
        let is_typed = |name: &str| matches!(plain_name(name).as_str(), "chars" | "input");
        let typed = strings_under(&call.arguments, is_typed);
        if typed.iter().any(|(_, text)| !text.trim().is_empty()) {
            return;
        }
        let values = values(&call.arguments);
        let began = values
            .iter()
            .find_map(|value| self.began.get(value.as_ref()));
        if let Some(began) = began.copied() {
            self.asks.insert(&call.id, began);
        }
    }

    /// Takes a result; `call` finds what it answers. What asks for a process that nobody was seen to begin begins none.
    fn answer(&mut self, result: &'a ToolResult, call: impl FnOnce() -> Option<&'a Call>) {
        if let Some(began) = self.asks.get(&*result.call_id) {
            self.later.entry(*began).or_default().push(result);
            return;
        }
        let lines = result.texts().flat_map(str::lines).take(RUNNING_LINES);
        let mut processes = lines.filter_map(process);
        if let Some(process) = processes.next()
            && call().is_some_and(|call| !only_asks(call))
        {
            self.began.insert(process, &result.call_id);
        }
    }

    /// The call that began what another one only asks about.
    pub(super) fn asked(&self, call_id: &str) -> Option<&'a str> {
        self.asks.get(call_id).copied()
    }

    /// All that a command printed, and what its last answer says of how it ended, where it went on behind its first one.
    pub(super) fn whole(&self, first: &ToolResult) -> Option<ToolResult> {
        let later = self.later.get(&*first.call_id)?;
        let last = *later.last()?;
        let text = |result: &ToolResult| result.texts().collect::<Vec<_>>().join("\n");
        let texts: Vec<String> = [first]
            .into_iter()
            .chain(later.iter().copied())
            .map(text)
            .collect();
        let end = texts.last()?.lines().filter(|line| is_wrapper(line));
        let lines = end.chain(texts.iter().flat_map(|text| printed(text)));
        let text = lines.collect::<Vec<_>>().join("\n");
        Some(ToolResult {
            call_id: first.call_id.clone(),
            parts: vec![ResultPart::Text(text)],
            is_error: last.is_error,
        })
    }
}

/// Whether a call is of a tool that asks what a process printed since, or types into it.
fn only_asks(call: &Call) -> bool {
    ASKING.contains(&plain_name(&call.name).as_str())
}

/// Whether an answer says that what it is of goes on.
pub(super) fn goes_on(text: &str) -> bool {
    text.lines()
        .take(RUNNING_LINES)
        .any(|line| process(line).is_some())
}

/// The process that a line says goes on.
fn process(line: &str) -> Option<&str> {
    let behind = RUNNING.iter().find_map(|mark| line.strip_prefix(mark))?;
    let end = behind.find(|one: char| !one.is_alphanumeric() && one != '_' && one != '-');
    behind
        .get(..end.unwrap_or(behind.len()))
        .filter(|name| !name.is_empty())
}
