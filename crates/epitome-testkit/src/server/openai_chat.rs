#![expect(
    clippy::indexing_slicing,
    reason = "the values are objects made here, and assigning to a key of an object inserts it"
)]

use serde_json::{Value, json};

use super::rendered::{Exchange, Rendered, fragments};
use super::reply::{Answer, Call};
use crate::tokens;

// A fixed moment: the same request must give the same bytes.
const CREATED_SECONDS: u64 = 1_767_225_600;

pub(super) fn render(exchange: &Exchange<'_>, answer: &Answer) -> Rendered {
    let rendered = if exchange.wants_stream() {
        Rendered::stream(&events(exchange, answer))
    } else {
        Rendered::json(200, &whole(exchange, answer))
    };
    rendered.with_header("x-request-id", &exchange.identifier("req_", 0))
}

pub(super) fn models() -> Value {
    json!({"object": "list", "data": [
        {"id": "scripted", "object": "model", "created": CREATED_SECONDS, "owned_by": "epitome"},
    ]})
}

fn whole(exchange: &Exchange<'_>, answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.text, "refusal": null});
    if !answer.calls.is_empty() {
        let calls: Vec<Value> = answer
            .calls
            .iter()
            .enumerate()
            .map(|(position, call)| {
                json!({
                    "id": call_id(exchange, call, position),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments.to_string()},
                })
            })
            .collect();
        message["tool_calls"] = Value::Array(calls);
    }
    json!({
        "id": exchange.identifier("chatcmpl-", 0),
        "object": "chat.completion",
        "created": CREATED_SECONDS,
        "model": exchange.model(),
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(answer),
        }],
        "usage": usage(exchange, answer),
        "system_fingerprint": "fp_scripted",
    })
}

fn events(exchange: &Exchange<'_>, answer: &Answer) -> Vec<String> {
    let includes_usage = exchange
        .request
        .pointer("/stream_options/include_usage")
        .and_then(Value::as_bool)
        == Some(true);
    let id = exchange.identifier("chatcmpl-", 0);
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": id,
            "object": "chat.completion.chunk",
            "created": CREATED_SECONDS,
            "model": exchange.model(),
            "system_fingerprint": "fp_scripted",
            "choices": choices,
        });
        if includes_usage {
            chunk["usage"] = usage;
        }
        format!("data: {chunk}\n\n")
    };
    let delta = |delta: Value, finish_reason: Option<&str>| {
        let choice = json!([{
            "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason,
        }]);
        chunk(choice, Value::Null)
    };

    let opening = answer.text.as_ref().map(|_| "");
    let mut events = vec![delta(
        json!({"role": "assistant", "content": opening, "refusal": null}),
        None,
    )];
    for fragment in fragments(answer.text.as_deref().unwrap_or("")) {
        events.push(delta(json!({"content": fragment}), None));
    }
    for (position, call) in answer.calls.iter().enumerate() {
        events.push(delta(
            json!({"tool_calls": [{
                "index": position,
                "id": call_id(exchange, call, position),
                "type": "function",
                "function": {"name": call.name, "arguments": ""},
            }]}),
            None,
        ));
        for fragment in fragments(&call.arguments.to_string()) {
            events.push(delta(
                json!({"tool_calls": [{"index": position, "function": {"arguments": fragment}}]}),
                None,
            ));
        }
    }
    events.push(delta(json!({}), Some(finish_reason(answer))));
    if includes_usage {
        events.push(chunk(json!([]), usage(exchange, answer)));
    }
    events.push(String::from("data: [DONE]\n\n"));
    events
}

fn call_id(exchange: &Exchange<'_>, call: &Call, position: usize) -> String {
    call.id
        .clone()
        .unwrap_or_else(|| exchange.identifier("call_", position))
}

fn finish_reason(answer: &Answer) -> &str {
    match &answer.stop_reason {
        Some(reason) => reason,
        None if answer.calls.is_empty() => "stop",
        None => "tool_calls",
    }
}

fn usage(exchange: &Exchange<'_>, answer: &Answer) -> Value {
    let output = output_tokens(answer);
    json!({
        "prompt_tokens": exchange.input_tokens,
        "completion_tokens": output,
        "total_tokens": exchange.input_tokens + output,
        "prompt_tokens_details": {"cached_tokens": exchange.split.read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    })
}

/// Output tokens of an answer, by the same measure as the input.
pub(super) fn output_tokens(answer: &Answer) -> u64 {
    let texts = [&answer.thinking, &answer.text];
    let text_bytes: usize = texts.into_iter().flatten().map(String::len).sum();
    let call_bytes: usize = answer
        .calls
        .iter()
        .map(|call| call.name.len() + call.arguments.to_string().len())
        .sum();
    tokens::of_bytes((text_bytes + call_bytes) as u64) + answer.calls.len() as u64
}
