use std::collections::BTreeMap;

use serde_json::Value;

use super::{Rule, Violation};
use crate::signature;
use crate::wire::{block_type, is_models_item, text};

/// Checks an OpenAI Responses request.
#[must_use]
pub fn openai_responses(request: &Value) -> Vec<Violation> {
    let missing = |rule, detail: &str| vec![Violation::of_request(rule, detail)];
    match request.get("input") {
        Some(Value::String(text)) if !text.trim().is_empty() => Vec::new(),
        Some(Value::Array(items)) if !items.is_empty() => {
            let mut checker = Checker::default();
            for (index, item) in items.iter().enumerate() {
                checker.item(index, item);
            }
            checker.neighbours(items);
            checker.unanswered();
            checker.violations
        }
        Some(Value::Array(_) | Value::String(_)) => missing(
            Rule::EmptyMessages,
            "Invalid 'input': the input must not be empty.",
        ),
        _ => missing(
            Rule::MissingMessages,
            "Missing required parameter: 'input'.",
        ),
    }
}

/// Calls and the outputs that answer them, by the names that their ids have.
const PAIRS: &[(&str, &str)] = &[
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("local_shell_call", "local_shell_call_output"),
    ("shell_call", "shell_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
    ("computer_call", "computer_call_output"),
    ("tool_search_call", "tool_search_output"),
];

/// Items of the provider's own tools, and others that stand for themselves.
const ALONE: &[&str] = &[
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "additional_tools",
    "compaction",
    "compaction_trigger",
    "item_reference",
];

#[derive(Default)]
struct Checker<'a> {
    violations: Vec<Violation>,
    /// Every call so far: where it stands, and whether it was answered.
    calls: BTreeMap<&'a str, (usize, bool)>,
}

impl<'a> Checker<'a> {
    fn report(&mut self, rule: Rule, index: usize, detail: impl Into<String>) {
        self.violations
            .push(Violation::of_message(rule, index, detail));
    }

    fn item(&mut self, index: usize, item: &'a Value) {
        let kind = block_type(item);
        self.identifier(index, kind, text(item, "id"));
        match kind {
            "" | "message" => self.message(index, item),
            "reasoning" => {
                if !item.get("summary").is_some_and(Value::is_array) {
                    let detail = format!("Missing required parameter: 'input[{index}].summary'.");
                    self.report(Rule::MalformedContent, index, detail);
                }
            }
            _ if PAIRS.iter().any(|(call, _)| *call == kind) => self.call(index, kind, item),
            _ if PAIRS.iter().any(|(_, output)| *output == kind) => {
                self.output(index, kind, item);
            }
            _ if ALONE.contains(&kind) => {}
            other => {
                let detail = format!("Invalid value: '{other}' at 'input[{index}].type'.");
                self.report(Rule::MalformedContent, index, detail);
            }
        }
    }

    fn identifier(&mut self, index: usize, kind: &str, id: &str) {
        let prefix = match kind {
            "function_call" => "fc",
            "reasoning" => "rs",
            "message" => "msg",
            _ => return,
        };
        if !id.is_empty() && !id.starts_with(prefix) {
            let detail = format!(
                "Invalid 'input[{index}].id': '{id}'. Expected an ID that begins with '{prefix}'."
            );
            self.report(Rule::MalformedId, index, detail);
        }
    }

    fn message(&mut self, index: usize, item: &Value) {
        let role = text(item, "role");
        if !matches!(role, "user" | "assistant" | "system" | "developer") {
            let detail = format!(
                "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
            );
            self.report(Rule::UnknownRole, index, detail);
            return;
        }
        match item.get("content") {
            Some(Value::String(text)) if !text.trim().is_empty() => {}
            Some(Value::Array(parts)) if !parts.is_empty() => {
                for (position, part) in parts.iter().enumerate() {
                    self.part(index, position, role, part);
                }
            }
            Some(Value::String(_) | Value::Array(_)) => self.report(
                Rule::EmptyContent,
                index,
                format!("Invalid 'input[{index}].content': it must not be empty."),
            ),
            _ => self.report(
                Rule::MalformedContent,
                index,
                format!("Missing required parameter: 'input[{index}].content'."),
            ),
        }
    }

