//! Whether a list of messages is one that providers take.

use std::collections::HashSet;

use serde::Serialize;

use crate::session::{Entry, Speaker};
use crate::text::trim;

/// What may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The first message behind the system prompt is the user's.
    FirstIsUser,
    /// Every call is answered before anybody else speaks.
    CallsAnswered,
    /// Every result answers a call of the message before.
    ResultsHaveCalls,
    /// No message makes two calls of one id.
    IdsDiffer,
    /// No message of the user or the model is empty.
    NotEmpty,
    /// Arguments are JSON.
    ArgumentsAreJson,
    /// System messages stand in front.
    SystemInFront,
}

/// A rule that is broken, and at which message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The rule.
    pub rule: Rule,
    /// The message; the end for a call that nobody answers.
    pub at: usize,
}

/// What is wrong with a list of messages; nothing, when it is valid.
#[must_use]
pub fn problems(entries: &[Entry]) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut problem = |rule, at| found.push(Problem { rule, at });
    let start = entries
        .iter()
        .take_while(|entry| entry.role == Speaker::System)
        .count();
    if entries.get(start).is_some_and(|e| e.role != Speaker::User) {
        problem(Rule::FirstIsUser, start);
    }
    let mut pending: Vec<&str> = Vec::new();
    for (at, entry) in entries.iter().enumerate().skip(start) {
        if entry.role == Speaker::Tool {
            let answered = entry.tool_call_id.as_deref();
            match pending.iter().position(|call| Some(*call) == answered) {
                Some(call) => drop(pending.remove(call)),
                None => problem(Rule::ResultsHaveCalls, at),
            }
            continue;
        }
        if !pending.is_empty() {
            problem(Rule::CallsAnswered, at);
            pending.clear();
        }
        let is_empty = trim(&entry.content).is_empty();
        match entry.role {
            Speaker::Assistant => {
                pending = entry.tool_calls.iter().map(|c| c.id.as_str()).collect();
                let different: HashSet<&str> = pending.iter().copied().collect();
                if different.len() < pending.len() {
                    problem(Rule::IdsDiffer, at);
                }
                if pending.is_empty() && is_empty {
                    problem(Rule::NotEmpty, at);
                }
                for call in &entry.tool_calls {
                    if serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_err() {
                        problem(Rule::ArgumentsAreJson, at);
                    }
                }
            }
            Speaker::User if is_empty => problem(Rule::NotEmpty, at),
            Speaker::System if at > start => problem(Rule::SystemInFront, at),
            Speaker::User | Speaker::System | Speaker::Tool => {}
        }
    }
    if !pending.is_empty() {
        problem(Rule::CallsAnswered, entries.len());
    }
    found
}
