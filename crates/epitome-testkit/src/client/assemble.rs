#![expect(
    clippy::indexing_slicing,
    reason = "the values are objects made here, and assigning to a key of an object inserts it"
)]

use serde_json::{Value, json};

use super::Event;
use crate::wire::{block_type, text};

pub(super) fn openai_chat(events: &[Event]) -> Option<Value> {
    if events.last()?.data != "[DONE]" {
        return None;
    }
    let mut content: Option<String> = None;
    let mut calls: Vec<Value> = Vec::new();
    for chunk in events.iter().map(Event::json) {
        let Some(delta) = chunk.pointer("/choices/0/delta") else {
            continue;
        };
        if let Some(fragment) = delta.get("content").and_then(Value::as_str) {
            content.get_or_insert_default().push_str(fragment);
        }
        for fragment in crate::wire::array(delta, "tool_calls") {
            let index = usize::try_from(fragment.get("index")?.as_u64()?).ok()?;
            if index == calls.len() {
                let mut call = fragment.clone();
                call.as_object_mut()?.remove("index");
                calls.push(call);
            } else {
                let added = fragment
                    .pointer("/function/arguments")
                    .and_then(Value::as_str)?;
                append(
                    calls.get_mut(index)?.pointer_mut("/function/arguments")?,
                    added,
                );
            }
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    Some(message)
}

/// The items as they were when each was done, put together from the pieces and compared with them.
pub(super) fn openai_responses(events: &[Event]) -> Option<Vec<Value>> {
    let last = events.last()?;
    if last.name != "response.completed" {
        return None;
    }
    let mut items: Vec<Value> = Vec::new();
    let mut pieces = String::new();
    for data in events.iter().map(Event::json) {
        match block_type(&data) {
            "response.output_text.delta" | "response.function_call_arguments.delta" => {
                pieces.push_str(text(&data, "delta"));
            }
            "response.output_item.done" => {
                let item = data.get("item")?.clone();
                let whole = match block_type(&item) {
                    "message" => item.pointer("/content/0/text")?.as_str()?,
                    "function_call" => text(&item, "arguments"),
                    _ => "",
                };
                if whole != pieces {
                    return None;
                }
                pieces.clear();
                items.push(item);
            }
            _ => {}
        }
    }
    let told = last.json().pointer("/response/output")?.as_array()?.clone();
    (told == items).then_some(items)
}

pub(super) fn anthropic(events: &[Event]) -> Option<Value> {
    if events.last()?.name != "message_stop" {
        return None;
    }
    let mut blocks: Vec<Value> = Vec::new();
    let mut input = String::new();
    for data in events.iter().map(Event::json) {
        match block_type(&data) {
            "content_block_start" => blocks.push(data.get("content_block")?.clone()),
            "content_block_delta" => {
                let block = blocks.last_mut()?;
                let delta = data.get("delta")?;
                match block_type(delta) {
                    "text_delta" => append(block.get_mut("text")?, text(delta, "text")),
                    "thinking_delta" => append(block.get_mut("thinking")?, text(delta, "thinking")),
                    "signature_delta" => {
                        append(block.get_mut("signature")?, text(delta, "signature"));
                    }
                    "input_json_delta" => input.push_str(text(delta, "partial_json")),
                    _ => {}
                }
            }
            "content_block_stop" if !input.is_empty() => {
                blocks.last_mut()?["input"] = serde_json::from_str(&input).ok()?;
                input.clear();
            }
            _ => {}
        }
    }
    Some(json!({"role": "assistant", "content": blocks}))
}

fn append(target: &mut Value, added: &str) {
    if let Value::String(text) = target {
        text.push_str(added);
    }
}
