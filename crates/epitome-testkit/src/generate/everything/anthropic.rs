//! Anthropic Messages.

#![expect(
    clippy::indexing_slicing,
    reason = "the values are objects made here, and assigning to a key of an object inserts it"
)]

use serde_json::{Value, json};

use super::{Everything, Owed};
use crate::generate::tools;
use crate::signature;

/// Tools that the provider runs: the block that calls, its name, and the block of the result.
const PROVIDERS: &[(&str, &str, &str)] = &[
    ("server_tool_use", "web_search", "web_search_tool_result"),
    ("server_tool_use", "web_fetch", "web_fetch_tool_result"),
    (
        "server_tool_use",
        "code_execution",
        "code_execution_tool_result",
    ),
    (
        "server_tool_use",
        "bash_code_execution",
        "bash_code_execution_tool_result",
    ),
    ("mcp_tool_use", "lookup", "mcp_tool_result"),
];

pub(super) fn request(talk: &mut Everything) -> Value {
    let mut messages = talk.list.clone();
    // Nobody begins an answer for the model while the provider owes a result.
    if talk.owed.is_empty() && talk.random.chance(8) {
        let begun = *talk.random.pick(&["Here is", "{", "<answer>"]);
        messages.push(json!({"role": "assistant", "content": begun}));
    }
    for _ in 0..talk.random.below(3) {
        let at = messages.len() - 1 - talk.random.below(messages.len().min(3));
        mark(&mut messages[at]);
    }
    let system = talk.system();
    let mut request = json!({
        "model": "claude-scripted", "max_tokens": 256, "messages": messages, "stream": true,
        "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
    });
    if talk.is_roomy {
        request["tools"] = tools::anthropic_definitions();
    }
    request
}

