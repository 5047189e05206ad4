#![expect(
    clippy::indexing_slicing,
    reason = "the values are objects made here, and assigning to a key of an object inserts it"
)]

use serde_json::{Value, json};

use super::story::{Outcome, Part, Speech};
use super::{Kind, responses, text, tools};
use crate::{Wire, signature};

/// The messages in front of the conversation: OpenAI keeps its system prompt there, or a part of it.
pub(super) fn head(wire: Wire, seed: u64) -> Vec<Value> {
    match wire {
        Wire::OpenaiChat => vec![json!({"role": "system", "content": text::system(seed)})],
        Wire::OpenaiResponses => responses::head(),
        Wire::Anthropic => Vec::new(),
    }
}

/// Adds a part of the conversation as one or more messages.
pub(super) fn append(wire: Wire, part: &Part, messages: &mut Vec<Value>) {
    match (wire, part) {
        (Wire::OpenaiChat, Part::User { text, image }) => {
            messages.push(json!({"role": "user", "content": openai_user(text, image.as_deref())}));
        }
        (Wire::OpenaiChat, Part::Assistant(speech)) => messages.push(openai_assistant(speech)),
        (Wire::OpenaiChat, Part::Results(outcomes)) => {
            messages.extend(outcomes.iter().map(|outcome| {
                json!({
                    "role": "tool",
                    "tool_call_id": format!("call_{}", outcome.id),
                    "content": outcome.text,
                })
            }));
        }
        (Wire::OpenaiResponses, part) => responses::append(part, messages),
        (Wire::Anthropic, Part::User { text, image }) => {
            messages
                .push(json!({"role": "user", "content": anthropic_user(text, image.as_deref())}));
        }
        (Wire::Anthropic, Part::Assistant(speech)) => {
            messages.push(json!({"role": "assistant", "content": anthropic_assistant(speech)}));
        }
        (Wire::Anthropic, Part::Results(outcomes)) => {
            let results: Vec<Value> = outcomes.iter().map(anthropic_result).collect();
            messages.push(json!({"role": "user", "content": results}));
        }
    }
}

/// The request around the messages.
pub(super) fn request(wire: Wire, kind: Kind, seed: u64, messages: &[Value]) -> Value {
    match wire {
        Wire::OpenaiChat => {
            let mut request = json!({
                "model": "gpt-scripted", "messages": messages, "stream": true,
                "stream_options": {"include_usage": true}, "temperature": 0.2,
            });
            if kind != Kind::Chat {
                request["tools"] = tools::openai_definitions();
            }
            request
        }
        Wire::OpenaiResponses => responses::request(kind, seed, messages),
        Wire::Anthropic => {
            let mut messages = messages.to_vec();
            if kind == Kind::Mixed {
                mark_last(&mut messages);
            }
            let mut request = json!({
                "model": "claude-scripted", "max_tokens": 4096, "messages": messages, "stream": true,
                "system": [{
                    "type": "text", "text": text::system(seed), "cache_control": {"type": "ephemeral"},
                }],
                "metadata": {"user_id": format!("user_{seed:016x}")},
            });
            if kind != Kind::Chat {
                request["tools"] = tools::anthropic_definitions();
            }
            if kind == Kind::Thinking {
                request["thinking"] = json!({"type": "enabled", "budget_tokens": 2048});
            }
            request
        }
    }
}

fn openai_user(text: &str, image: Option<&str>) -> Value {
    image.map_or_else(
        || json!(text),
        |image| {
            json!([
                {"type": "text", "text": text},
                {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{image}")}},
            ])
        },
    )
}

fn openai_assistant(speech: &Speech) -> Value {
    let mut message = json!({"role": "assistant", "content": speech.text});
    if let Some(thinking) = &speech.thinking {
        message["reasoning_content"] = json!(thinking);
    }
    if !speech.calls.is_empty() {
        let calls: Vec<Value> = speech
            .calls
            .iter()
            .map(|call| {
                json!({
                    "id": format!("call_{}", call.id), "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments.to_string()},
                })
            })
            .collect();
        message["tool_calls"] = Value::Array(calls);
    }
    message
}

fn anthropic_user(text: &str, image: Option<&str>) -> Value {
    image.map_or_else(
        || json!(text),
        |image| json!([picture(image), {"type": "text", "text": text}]),
    )
}

fn anthropic_assistant(speech: &Speech) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(thinking) = &speech.thinking {
        blocks.push(json!({
            "type": "thinking", "thinking": thinking, "signature": signature::sign(thinking),
        }));
    }
    if let Some(data) = &speech.redacted {
        blocks.push(json!({"type": "redacted_thinking", "data": data}));
    }
    if let Some(text) = &speech.text {
        blocks.push(json!({"type": "text", "text": text}));
    }
    blocks.extend(speech.calls.iter().map(|call| {
        json!({
            "type": "tool_use", "id": format!("toolu_01{}", call.id),
            "name": call.name, "input": call.arguments,
        })
    }));
    blocks
}

fn anthropic_result(outcome: &Outcome) -> Value {
    let content = outcome.image.as_ref().map_or_else(
        || json!(outcome.text),
        |image| json!([{"type": "text", "text": outcome.text}, picture(image)]),
    );
    let mut result = json!({
        "type": "tool_result", "tool_use_id": format!("toolu_01{}", outcome.id), "content": content,
    });
    if outcome.is_error {
        result["is_error"] = json!(true);
    }
    result
}

fn picture(data: &str) -> Value {
    json!({
        "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data},
    })
}

/// Puts a cache mark on the last block, which makes a string content a list of blocks first.
fn mark_last(messages: &mut [Value]) {
    let Some(content) = messages
        .last_mut()
        .and_then(|message| message.get_mut("content"))
    else {
        return;
    };
    if let Value::String(text) = content {
        *content = json!([{"type": "text", "text": text}]);
    }
    if let Some(block) = content.as_array_mut().and_then(|blocks| blocks.last_mut()) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}
