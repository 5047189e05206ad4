//! A request as short lines of kinds, for snapshots that people can read.
//!
//! One line per message: its index, its role and its parts in order. A part that carries a cache mark ends in
//! `*`. The system prompt of an Anthropic request stands outside the messages and gets `--` for an index.

use serde_json::Value;

use crate::Wire;
use crate::wire::{array, block_type, messages, text};

/// The shape of a request in the given format, one line per message, without a final line break.
#[must_use]
pub fn of(wire: Wire, request: &Value) -> String {
    match wire {
        Wire::OpenaiChat => openai_chat(request),
        Wire::OpenaiResponses => openai_responses(request),
        Wire::Anthropic => anthropic(request),
    }
}

/// The shape of an OpenAI Chat Completions request.
#[must_use]
pub fn openai_chat(request: &Value) -> String {
    lines(request).join("\n")
}

/// The shape of an Anthropic Messages request.
#[must_use]
pub fn anthropic(request: &Value) -> String {
    let mut shape = Vec::new();
    if let Some(system) = request.get("system") {
        shape.push(format!("-- system {}", content_parts(system).join(", ")));
    }
    shape.extend(lines(request));
    shape.join("\n")
}

/// The shape of an OpenAI Responses request: one line per item.
#[must_use]
pub fn openai_responses(request: &Value) -> String {
    let mut shape = Vec::new();
    if request.get("instructions").is_some_and(Value::is_string) {
        shape.push(String::from("-- instructions text"));
    }
    shape.extend(messages(request).iter().enumerate().map(|(index, item)| {
        let line = match block_type(item) {
            "message" | "" => {
                let role = text(item, "role");
                format!("{role} {}", parts(role, item).join(", "))
            }
            kind @ ("function_call" | "custom_tool_call") => {
                let kind = kind.trim_end_matches("_call");
                format!("assistant {kind} call {}", text(item, "name"))
            }
            "reasoning" => String::from("assistant reasoning"),
            kind if kind.ends_with("_output") => String::from("tool result"),
            kind => kind.to_owned(),
        };
        format!("{index:02} {line}")
    }));
    shape.join("\n")
}

fn lines(request: &Value) -> Vec<String> {
    messages(request)
        .iter()
        .enumerate()
        .map(|(index, message)| {
            let role = text(message, "role");
            format!("{index:02} {role} {}", parts(role, message).join(", "))
        })
        .collect()
}

fn parts(role: &str, message: &Value) -> Vec<String> {
    if role == "tool" {
        return vec![String::from("result")];
    }
    let mut parts = message
        .get("content")
        .map(content_parts)
        .unwrap_or_default();
    let calls = array(message, "tool_calls");
    if !calls.is_empty() {
        parts.retain(|part| part != "empty");
    }
    parts.extend(calls.iter().map(|call| {
        let name = ["function", "custom"]
            .iter()
            .find_map(|kind| call.get(kind))
            .map_or("?", |called| text(called, "name"));
        format!("call {name}")
    }));
    parts
}

fn content_parts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) if !text.is_empty() => vec![String::from("text")],
        Value::Array(blocks) if !blocks.is_empty() => blocks.iter().map(part).collect(),
        _ => vec![String::from("empty")],
    }
}

fn part(block: &Value) -> String {
    let is_error = block.get("is_error").and_then(Value::as_bool) == Some(true);
    let mut name = match block_type(block) {
        "text" if text(block, "text").is_empty() => String::from("empty"),
        "tool_use" => format!("call {}", text(block, "name")),
        "server_tool_use" => format!("server call {}", text(block, "name")),
        "tool_result" if is_error => String::from("result error"),
        "tool_result" => String::from("result"),
        "image_url" | "input_image" => String::from("image"),
        "input_text" | "output_text" => String::from("text"),
        "" => String::from("?"),
        other => other.to_owned(),
    };
    if block
        .get("cache_control")
        .is_some_and(|mark| !mark.is_null())
    {
        name.push('*');
    }
    name
}