/// Puts a cache mark on the last block, where it may have one.
fn mark(message: &mut Value) {
    if let Value::String(text) = &message["content"] {
        message["content"] = json!([{"type": "text", "text": text}]);
    }
    let last = message["content"]
        .as_array_mut()
        .and_then(|blocks| blocks.last_mut());
    if let Some(block) = last {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

pub(super) fn user(talk: &mut Everything) {
    let blocks = words(talk);
    let content = match (blocks.as_slice(), talk.random.chance(70)) {
        ([one], true) if one["type"] == "text" => one["text"].clone(),
        _ => Value::Array(blocks),
    };
    talk.list.push(json!({"role": "user", "content": content}));
    if talk.random.chance(8) {
        let more = talk.words(10);
        talk.list.push(json!({"role": "user", "content": more}));
    }
}

/// What a user says and shows.
fn words(talk: &mut Everything) -> Vec<Value> {
    let question = talk.question();
    let mut blocks = vec![json!({"type": "text", "text": question})];
    if talk.random.chance(12) {
        blocks.insert(0, picture(talk));
    }
    if talk.random.chance(10) {
        blocks.insert(0, document(talk));
    }
    if talk.random.chance(6) {
        blocks.push(found(talk));
    }
    if talk.random.chance(12) {
        let reminder = talk.note();
        blocks.push(json!({
            "type": "text", "text": format!("<system-reminder>\n{reminder}\n</system-reminder>"),
        }));
    }
    blocks
}

fn picture(talk: &mut Everything) -> Value {
    let data = talk.image();
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

fn document(talk: &mut Everything) -> Value {
    let source = match talk.random.chance(50) {
        true => {
            let text = talk.words(30);
            json!({"type": "text", "media_type": "text/plain", "data": text})
        }
        false => {
            let data = talk.data(160);
            json!({"type": "base64", "media_type": "application/pdf", "data": data})
        }
    };
    json!({"type": "document", "title": "Report", "source": source})
}

/// Something that a search of the client's own found.
fn found(talk: &mut Everything) -> Value {
    let text = talk.words(20);
    json!({
        "type": "search_result", "source": "https://example.org/notes", "title": "Notes",
        "content": [{"type": "text", "text": text}],
    })
}

pub(super) fn advance(talk: &mut Everything) {
    for _ in 0..talk.random.below(3) {
        let ids = answer(talk, false);
        reply(talk, &ids);
        notes(talk, 8);
    }
    let may_pause = talk.random.chance(8);
    let ids = answer(talk, may_pause);
    let is_paused = ids.is_empty() && !talk.owed.is_empty();
    if !is_paused {
        reply(talk, &ids);
        notes(talk, 25);
    }
}

/// Notes stand before an answer or at the end.
fn notes(talk: &mut Everything, percent: usize) {
    while talk.random.chance(percent) {
        let note = talk.note();
        let content = match talk.random.chance(30) {
            true => json!([{"type": "text", "text": note}]),
            false => json!(note),
        };
        talk.list
            .push(json!({"role": "system", "content": content}));
    }
}

/// What the client says to an answer: results of the calls, words, or both.
fn reply(talk: &mut Everything, ids: &[String]) {
    if ids.is_empty() {
        return user(talk);
    }
    let mut results: Vec<Value> = ids.iter().map(|id| result(talk, id)).collect();
    if talk.random.chance(25) {
        results.reverse();
    }
    match talk.random.below(12) {
        1 | 2 => {
            results.extend(words(talk));
            talk.list.push(json!({"role": "user", "content": results}));
        }
        3 => {
            talk.list.push(json!({"role": "user", "content": results}));
            user(talk);
        }
        _ => talk.list.push(json!({"role": "user", "content": results})),
    }
}

fn result(talk: &mut Everything, id: &str) -> Value {
    let output = talk.output(60);
    let mut result = json!({"type": "tool_result", "tool_use_id": id});
    match talk.random.below(14) {
        0 => {
            let picture = picture(talk);
            result["content"] = json!([{"type": "text", "text": output}, picture]);
        }
        1 => {
            let document = document(talk);
            result["content"] = json!([document]);
        }
        2 => {
            let found = found(talk);
            result["content"] = json!([found]);
        }
        3 => result["content"] = json!([{"type": "text", "text": output}]),
        4 => {}
        5 => {
            result["content"] = json!(output);
            result["is_error"] = json!(true);
        }
        _ => result["content"] = json!(output),
    }
    result
}

/// An answer of the model; the ids of the calls that the client has to answer. Where it may pause, it ends in a call that
/// the provider itself still owes the result of.
fn answer(talk: &mut Everything, may_pause: bool) -> Vec<String> {
    let mut blocks: Vec<Value> = Vec::new();
    for owed in std::mem::take(&mut talk.owed) {
        blocks.push(provided(talk, &owed));
    }
    if talk.random.chance(30) {
        let thinking = talk.words(30);
        blocks.push(json!({
            "type": "thinking", "thinking": thinking, "signature": signature::sign(&thinking),
        }));
        if talk.random.chance(20) {
            let data = signature::redacted(&mut talk.random);
            blocks.push(json!({"type": "redacted_thinking", "data": data}));
        }
    }
    if talk.random.chance(70) {
        let text = talk.words(50);
        blocks.push(match talk.random.chance(8) {
            true => json!({"type": "text", "text": text, "citations": [{
                "type": "char_location", "cited_text": "a", "document_index": 0,
                "document_title": "Report", "start_char_index": 0, "end_char_index": 1,
            }]}),
            false => json!({"type": "text", "text": text}),
        });
    }
    while talk.random.chance(15) {
        let (call, owed) = own_call(talk);
        blocks.push(call);
        blocks.push(provided(talk, &owed));
        let text = talk.words(20);
        blocks.push(json!({"type": "text", "text": text}));
    }
    if may_pause {
        let (call, owed) = own_call(talk);
        blocks.push(call);
        talk.owed.push(owed);
        talk.list
            .push(json!({"role": "assistant", "content": blocks}));
        return Vec::new();
    }
    let mut ids = Vec::new();
    let count = talk.calls();
    // A program that the provider runs may call the client's tools, and ends after their results.
    if count > 0 && talk.random.chance(8) {
        let (call, owed) = own_call(talk);
        blocks.push(call);
        talk.owed.push(owed);
    }
    for _ in 0..count {
        let id = format!("toolu_01{}", talk.id());
        let (name, input) = talk.call();
        blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        ids.push(id);
    }
    let says_enough = blocks.last().is_some_and(|last| {
        !matches!(
            last["type"].as_str(),
            Some("thinking" | "redacted_thinking")
        )
    });
    if !says_enough {
        let text = talk.words(20);
        blocks.push(json!({"type": "text", "text": text}));
    }
    let content = match (blocks.as_slice(), talk.random.chance(20)) {
        ([one], true) if one["type"] == "text" => one["text"].clone(),
        _ => Value::Array(blocks),
    };
    talk.list
        .push(json!({"role": "assistant", "content": content}));
    ids
}

fn own_call(talk: &mut Everything) -> (Value, Owed) {
    let (kind, name, result) = *talk.random.pick(PROVIDERS);
    let id = format!("srvtoolu_01{}", talk.id());
    let query = talk.words(5);
    let mut call = json!({"type": kind, "id": id, "name": name, "input": {"query": query}});
    if kind == "mcp_tool_use" {
        call["server_name"] = json!("notes");
    }
    (call, Owed { id, result })
}

fn provided(talk: &mut Everything, owed: &Owed) -> Value {
    let content = match owed.result {
        "web_search_tool_result" => {
            let secret = talk.data(120);
            json!([{
                "type": "web_search_result", "url": "https://example.org/", "title": "A page",
                "encrypted_content": secret,
            }])
        }
        "mcp_tool_result" => {
            let text = talk.output(30);
            json!([{"type": "text", "text": text}])
        }
        "web_fetch_tool_result" => {
            let text = talk.output(30);
            json!({"type": "web_fetch_result", "url": "https://example.org/", "content": {
                "type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text},
            }})
        }
        kind => {
            let text = talk.output(30);
            let kind = kind.replace("_tool_result", "_result");
            json!({"type": kind, "stdout": text, "stderr": "", "return_code": 0, "content": []})
        }
    };
    json!({"type": owed.result, "tool_use_id": owed.id, "content": content})
}
