//! OpenAI Chat Completions.

#![expect(
    clippy::indexing_slicing,
    reason = "the values are objects made here, and assigning to a key of an object inserts it"
)]

use serde_json::{Value, json};

use super::Everything;
use crate::generate::tools;

pub(super) fn head(talk: &mut Everything) {
    let system = talk.system();
    let role = *talk.random.pick(&["system", "developer"]);
    talk.list.push(json!({"role": role, "content": system}));
    if talk.random.chance(15) {
        let note = talk.note();
        talk.list
            .push(json!({"role": "system", "content": [{"type": "text", "text": note}]}));
    }
}

pub(super) fn request(talk: &mut Everything) -> Value {
    let mut messages = talk.list.clone();
    if talk.random.chance(6) {
        messages.push(json!({"role": "assistant", "content": "Here is what I found:"}));
    }
    let mut request = json!({"model": "gpt-scripted", "messages": messages, "stream": true});
    if talk.is_roomy {
        request["tools"] = tools::openai_definitions();
    }
    request
}

pub(super) fn user(talk: &mut Everything) {
    let question = talk.question();
    let content = match talk.random.below(12) {
        0 => {
            let image = talk.image();
            json!([
                {"type": "text", "text": question},
                {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{image}"), "detail": "low"}},
            ])
        }
        1 => {
            let data = talk.data(200);
            json!([
                {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
                {"type": "text", "text": question},
            ])
        }
        2 => {
            let data = talk.data(200);
            json!([
                {"type": "file", "file": {"filename": "report.pdf", "file_data": format!("data:application/pdf;base64,{data}")}},
                {"type": "text", "text": question},
            ])
        }
        3 => json!([{"type": "text", "text": question}]),
        _ => json!(question),
    };
    let mut message = json!({"role": "user", "content": content});
    if talk.random.chance(10) {
        message["name"] = json!("ada");
    }
    talk.list.push(message);
    if talk.random.chance(10) {
        let more = talk.words(10);
        talk.list.push(json!({"role": "user", "content": more}));
    }
}

pub(super) fn advance(talk: &mut Everything) {
    // Several steps in one turn, as agents make them.
    for _ in 0..talk.random.below(3) {
        step(talk);
        notes(talk, 6);
    }
    if talk.random.chance(55) {
        let answer = answer(talk);
        talk.list.push(answer);
        if talk.random.chance(10) {
            let words = talk.words(20);
            talk.list
                .push(json!({"role": "assistant", "content": words}));
        }
        notes(talk, 8);
        user(talk);
    } else {
        step(talk);
        if talk.random.chance(15) {
            user(talk);
        }
    }
    notes(talk, 20);
}

fn notes(talk: &mut Everything, percent: usize) {
    while talk.random.chance(percent) {
        let role = *talk.random.pick(&["system", "developer"]);
        let note = talk.note();
        talk.list.push(json!({"role": role, "content": note}));
    }
}

/// An answer without calls.
fn answer(talk: &mut Everything) -> Value {
    let words = talk.words(70);
    match talk.random.below(14) {
        0 => json!({"role": "assistant", "content": null, "refusal": "I cannot help with that."}),
        1 => {
            let parts = json!([
                {"type": "text", "text": words},
                {"type": "refusal", "refusal": "The rest I cannot say."},
            ]);
            json!({"role": "assistant", "content": parts})
        }
        2 => {
            let id = format!("audio_{}", talk.id());
            json!({"role": "assistant", "content": null, "audio": {"id": id}})
        }
        3..6 => {
            let thought = talk.words(30);
            json!({"role": "assistant", "content": words, "reasoning_content": thought})
        }
        6 => json!({"role": "assistant", "content": words, "refusal": null, "annotations": []}),
        _ => json!({"role": "assistant", "content": words}),
    }
}

/// Calls and their results.
fn step(talk: &mut Everything) {
    if talk.random.chance(4) {
        return old_step(talk);
    }
    let mut message = json!({"role": "assistant", "content": null});
    match talk.random.below(3) {
        0 => message["content"] = json!(""),
        1 => message["content"] = json!(talk.words(15)),
        _ => {}
    }
    if talk.random.chance(25) {
        message["reasoning_content"] = json!(talk.words(25));
    }
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for _ in 0..talk.calls().max(1) {
        let id = format!("call_{}", talk.id());
        let (name, arguments) = talk.call();
        calls.push(match talk.random.chance(12) {
            true => json!({
                "id": id, "type": "custom",
                "custom": {"name": name, "input": arguments.to_string()},
            }),
            false => json!({
                "id": id, "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()},
            }),
        });
        let output = talk.output(60);
        let content = match talk.random.below(10) {
            0 => json!([{"type": "text", "text": output}]),
            1 => json!(""),
            _ => json!(output),
        };
        results.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
    }
    message["tool_calls"] = Value::Array(calls);
    talk.list.push(message);
    if talk.random.chance(25) {
        results.reverse();
    }
    talk.list.extend(results);
}

/// A call as it was made before there were several at once.
fn old_step(talk: &mut Everything) {
    let (name, arguments) = talk.call();
    let output = talk.output(50);
    talk.list.extend([
        json!({
            "role": "assistant", "content": null,
            "function_call": {"name": name, "arguments": arguments.to_string()},
        }),
        json!({"role": "function", "name": name, "content": output}),
    ]);
}
