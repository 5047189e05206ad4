#![expect(
    clippy::indexing_slicing,
    reason = "the values are objects made here, and assigning to a key of an object inserts it"
)]

use serde_json::{Value, json};

use super::openai_chat::output_tokens;
use super::rendered::{Exchange, Rendered, fragments};
use super::reply::Answer;
use crate::signature;
use crate::wire::array;

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
        "id": identifier(exchange),
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

/// What an answer is called.
pub(super) fn identifier(exchange: &Exchange<'_>) -> String {
    exchange.identifier("resp_", 0)
}

pub(super) fn items(exchange: &Exchange<'_>, answer: &Answer) -> Vec<Value> {
    let mut items = Vec::new();
    // What was thought about first cannot do without its reasoning, and its identifier tells so.
    let identifier = |prefix: &str, position: usize| match &answer.thinking {
        Some(thinking) => signature::thought_id(prefix, thinking, position),
        None => exchange.identifier(&format!("{prefix}_"), position),
    };
    if let Some(thinking) = &answer.thinking {
        items.push(json!({
            "id": identifier("rs", 0), "type": "reasoning", "summary": [],
            "encrypted_content": wants_sealed(exchange).then(|| signature::sign(thinking)),
        }));
    }
    if let Some(text) = &answer.text {
        items.push(json!({
            "id": identifier("msg", 0), "type": "message", "status": "completed",
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
            "id": identifier("fc", position), "type": "function_call",
            "status": "completed", "call_id": call_id, "name": call.name,
            "arguments": call.arguments.to_string(),
        }));
    }
    items
}

/// Without the wish for it the provider gives reasoning a name and nothing else.
fn wants_sealed(exchange: &Exchange<'_>) -> bool {
    let include = array(exchange.request, "include");
    include
        .iter()
        .any(|name| name == "reasoning.encrypted_content")
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
        self.push(json!({
            "type": "response.output_item.added", "output_index": index, "item": begun(item),
        }));
        let place = json!({"item_id": field("id"), "output_index": index});
        match field("type") {
            "message" => {
                let text = item.pointer("/content/0/text").and_then(Value::as_str);
                self.text(&place, text.unwrap_or(""));
            }
            "function_call" => {
                let kind = "response.function_call_arguments";
                for piece in fragments(field("arguments")) {
                    self.at(
                        &place,
                        json!({"type": format!("{kind}.delta"), "delta": piece}),
                    );
                }
                let whole =
                    json!({"type": format!("{kind}.done"), "arguments": field("arguments")});
                self.at(&place, whole);
            }
            _ => {}
        }
        self.push(json!({
            "type": "response.output_item.done", "output_index": index, "item": item,
        }));
    }
    /// The one part that a message has, in the events that clients put it together from.
    fn text(&mut self, place: &Value, text: &str) {
        let part = |text: &str| json!({"type": "output_text", "annotations": [], "text": text});
        let mut at = |mut data: Value| {
            data["content_index"] = json!(0);
            self.at(place, data);
        };
        at(json!({"type": "response.content_part.added", "part": part("")}));
        for piece in fragments(text) {
            at(json!({"type": "response.output_text.delta", "delta": piece, "logprobs": []}));
        }
        at(json!({"type": "response.output_text.done", "text": text, "logprobs": []}));
        at(json!({"type": "response.content_part.done", "part": part(text)}));
    }

    /// An event of one item.
    fn at(&mut self, place: &Value, mut data: Value) {
        for name in ["item_id", "output_index"] {
            data[name] = place[name].clone();
        }
        self.push(data);
    }
}

/// An item as it is announced: everything but what comes in pieces.
fn begun(item: &Value) -> Value {
    let mut begun = item.clone();
    match item["type"].as_str() {
        Some("message") => begun["content"] = json!([]),
        Some("function_call") => begun["arguments"] = json!(""),
        _ => return begun,
    }
    begun["status"] = json!("in_progress");
    begun
}
