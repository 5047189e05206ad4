use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::{Rule, Violation, messages_of};
use crate::wire::{array, block_type, text};

/// Checks an OpenAI Chat Completions request.
#[must_use]
pub fn openai_chat(request: &Value) -> Vec<Violation> {
    let messages = match messages_of(request) {
        Ok(messages) => messages,
        Err(violation) => return vec![violation],
    };
    let mut checker = Checker::default();
    for (index, message) in messages.iter().enumerate() {
        checker.message(index, message);
    }
    checker.close_batch();
    checker.violations
}

#[derive(Default)]
struct Checker<'a> {
    violations: Vec<Violation>,
    known_ids: HashSet<&'a str>,
    /// Calls of the last assistant message: identifier to (message, position, answered).
    batch: BTreeMap<&'a str, (usize, usize, bool)>,
}

impl<'a> Checker<'a> {
    fn message(&mut self, index: usize, message: &'a Value) {
        let role = text(message, "role");
        if role == "tool" {
            self.result(index, message);
            return;
        }
        self.close_batch();
        match role {
            "assistant" => self.assistant(index, message),
            "system" | "developer" | "user" | "function" => {
                self.content(index, message.get("content"), role);
            }
            other => self.violations.push(Violation::of_message(
                Rule::UnknownRole,
                index,
                format!("Invalid value: '{other}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."),
            )),
        }
    }

    fn assistant(&mut self, index: usize, message: &'a Value) {
        let calls = array(message, "tool_calls");
        let stands_without_content = !calls.is_empty()
            || ["function_call", "refusal", "audio"]
                .iter()
                .any(|key| message.get(key).is_some_and(|value| !value.is_null()));
        match message.get("content") {
            None | Some(Value::Null) if stands_without_content => {}
            None | Some(Value::Null) => self.violations.push(Violation::of_message(
                Rule::EmptyContent,
                index,
                "Invalid value for 'content': expected a string, got null.",
            )),
            // Many clients send an empty string next to tool calls, and the provider takes it.
            Some(Value::String(text)) if text.is_empty() && stands_without_content => {}
            content => self.content(index, content, "assistant"),
        }
        match message.get("tool_calls") {
            None | Some(Value::Null) => {}
            Some(Value::Array(calls)) if !calls.is_empty() => {
                for (position, call) in calls.iter().enumerate() {
                    self.call(index, position, call);
                }
            }
            Some(_) => self.violations.push(Violation::of_message(
                Rule::MalformedContent,
                index,
                "[] is too short - 'tool_calls'",
            )),
        }
    }

    fn call(&mut self, index: usize, position: usize, call: &'a Value) {
        let id = text(call, "id");
        let (called, arguments) = match block_type(call) {
            "custom" => (call.get("custom"), "input"),
            _ => (call.get("function"), "arguments"),
        };
        let name = called.map_or("", |called| text(called, "name"));
        if id.is_empty() || name.is_empty() {
            self.violations.push(Violation::of_block(
                Rule::MalformedContent,
                index,
                position,
                "Missing required parameter: tool call id or name",
            ));
        }
        let arguments_value = called.and_then(|called| called.get(arguments));
        if !arguments_value.is_some_and(Value::is_string) {
            self.violations.push(Violation::of_block(
                Rule::MalformedArguments,
                index,
                position,
                format!("Invalid type for 'tool_calls[{position}].{arguments}': expected a string"),
            ));
        }
        if !self.known_ids.insert(id) {
            self.violations.push(Violation::of_block(
                Rule::DuplicateCallId,
                index,
                position,
                format!("Duplicate value for 'tool_call_id' of '{id}'"),
            ));
        }
        self.batch.insert(id, (index, position, false));
    }

    fn result(&mut self, index: usize, message: &'a Value) {
        let id = text(message, "tool_call_id");
        match self.batch.get_mut(id) {
            None => self.violations.push(Violation::of_message(
                Rule::UnexpectedResult,
                index,
                format!("Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls' ('{id}')."),
            )),
            Some((.., answered)) if *answered => self.violations.push(Violation::of_message(
                Rule::DuplicateResult,
                index,
                format!("Duplicate tool message for tool_call_id '{id}'"),
            )),
            Some((.., answered)) => *answered = true,
        }
        match message.get("content") {
            Some(Value::String(_)) => {}
            Some(Value::Array(_)) => self.content(index, message.get("content"), "tool"),
            _ => self.violations.push(Violation::of_message(
                Rule::EmptyContent,
                index,
                "Invalid value for 'content': a tool message needs a string or parts",
            )),
        }
    }

    fn content(&mut self, index: usize, content: Option<&Value>, role: &str) {
        match content {
            Some(Value::String(text)) if !text.trim().is_empty() => {}
            Some(Value::Array(parts)) if !parts.is_empty() => {
                for (position, part) in parts.iter().enumerate() {
                    self.part(index, position, part);
                }
            }
            Some(Value::Object(_) | Value::Number(_) | Value::Bool(_)) => {
                self.violations.push(Violation::of_message(
                    Rule::MalformedContent,
                    index,
                    "Invalid type for 'content': expected a string or an array of parts",
                ));
            }
            _ => self.violations.push(Violation::of_message(
                Rule::EmptyContent,
                index,
                format!(
                    "Invalid value for 'content': a message with role '{role}' must not be empty"
                ),
            )),
        }
    }

    fn part(&mut self, index: usize, position: usize, part: &Value) {
        let problem = match block_type(part) {
            "text" if text(part, "text").is_empty() => {
                Some((Rule::EmptyText, "text part is empty"))
            }
            "tool_use" | "tool_result" | "thinking" | "" => Some((
                Rule::MalformedContent,
                "Invalid value for the type of a content part",
            )),
            _ => None,
        };
        if let Some((rule, detail)) = problem {
            self.violations
                .push(Violation::of_block(rule, index, position, detail));
        }
    }

    /// Reports the calls that nothing answered before the next message that is no result.
    fn close_batch(&mut self) {
        for (id, (message, position, answered)) in std::mem::take(&mut self.batch) {
            if !answered {
                self.violations.push(Violation::of_block(
                    Rule::UnansweredCall,
                    message,
                    position,
                    format!("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}"),
                ));
            }
        }
    }
}
