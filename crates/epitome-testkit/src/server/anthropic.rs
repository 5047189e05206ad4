#![expect(
    clippy::indexing_slicing,
    reason = "the values are objects made here, and assigning to a key of an object inserts it"
)]

use serde_json::{Value, json};

use super::openai_chat::output_tokens;
use super::rendered::{Exchange, Rendered, fragments};
use super::reply::Answer;
use crate::signature;

pub(super) fn render(exchange: &Exchange<'_>, answer: &Answer) -> Rendered {
    let rendered = if exchange.wants_stream() {
        Rendered::stream(&events(exchange, answer))
    } else {
        let mut message = envelope(exchange, output_tokens(answer));
        message["usage"] = final_usage(exchange, answer);
        message["content"] = Value::Array(blocks(exchange, answer));
        message["stop_reason"] = json!(stop_reason(answer));
        Rendered::json(200, &message)
    };
    rendered.with_header("request-id", &exchange.identifier("req_", 0))
}

pub(super) fn models() -> Value {
    json!({
        "data": [{
            "type": "model", "id": "scripted", "display_name": "Scripted model",
            "created_at": "2026-01-01T00:00:00Z",
        }],
        "has_more": false, "first_id": "scripted", "last_id": "scripted",
    })
}

fn envelope(exchange: &Exchange<'_>, output_tokens: u64) -> Value {
    json!({
        "id": exchange.identifier("msg_01", 0),
        "type": "message",
        "role": "assistant",
        "model": exchange.model(),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(exchange, output_tokens),
    })
}

fn blocks(exchange: &Exchange<'_>, answer: &Answer) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(thinking) = &answer.thinking {
        blocks.push(json!({
            "type": "thinking", "thinking": thinking, "signature": signature::sign(thinking),
        }));
    }
    for position in 0..answer.searches as usize {
        let id = exchange.identifier("srvtoolu_01", position);
        blocks.push(json!({
            "type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "words"},
        }));
        blocks.push(json!({
            "type": "web_search_tool_result", "tool_use_id": id, "content": [{
                "type": "web_search_result", "title": "A page", "url": "https://example.org/",
                "encrypted_content": "EqgfCioIARgBIiQ3", "page_age": null,
            }],
        }));
    }
    if let Some(text) = &answer.text {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for (position, call) in answer.calls.iter().enumerate() {
        let id = call
            .id
            .clone()
            .unwrap_or_else(|| exchange.identifier("toolu_01", position));
        blocks.push(json!({
            "type": "tool_use", "id": id, "name": call.name, "input": call.arguments,
        }));
    }
    blocks
}

fn events(exchange: &Exchange<'_>, answer: &Answer) -> Vec<String> {
    let mut events = vec![event(&json!({
        "type": "message_start", "message": envelope(exchange, 1),
    }))];
    for (index, block) in blocks(exchange, answer).iter().enumerate() {
        block_events(index, block, &mut events);
        if index == 0 {
            // The provider keeps the connection alive with these, and a client must skip them anywhere.
            events.insert(2, event(&json!({"type": "ping"})));
        }
    }
    events.push(event(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
        "usage": final_usage(exchange, answer),
    })));
    events.push(event(&json!({"type": "message_stop"})));
    events
}

/// Start, deltas and stop of one block.
fn block_events(index: usize, block: &Value, events: &mut Vec<String>) {
    let field = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or("");
    let mut start = block.clone();
    let deltas: Vec<Value> = match field("type") {
        "thinking" => {
            start["thinking"] = json!("");
            start["signature"] = json!("");
            fragments(field("thinking"))
                .into_iter()
                .map(|part| json!({"type": "thinking_delta", "thinking": part}))
                .chain([json!({"type": "signature_delta", "signature": field("signature")})])
                .collect()
        }
        "text" => {
            start["text"] = json!("");
            fragments(field("text"))
                .into_iter()
                .map(|part| json!({"type": "text_delta", "text": part}))
                .collect()
        }
        kind if kind.ends_with("_tool_result") => Vec::new(),
        _ => {
            start["input"] = json!({});
            let input = block.get("input").map(Value::to_string).unwrap_or_default();
            [""].into_iter()
                .chain(fragments(&input))
                .map(|part| json!({"type": "input_json_delta", "partial_json": part}))
                .collect()
        }
    };
    events.push(event(&json!({
        "type": "content_block_start", "index": index, "content_block": start,
    })));
    events.extend(deltas.into_iter().map(|delta| {
        event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
    }));
    events.push(event(
        &json!({"type": "content_block_stop", "index": index}),
    ));
}

fn event(data: &Value) -> String {
    let name = data.get("type").and_then(Value::as_str).unwrap_or("");
    format!("event: {name}\ndata: {data}\n\n")
}

fn stop_reason(answer: &Answer) -> &str {
    match &answer.stop_reason {
        Some(reason) => reason,
        None if answer.calls.is_empty() => "end_turn",
        None => "tool_use",
    }
}

/// Usage whose three input numbers add up to the server's count, as the provider splits it.
fn usage(exchange: &Exchange<'_>, output_tokens: u64) -> Value {
    let split = exchange.split;
    json!({
        "input_tokens": split.plain,
        "cache_creation_input_tokens": split.created,
        "cache_read_input_tokens": split.read,
        "output_tokens": output_tokens,
        "service_tier": "standard",
    })
}

/// Usage at the end of an answer: every search read the input once more.
fn final_usage(exchange: &Exchange<'_>, answer: &Answer) -> Value {
    let mut usage = usage(exchange, output_tokens(answer));
    if answer.searches > 0 {
        for name in [
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
        ] {
            let once = usage.get(name).and_then(Value::as_u64).unwrap_or(0);
            usage[name] = json!(once * (u64::from(answer.searches) + 1));
        }
        usage["server_tool_use"] = json!({"web_search_requests": answer.searches});
    }
    usage
}
