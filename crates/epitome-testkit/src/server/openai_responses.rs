use serde_json::{Value, json};

use super::openai_chat::output_tokens;
use super::rendered::{Exchange, Rendered, fragments};
use super::reply::Answer;
use crate::signature;

// A fixed moment: the same request must give the same bytes.
const CREATED_SECONDS: u64 = 1_767_225_600;

pub(super) fn render(exchange: &Exchange<'_>, answer: &Answer) -> Rendered {
    let rendered = if exchange.wants_stream() {
        Rendered::stream(&events(exchange, answer))
    } else {
        Rendered::json(200, &response(exchange, answer, ending(answer)))
    };
    rendered.with_header("x-request-id", &exchange.identifier("req_", 0))
}

fn response(exchange: &Exchange<'_>, answer: &Answer, status: &str) -> Value {
    let is_done = status != "in_progress";
    let details = match status {
        "incomplete" => json!({"reason": answer.stop_reason}),
        _ => Value::Null,
    };
    let output = output_tokens(answer);
    let usage = json!({
        "input_tokens": exchange.input_tokens,
        "input_tokens_details": {"cached_tokens": exchange.split.read},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": exchange.input_tokens + output,
    });
    json!({
        "id": exchange.identifier("resp_", 0),
        "object": "response",
        "created_at": CREATED_SECONDS,
        "status": status,
        "error": null,
        "incomplete_details": details,
        "model": exchange.model(),
        "output": if is_done { items(exchange, answer) } else { Vec::new() },
        "parallel_tool_calls": true,
        "store": false,
        "usage": if is_done { usage } else { Value::Null },
    })
}

/// How the response ends: a reason to stop is one to stop early.
const fn ending(answer: &Answer) -> &'static str {
    match answer.stop_reason {
        Some(_) => "incomplete",
        None => "completed",
    }
}

fn items(exchange: &Exchange<'_>, answer: &Answer) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(thinking) = &answer.thinking {
        items.push(json!({
            "id": exchange.identifier("rs_", 0), "type": "reasoning", "summary": [],
            "encrypted_content": signature::sign(thinking),
        }));
    }
    if let Some(text) = &answer.text {
        items.push(json!({
            "id": exchange.identifier("msg_", 0), "type": "message", "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "annotations": [], "text": text}],
        }));
    }
    for (position, call) in answer.calls.iter().enumerate() {
        let call_id = call
            .id
            .clone()
            .unwrap_or_else(|| exchange.identifier("call_", position));
        items.push(json!({
            "id": exchange.identifier("fc_", position), "type": "function_call",
            "status": "completed", "call_id": call_id, "name": call.name,
            "arguments": call.arguments.to_string(),
        }));
    }
    items
}

fn events(exchange: &Exchange<'_>, answer: &Answer) -> Vec<String> {
    let mut stream = Stream::default();
    for kind in ["response.created", "response.in_progress"] {
        stream.push(json!({"type": kind, "response": response(exchange, answer, "in_progress")}));
    }
    for (index, item) in items(exchange, answer).iter().enumerate() {
        stream.item(index, item);
    }
    let status = ending(answer);
    let response = response(exchange, answer, status);
    stream.push(json!({"type": format!("response.{status}"), "response": response}));
    stream.events
}

#[derive(Default)]
struct Stream {
    events: Vec<String>,
}

impl Stream {
    fn push(&mut self, mut data: Value) {
        if let Some(members) = data.as_object_mut() {
            members.insert(String::from("sequence_number"), json!(self.events.len()));
        }
        let name = data.get("type").and_then(Value::as_str).unwrap_or("");
        self.events.push(format!("event: {name}\ndata: {data}\n\n"));
    }

    /// One item: that it begins, its pieces, and the whole.
    fn item(&mut self, index: usize, item: &Value) {
        let field = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or("");
        let started = json!({"type": field("type"), "id": field("id"), "status": "in_progress"});
        self.push(json!({
            "type": "response.output_item.added", "output_index": index, "item": started,
        }));
        let (kind, pieces) = match field("type") {
            "message" => {
                let text = item.pointer("/content/0/text").and_then(Value::as_str);
                ("response.output_text", fragments(text.unwrap_or("")))
            }
            "function_call" => (
                "response.function_call_arguments",
                fragments(field("arguments")),
            ),
            _ => ("", Vec::new()),
        };
        for piece in pieces {
            self.push(json!({
                "type": format!("{kind}.delta"), "item_id": field("id"), "output_index": index,
                "delta": piece,
            }));
        }
        self.push(json!({
            "type": "response.output_item.done", "output_index": index, "item": item,
        }));
    }
}
