//! A conversation as items of OpenAI Responses.

#![expect(
    clippy::indexing_slicing,
    reason = "the values are objects made here, and assigning to a key of an object inserts it"
)]

use serde_json::{Value, json};

use super::story::{Outcome, Part, Request, Speech};
use super::{Kind, text, tools};
use crate::signature;

/// The tool that takes free text.
const FREE_TEXT_TOOL: &str = "edit_file";

pub(super) fn head() -> Vec<Value> {
    vec![json!({
        "type": "message", "role": "system",
        "content": [{"type": "input_text", "text": "Answer in the language of the question."}],
    })]
}

pub(super) fn append(part: &Part, items: &mut Vec<Value>) {
    match part {
        Part::User { text, image } => items.push(user(text, image.as_deref())),
        Part::Assistant(speech) => items.extend(answer(speech)),
        Part::Results(outcomes) => {
            // An output is of the kind of its call, which stands not far before it.
            let kinds: Vec<&str> = outcomes
                .iter()
                .map(|outcome| {
                    let id = call_id(&outcome.id);
                    let call = items
                        .iter()
                        .rev()
                        .find(|item| item["call_id"] == id.as_str());
                    match call.and_then(|call| call["type"].as_str()) {
                        Some("custom_tool_call") => "custom_tool_call_output",
                        _ => "function_call_output",
                    }
                })
                .collect();
            items.extend(
                outcomes
                    .iter()
                    .zip(kinds)
                    .map(|(one, kind)| output(one, kind)),
            );
        }
    }
}

pub(super) fn request(kind: Kind, seed: u64, items: &[Value]) -> Value {
    let mut request = json!({
        "model": "gpt-scripted", "instructions": text::system(seed), "input": items,
        "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": format!("{seed:016x}"),
    });
    if kind != Kind::Chat {
        request["tools"] = tools::responses_definitions();
    }
    request
}

/// Short forms where there is nothing but text, as people write them by hand.
fn user(text: &str, image: Option<&str>) -> Value {
    let Some(image) = image else {
        return json!({"role": "user", "content": text});
    };
    let text = json!({"type": "input_text", "text": text});
    json!({"type": "message", "role": "user", "content": [text, picture(image)]})
}

fn picture(data: &str) -> Value {
    json!({
        "type": "input_image", "detail": "auto", "image_url": format!("data:image/png;base64,{data}"),
    })
}

/// Reasoning, then text, then calls. What reasoning led to needs it, and the identifiers say so.
fn answer(speech: &Speech) -> Vec<Value> {
    let id = |prefix: &str, position: usize| match &speech.thinking {
        Some(thinking) => json!(signature::thought_id(prefix, thinking, position)),
        None => Value::Null,
    };
    let mut items = Vec::new();
    let secrets = [
        speech.thinking.as_deref().map(signature::sign),
        speech.redacted.clone(),
    ];
    for secret in secrets.into_iter().flatten() {
        items.push(json!({
            "type": "reasoning", "id": id("rs", items.len()), "summary": [],
            "encrypted_content": secret,
        }));
    }
    if let Some(text) = &speech.text {
        items.push(json!({
            "type": "message", "id": id("msg", items.len()), "role": "assistant",
            "content": [{"type": "output_text", "text": text}], "status": "completed",
        }));
    }
    for request in &speech.calls {
        let prefix = match request.name {
            FREE_TEXT_TOOL => "ctc",
            _ => "fc",
        };
        items.push(call(request, &id(prefix, items.len())));
    }
    for item in &mut items {
        if let Some(members) = item.as_object_mut() {
            members.retain(|_, value| !value.is_null());
        }
    }
    items
}

fn call(request: &Request, id: &Value) -> Value {
    let arguments = request.arguments.to_string();
    let call_id = call_id(&request.id);
    if request.name == FREE_TEXT_TOOL {
        return json!({
            "type": "custom_tool_call", "id": id, "call_id": call_id, "name": request.name,
            "input": arguments, "status": "completed",
        });
    }
    json!({
        "type": "function_call", "id": id, "call_id": call_id, "name": request.name,
        "arguments": arguments,
    })
}

fn call_id(id: &str) -> String {
    format!("call_{id}")
}

fn output(outcome: &Outcome, kind: &str) -> Value {
    let output = match &outcome.image {
        None => json!(outcome.text),
        Some(image) => {
            let text = json!({"type": "input_text", "text": outcome.text});
            json!([text, picture(image)])
        }
    };
    json!({"type": kind, "call_id": call_id(&outcome.id), "output": output})
}
