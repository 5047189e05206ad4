use serde_json::{Value, json};

use super::text;
use crate::random::Random;

const NAMES: &[&str] = &[
    "read_file",
    "grep",
    "run_command",
    "edit_file",
    "list_directory",
];

/// A tool and arguments for it.
pub(super) fn call(random: &mut Random) -> (&'static str, Value) {
    let name = *random.pick(NAMES);
    let arguments = match name {
        "read_file" => json!({
            "path": text::path(random), "offset": random.between(1, 900), "limit": random.between(20, 400),
        }),
        "grep" => json!({"pattern": text::symbol(random), "path": text::directory(random)}),
        "run_command" => json!({"command": text::command(random), "timeout_ms": 120_000}),
        "edit_file" => {
            let lines = random.between(3, 14);
            json!({
                "path": text::path(random),
                "old_text": text::code(random, 3),
                "new_text": text::code(random, lines),
            })
        }
        _ => json!({"path": text::directory(random)}),
    };
    (name, arguments)
}

/// What such a call gives back.
pub(super) fn result(name: &str, is_error: bool, random: &mut Random) -> String {
    if is_error {
        return text::failure(random);
    }
    match name {
        "read_file" => {
            let lines = random.between(30, 140);
            text::code(random, lines)
        }
        "grep" => {
            let lines = random.between(3, 60);
            text::matches(random, lines)
        }
        "run_command" => {
            let lines = random.between(5, 90);
            text::log(random, lines)
        }
        "edit_file" => format!("The file {} has been updated.", text::path(random)),
        _ => {
            let lines = random.between(5, 60);
            text::listing(random, lines)
        }
    }
}

pub(super) fn openai_definitions() -> Value {
    let tools = definitions()
        .into_iter()
        .map(|(name, description, schema)| {
            json!({
                "type": "function",
                "function": {"name": name, "description": description, "parameters": schema},
            })
        });
    Value::Array(tools.collect())
}

pub(super) fn responses_definitions() -> Value {
    let tools = definitions().into_iter().map(|(name, description, schema)| {
        json!({"type": "function", "name": name, "description": description, "parameters": schema})
    });
    Value::Array(tools.collect())
}

pub(super) fn anthropic_definitions() -> Value {
    let tools = definitions().into_iter().map(|(name, description, schema)| {
        json!({"name": name, "description": description, "input_schema": schema})
    });
    Value::Array(tools.collect())
}

fn definitions() -> Vec<(&'static str, &'static str, Value)> {
    let string = || json!({"type": "string"});
    let schema = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required});
    vec![
        (
            "read_file",
            "Reads a part of a text file and returns its lines.",
            schema(
                json!({"path": string(), "offset": {"type": "integer"}, "limit": {"type": "integer"}}),
                &["path"],
            ),
        ),
        (
            "grep",
            "Finds the lines that match a pattern below a directory.",
            schema(json!({"pattern": string(), "path": string()}), &["pattern"]),
        ),
        (
            "run_command",
            "Runs a shell command in the project and returns what it prints.",
            schema(
                json!({"command": string(), "timeout_ms": {"type": "integer"}}),
                &["command"],
            ),
        ),
        (
            "edit_file",
            "Replaces one piece of text in a file by another.",
            schema(
                json!({"path": string(), "old_text": string(), "new_text": string()}),
                &["path", "old_text", "new_text"],
            ),
        ),
        (
            "list_directory",
            "Lists the entries of a directory with their sizes.",
            schema(json!({"path": string()}), &["path"]),
        ),
    ]
}
