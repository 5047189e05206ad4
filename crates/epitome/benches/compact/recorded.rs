//! A recorded session, where there is one.

use std::path::{Path, PathBuf};

use epitome::{Block, Call, Message, ResultPart, Role, ToolResult};
use serde_json::Value;

/// The longest recorded session, with its name; `None` where the folder is missing.
pub(crate) fn longest() -> Option<(String, Vec<Message>)> {
    let data = match std::env::var_os("EPITOME_DATA") {
        Some(data) => PathBuf::from(data),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let files = std::fs::read_dir(data.join("unified")).ok()?.flatten();
    let file = files.max_by_key(|file| file.metadata().map_or(0, |data| data.len()))?;
    let session: Value = serde_json::from_slice(&std::fs::read(file.path()).ok()?).ok()?;
    let messages = session["messages"].as_array()?.iter().map(message);
    Some((
        file.path().file_stem()?.to_string_lossy().into_owned(),
        messages.collect(),
    ))
}

fn message(value: &Value) -> Message {
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let text = string(&value["content"]);
    let role = match value["role"].as_str() {
        Some("system") => Role::System,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => Role::User,
    };
    if role == Role::Tool {
        let id = string(&value["tool_call_id"]);
        let result = ToolResult {
            call_id: id.into(),
            parts: vec![ResultPart::Text(text)],
            is_error: false,
        };
        return Message {
            role,
            blocks: vec![Block::Result(result)],
        };
    }
    let calls = value["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| {
            Block::Call(Call::new(
                string(&call["id"]),
                string(&call["name"]),
                string(&call["arguments"]),
            ))
        });
    let spoken = (!text.is_empty()).then_some(Block::Text(text));
    Message {
        role,
        blocks: spoken.into_iter().chain(calls).collect(),
    }
}