    fn part(&mut self, index: usize, position: usize, role: &str, part: &Value) {
        let kind = block_type(part);
        let is_allowed = match role {
            "assistant" => matches!(kind, "output_text" | "refusal"),
            _ => matches!(
                kind,
                "input_text" | "input_image" | "input_file" | "input_audio"
            ),
        };
        let problem = if !is_allowed {
            Some((
                Rule::MisplacedBlock,
                format!("Invalid value: '{kind}' in a message with role '{role}'."),
            ))
        } else if kind.ends_with("_text") && text(part, "text").is_empty() {
            Some((Rule::EmptyText, String::from("text part is empty")))
        } else {
            None
        };
        if let Some((rule, detail)) = problem {
            self.violations
                .push(Violation::of_block(rule, index, position, detail));
        }
    }

    fn call(&mut self, index: usize, kind: &str, item: &'a Value) {
        let id = text(item, "call_id");
        if kind == "tool_search_call" && id.is_empty() {
            // The provider searched itself and answers without an id.
            return;
        }
        let needs_name = matches!(kind, "function_call" | "custom_tool_call");
        if id.is_empty() || (needs_name && text(item, "name").is_empty()) {
            let detail = format!("Missing required parameter: 'input[{index}].call_id' or name.");
            self.report(Rule::MalformedContent, index, detail);
        }
        let arguments = match kind {
            "function_call" => Some("arguments"),
            "custom_tool_call" => Some("input"),
            _ => None,
        };
        if let Some(name) = arguments
            && !item.get(name).is_some_and(Value::is_string)
        {
            let detail = format!("Invalid type for 'input[{index}].{name}': expected a string.");
            self.report(Rule::MalformedArguments, index, detail);
        }
        if self.calls.insert(id, (index, false)).is_some() {
            let detail = format!("Duplicate value for 'call_id' of '{id}'.");
            self.report(Rule::DuplicateCallId, index, detail);
        }
    }

    fn output(&mut self, index: usize, kind: &str, item: &'a Value) {
        let id = match (text(item, "call_id"), kind) {
            ("", "local_shell_call_output") => text(item, "id"),
            ("", "tool_search_output") => return,
            (id, _) => id,
        };
        match self.calls.get_mut(id) {
            Some((_, is_answered)) if !*is_answered => *is_answered = true,
            // A second output is one that no call waits for, whether or not the first pair is still there.
            _ => {
                let detail =
                    format!("No tool call found for function call output with call_id {id}.");
                self.report(Rule::UnexpectedResult, index, detail);
            }
        }
        let needs_output = matches!(kind, "function_call_output" | "custom_tool_call_output");
        let is_given = matches!(item.get("output"), Some(Value::String(_) | Value::Array(_)));
        if needs_output && !is_given {
            let detail = format!("Missing required parameter: 'input[{index}].output'.");
            self.report(Rule::EmptyContent, index, detail);
        }
    }

    /// What has to stand next to what.
    fn neighbours(&mut self, items: &[Value]) {
        let mut thought: Option<&str> = None;
        for (index, item) in items.iter().enumerate() {
            let next = items.get(index + 1);
            let id = text(item, "id");
            match block_type(item) {
                "reasoning" => {
                    thought = signature::thought_of(id);
                    if !next.is_some_and(is_models_item) {
                        let detail = format!(
                            "Item '{id}' of type 'reasoning' was provided without its required following item."
                        );
                        self.report(Rule::LoneReasoning, index, detail);
                    }
                }
                "compaction_trigger" if next.is_some() => self.report(
                    Rule::MisplacedTrigger,
                    index,
                    "'compaction_trigger' must be the final input item.",
                ),
                kind if is_models_item(item) => {
                    let needed = signature::thought_of(id);
                    if needed.is_some() && needed != thought {
                        let detail = format!(
                            "Item '{id}' of type '{kind}' was provided without its required 'reasoning' item."
                        );
                        self.report(Rule::MissingReasoning, index, detail);
                    }
                }
                // A note in between is no end of the answer; anything else is.
                "message" | "" if matches!(text(item, "role"), "system" | "developer") => {}
                _ => thought = None,
            }
        }
    }

    fn unanswered(&mut self) {
        for (id, (index, is_answered)) in std::mem::take(&mut self.calls) {
            if !is_answered {
                let detail = format!("No tool output found for function call {id}.");
                self.report(Rule::UnansweredCall, index, detail);
            }
        }
    }
}
