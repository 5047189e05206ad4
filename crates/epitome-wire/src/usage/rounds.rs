//! Did the provider look at more than one prompt, or at another than was sent?

use crate::json::{Kind, Value};
use crate::wire::Wire;

/// Items of Responses that the client runs; every other call is run by the provider, in rounds of its own.
const CLIENT_CALLS: &[&str] = &[
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "computer_call",
    "apply_patch_call",
];

/// Words without which an event of a stream shows no rounds, counts apart.
pub(super) const fn marks(wire: Wire) -> &'static [&'static [u8]] {
    match wire {
        Wire::OpenAiChat => &[b"\"annotations\"", b"\"audio\"", b"\"citations\""],
        Wire::OpenAiResponses => &[b"output_item.added"],
        Wire::Anthropic => &[b"content_block_start"],
    }
}

/// Whether an answer, or an event of one, shows that its count is not one of the request alone.
pub(super) fn are_shown(wire: Wire, value: &Value<'_>) -> bool {
    match wire {
        Wire::OpenAiChat => in_chat(value),
        Wire::OpenAiResponses => in_responses(value),
        Wire::Anthropic => in_anthropic(value),
    }
}

fn in_chat(value: &Value<'_>) -> bool {
    let choices = value.get("choices").map(Value::items).unwrap_or_default();
    let messages = choices
        .iter()
        .flat_map(|choice| [choice.get("message"), choice.get("delta")]);
    let is_heard_or_found = messages
        .flatten()
        .any(|message| is_given(message.get("audio")) || has_items(message, "annotations"));
    let usage = value.get("usage");
    let counts = |name: &str| usage.is_some_and(|usage| usage.whole_number(name) > Some(0));
    let sounds = |details: &str| {
        let details = usage.and_then(|usage| usage.get(details));
        details.is_some_and(|details| details.whole_number("audio_tokens") > Some(0))
    };
    is_heard_or_found
        || has_items(value, "citations")
        || counts("num_search_queries")
        || counts("num_sources_used")
        || sounds("prompt_tokens_details")
        || sounds("completion_tokens_details")
}

fn in_responses(value: &Value<'_>) -> bool {
    let response = value.get("response").unwrap_or(value);
    let items = response.get("output").map(Value::items).unwrap_or_default();
    items.iter().chain(value.get("item")).any(is_server_item)
        || is_given(response.get("previous_response_id"))
        || is_given(response.get("conversation"))
}

fn is_server_item(item: &Value<'_>) -> bool {
    let kind = item.string("type").unwrap_or_default();
    let is_call = kind.ends_with("_call") && !CLIENT_CALLS.contains(&&*kind);
    is_call || kind.starts_with("mcp_") || kind == "compaction"
}

fn in_anthropic(value: &Value<'_>) -> bool {
    let message = value.get("message").unwrap_or(value);
    let blocks = message.get("content").map(Value::items).unwrap_or_default();
    let has_server_blocks = blocks
        .iter()
        .chain(value.get("content_block"))
        .any(is_server_block);
    let usage = super::usage(Wire::Anthropic, value);
    let ran = usage.and_then(|usage| usage.get("server_tool_use"));
    let ran_tools = ran.is_some_and(|ran| {
        let counts = ran.members().iter();
        let mut counts = counts.filter_map(|(_, count)| match count.kind {
            Kind::Number(number) => number.parse::<f64>().ok(),
            _ => None,
        });
        counts.any(|count| count > 0.0)
    });
    let passes = usage.and_then(|usage| usage.get("iterations"));
    let passes = passes.map(Value::items).unwrap_or_default();
    let was_edited = [Some(value), Some(message), value.get("delta")]
        .into_iter()
        .flatten()
        .filter_map(|holder| holder.get("context_management"))
        .any(|edited| has_items(edited, "applied_edits"));
    let stopped = value.get("delta").unwrap_or(message).string("stop_reason");
    has_server_blocks
        || ran_tools
        || passes.len() > 1
        || was_edited
        || matches!(stopped.as_deref(), Some("pause_turn" | "compaction"))
}

fn is_server_block(block: &Value<'_>) -> bool {
    let kind = block.string("type").unwrap_or_default();
    matches!(
        &*kind,
        "server_tool_use" | "mcp_tool_use" | "container_upload" | "compaction"
    ) || (kind.ends_with("tool_result") && kind != "tool_result")
}

fn is_given(value: Option<&Value<'_>>) -> bool {
    value.is_some_and(|value| !value.is_null())
}

fn has_items(value: &Value<'_>, name: &str) -> bool {
    value
        .get(name)
        .is_some_and(|items| !items.items().is_empty())
}
