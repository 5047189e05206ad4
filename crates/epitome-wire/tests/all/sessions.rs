//! Real sessions in the unified form, laid out as requests of every format.

use std::path::Path;

use epitome_wire::Wire;
use serde_json::{Value, json};

/// How much of each text is taken over. What cutting depends on is the structure; short texts make it
/// possible to try every cut of every session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    Whole,
    Short,
}

/// The messages of a unified session.
pub(crate) fn read(path: &Path, texts: Texts) -> Vec<Value> {
    let session: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut messages = session["messages"].as_array().unwrap().clone();
    if texts == Texts::Short {
        for message in &mut messages {
            if let Some(content) = message["content"].as_str() {
                message["content"] = json!(shortened(content));
            }
            for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
                let arguments = call["arguments"].as_str().unwrap_or_default();
                if arguments.len() > 200 {
                    let short = json!({"input": shortened(arguments)});
                    call["arguments"] = json!(short.to_string());
                }
            }
        }
    }
    messages
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// The session as a request.
pub(crate) fn request(wire: Wire, messages: &[Value]) -> Value {
    match wire {
        Wire::OpenAiChat => openai_chat(messages),
        Wire::OpenAiResponses => openai_responses(messages),
        Wire::Anthropic => anthropic(messages),
    }
}

fn openai_chat(messages: &[Value]) -> Value {
    let messages: Vec<Value> = messages
        .iter()
        .map(|message| {
            let mut out = json!({"role": message["role"], "content": message["content"]});
            if let Some(id) = message.get("tool_call_id") {
                out["tool_call_id"] = id.clone();
            }
            let calls: Vec<Value> = calls(message)
                .iter()
                .map(|call| {
                    json!({
                        "id": call["id"], "type": "function",
                        "function": {"name": call["name"], "arguments": call["arguments"]},
                    })
                })
                .collect();
            if !calls.is_empty() {
                out["tool_calls"] = json!(calls);
            }
            out
        })
        .collect();
    json!({"model": "gpt-5", "messages": messages, "stream": true})
}

fn openai_responses(messages: &[Value]) -> Value {
    let mut items = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap();
        let text = message["content"].as_str().unwrap_or_default();
        let part = match role {
            "assistant" => "output_text",
            _ => "input_text",
        };
        match role {
            "tool" => items.push(json!({
                "type": "function_call_output", "call_id": message["tool_call_id"], "output": text,
            })),
            // An answer of nothing but calls has no text of its own.
            "assistant" if text.is_empty() && !calls(message).is_empty() => {}
            _ => items.push(json!({
                "type": "message", "role": role, "content": [{"type": part, "text": text}],
            })),
        }
        items.extend(calls(message).iter().map(|call| {
            json!({
                "type": "function_call", "call_id": call["id"], "name": call["name"],
                "arguments": call["arguments"],
            })
        }));
    }
    json!({"model": "gpt-5", "input": items, "stream": true, "store": false})
}

fn anthropic(messages: &[Value]) -> Value {
    let mut system = Vec::new();
    let mut out: Vec<Value> = Vec::new();
    let mut after_result = false;
    for message in messages {
        let role = message["role"].as_str().unwrap();
        match role {
            "system" => system.push(json!({"type": "text", "text": message["content"]})),
            "tool" => {
                let block = json!({
                    "type": "tool_result", "tool_use_id": message["tool_call_id"],
                    "content": message["content"],
                });
                match out.last_mut().filter(|_| after_result) {
                    Some(last) => last["content"].as_array_mut().unwrap().push(block),
                    None => out.push(json!({"role": "user", "content": [block]})),
                }
            }
            "assistant" => out.push(json!({"role": role, "content": blocks(message)})),
            _ => out.push(json!({"role": role, "content": message["content"]})),
        }
        after_result = role == "tool";
    }
    let mut request = json!({"model": "claude-sonnet-4-5", "max_tokens": 8_192, "messages": out});
    if !system.is_empty() {
        request["system"] = json!(system);
    }
    request
}

fn blocks(message: &Value) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(text) = message["content"].as_str().filter(|text| !text.is_empty()) {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for call in calls(message) {
        let arguments = call["arguments"].as_str().unwrap_or_default();
        let input: Value = serde_json::from_str(arguments)
            .ok()
            .filter(Value::is_object)
            .unwrap_or_else(|| json!({"input": arguments}));
        blocks.push(json!({
            "type": "tool_use", "id": call["id"], "name": call["name"], "input": input,
        }));
    }
    blocks
}

fn calls(message: &Value) -> &[Value] {
    message["tool_calls"].as_array().map_or(&[], Vec::as_slice)
}
