//! How many tokens a request has: o200k over everything that the model reads.

use epitome_testkit::Wire;
use serde_json::Value;

const IMAGE_TOKENS: u64 = 1_100;
/// Roles and borders of a message.
const MESSAGE_TOKENS: u64 = 4;

/// What never reaches the model as text.
const UNREAD: &[&str] = &[
    "type",
    "id",
    "role",
    "status",
    "call_id",
    "tool_use_id",
    "tool_call_id",
    "cache_control",
    "signature",
    "internal_chat_message_metadata_passthrough",
    "phase",
];

pub(super) fn tokens(wire: Wire, request: &Value) -> u64 {
    let (list, top) = match wire {
        Wire::OpenaiChat => ("messages", ""),
        Wire::OpenaiResponses => ("input", "instructions"),
        Wire::Anthropic => ("messages", "system"),
    };
    let tools = request
        .get("tools")
        .map_or(0, |tools| words(&tools.to_string()));
    let system = request.get(top).map_or(0, visible);
    let messages = request.get(list).map_or(0, visible);
    let count = request
        .get(list)
        .and_then(Value::as_array)
        .map_or(1, Vec::len);
    tools + system + messages + MESSAGE_TOKENS * count as u64 + 3
}

pub(super) fn words(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

fn visible(value: &Value) -> u64 {
    match value {
        Value::String(text) => words(text),
        Value::Array(values) => values.iter().map(visible).sum(),
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str);
            if matches!(kind, Some("image" | "image_url" | "input_image")) {
                return IMAGE_TOKENS;
            }
            let one = |(name, value): (&String, &Value)| match name.as_str() {
                // The provider counts what was thought, which is shorter than its sealed form.
                "encrypted_content" => value.as_str().map_or(0, |text| text.len() as u64 / 5),
                name if UNREAD.contains(&name) => 0,
                _ => visible(value),
            };
            fields.iter().map(one).sum()
        }
        Value::Number(_) | Value::Bool(_) => 1,
        Value::Null => 0,
    }
}
