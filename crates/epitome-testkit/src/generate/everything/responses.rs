//! OpenAI Responses.

#![expect(
    clippy::indexing_slicing,
    reason = "the values are objects made here, and assigning to a key of an object inserts it"
)]

use serde_json::{Value, json};

use super::Everything;
use crate::generate::tools;
use crate::signature;

pub(super) fn head(talk: &mut Everything) {
    if talk.random.chance(50) {
        let note = talk.note();
        let role = *talk.random.pick(&["system", "developer"]);
        talk.list.push(json!({
            "type": "message", "role": role, "content": [{"type": "input_text", "text": note}],
        }));
    }
}

pub(super) fn request(talk: &mut Everything) -> Value {
    let mut items = talk.list.clone();
    if talk.random.chance(3) {
        items.push(json!({"role": "assistant", "content": "Here is what I found:"}));
    }
    let system = talk.system();
    let mut request = json!({
        "model": "gpt-scripted", "instructions": system, "input": items, "stream": true,
        "store": false, "include": ["reasoning.encrypted_content"],
    });
    if talk.is_roomy {
        request["tools"] = tools::responses_definitions();
    }
    request
}

pub(super) fn user(talk: &mut Everything) {
    let question = talk.question();
    let text = json!({"type": "input_text", "text": question});
    let item = match talk.random.below(12) {
        0 => {
            let image = picture(talk);
            json!({"type": "message", "role": "user", "content": [text, image]})
        }
        1 => {
            let data = talk.data(160);
            let file = json!({
                "type": "input_file", "filename": "report.pdf",
                "file_data": format!("data:application/pdf;base64,{data}"),
            });
            json!({"type": "message", "role": "user", "content": [file, text]})
        }
        2 => {
            let data = talk.data(160);
            let sound =
                json!({"type": "input_audio", "input_audio": {"data": data, "format": "mp3"}});
            json!({"type": "message", "role": "user", "content": [sound, text]})
        }
        3..7 => json!({"role": "user", "content": question}),
        _ => json!({"type": "message", "role": "user", "content": [text]}),
    };
    talk.list.push(item);
    if talk.random.chance(10) {
        let more = talk.words(10);
        talk.list.push(json!({"role": "user", "content": more}));
    }
}

fn picture(talk: &mut Everything) -> Value {
    let image = talk.image();
    json!({
        "type": "input_image", "detail": "auto", "image_url": format!("data:image/png;base64,{image}"),
    })
}

pub(super) fn advance(talk: &mut Everything) {
    for _ in 0..talk.random.below(3) {
        let outputs = answer(talk);
        let is_answered = outputs.is_empty();
        answered(talk, outputs);
        if is_answered {
            user(talk);
        }
        notes(talk, 8);
    }
    let outputs = answer(talk);
    let is_answered = outputs.is_empty();
    answered(talk, outputs);
    notes(talk, 8);
    if is_answered || talk.random.chance(12) {
        user(talk);
    }
    notes(talk, 20);
}

fn notes(talk: &mut Everything, percent: usize) {
    while talk.random.chance(percent) {
        let role = *talk.random.pick(&["system", "developer"]);
        let note = talk.note();
        talk.list.push(match talk.random.chance(40) {
            true => json!({"role": role, "content": note}),
            false => json!({
                "type": "message", "role": role, "content": [{"type": "input_text", "text": note}],
            }),
        });
    }
}

/// The outputs of calls, in any order, sometimes with a note between them: they are paired by their ids alone.
fn answered(talk: &mut Everything, mut outputs: Vec<Value>) {
    if talk.random.chance(25) {
        outputs.reverse();
    }
    for (position, output) in outputs.into_iter().enumerate() {
        if position > 0 {
            notes(talk, 4);
        }
        talk.list.push(output);
    }
}

/// What one answer of the model is put together from.
struct Answer {
    items: Vec<Value>,
    /// The thought that its next items come from.
    thought: Option<String>,
}

impl Answer {
    /// Adds an item, whose id says which thought it came from.
    fn push(&mut self, mut item: Value, prefix: &str) {
        if let Some(thought) = &self.thought {
            item["id"] = json!(signature::thought_id(prefix, thought, self.items.len()));
        }
        self.items.push(item);
    }
}

/// Adds an answer of the model and gives the outputs that its calls wait for.
fn answer(talk: &mut Everything) -> Vec<Value> {
    let mut answer = Answer {
        items: Vec::new(),
        thought: None,
    };
    let mut outputs = Vec::new();
    think(talk, &mut answer, 35);
    let calls = talk.calls();
    if calls == 0 || talk.random.chance(40) {
        let message = message(talk);
        answer.push(message, "msg");
    }
    while talk.random.chance(12) {
        let item = own(talk);
        let prefix = item["type"].as_str().unwrap_or_default().to_owned();
        answer.push(item, &prefix);
        think(talk, &mut answer, 10);
        let message = message(talk);
        answer.push(message, "msg");
    }
    for position in 0..calls {
        if position > 0 {
            think(talk, &mut answer, 8);
        }
        let (call, output, prefix) = call(talk);
        answer.push(call, prefix);
        // Some agents answer each call before they send the next one of the same answer.
        if answer.thought.is_none() && talk.random.chance(10) {
            answer.items.push(output);
        } else {
            outputs.push(output);
        }
    }
    talk.list.extend(answer.items);
    outputs
}

/// A thought, now and then; what follows comes from it. Not every provider hands out what is in it.
fn think(talk: &mut Everything, answer: &mut Answer, percent: usize) {
    if !talk.random.chance(percent) {
        return;
    }
    let thinking = format!("{} {}", talk.id(), talk.words(20));
    let id = signature::thought_id("rs", &thinking, answer.items.len());
    let mut item = json!({"type": "reasoning", "id": id, "summary": []});
    if talk.random.chance(30) {
        let told = talk.words(10);
        item["summary"] = json!([{"type": "summary_text", "text": told}]);
    }
    if talk.random.chance(70) {
        item["encrypted_content"] = json!(signature::sign(&thinking));
    }
    if talk.random.chance(10) {
        item["content"] = json!([{"type": "reasoning_text", "text": thinking}]);
    }
    answer.items.push(item);
    answer.thought = Some(thinking);
}

fn message(talk: &mut Everything) -> Value {
    let text = talk.words(60);
    let content = match talk.random.below(12) {
        0 => json!([{"type": "refusal", "refusal": "I cannot help with that."}]),
        1 => json!([
            {"type": "output_text", "text": text},
            {"type": "refusal", "refusal": "The rest I cannot say."},
        ]),
        2 => json!([{"type": "output_text", "text": text, "annotations": [{
            "type": "url_citation", "url": "https://example.org/", "title": "A page",
            "start_index": 0, "end_index": 1,
        }]}]),
        _ => json!([{"type": "output_text", "text": text}]),
    };
    json!({"type": "message", "role": "assistant", "content": content, "status": "completed"})
}

/// What the provider does by itself.
fn own(talk: &mut Everything) -> Value {
    let query = talk.words(5);
    let long = talk.output(25);
    match talk.random.below(7) {
        0 => json!({"type": "file_search_call", "status": "completed", "queries": [query],
            "results": [{"file_id": "file-1", "text": long}]}),
        1 => json!({"type": "code_interpreter_call", "status": "completed", "code": query,
            "container_id": "cntr_1", "outputs": [{"type": "logs", "logs": long}]}),
        2 => {
            let image = talk.image();
            json!({"type": "image_generation_call", "status": "completed", "result": image})
        }
        3 => json!({"type": "mcp_call", "server_label": "notes", "name": "lookup",
            "arguments": json!({"query": query}).to_string(), "output": long}),
        4 => json!({"type": "mcp_list_tools", "server_label": "notes", "tools": [
            {"name": "lookup", "input_schema": {"type": "object"}, "description": query},
        ]}),
        _ => json!({"type": "web_search_call", "status": "completed",
            "action": {"type": "search", "query": query}}),
    }
}

/// A call that the client answers, its output, and how an id of it begins.
fn call(talk: &mut Everything) -> (Value, Value, &'static str) {
    let id = format!("call_{}", talk.id());
    let (name, arguments) = talk.call();
    let text = talk.output(60);
    match talk.random.below(14) {
        0 | 1 => (
            json!({"type": "custom_tool_call", "call_id": id, "name": name,
                "input": arguments.to_string(), "status": "completed"}),
            json!({"type": "custom_tool_call_output", "call_id": id, "output": text}),
            "ctc",
        ),
        2 => {
            let command = json!(["sh", "-c", "cargo test"]);
            (
                json!({"type": "local_shell_call", "call_id": id, "status": "completed",
                    "action": {"type": "exec", "command": command, "env": {}}}),
                json!({"type": "local_shell_call_output", "call_id": id, "output": text}),
                "lsh",
            )
        }
        3 => (
            json!({"type": "shell_call", "call_id": id, "status": "completed",
                "action": {"commands": ["cargo test"], "timeout_ms": 1_000}}),
            json!({"type": "shell_call_output", "call_id": id, "output": [
                {"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
            ]}),
            "sh",
        ),
        4 => (
            json!({"type": "apply_patch_call", "call_id": id, "status": "completed",
                "operation": {"type": "delete_file", "path": "src/old.rs"}}),
            json!({"type": "apply_patch_call_output", "call_id": id, "status": "completed",
                "output": text}),
            "apc",
        ),
        5 => {
            let image = talk.image();
            (
                json!({"type": "computer_call", "call_id": id, "status": "completed",
                    "action": {"type": "screenshot"}, "pending_safety_checks": []}),
                json!({"type": "computer_call_output", "call_id": id, "output": {
                    "type": "computer_screenshot", "image_url": format!("data:image/png;base64,{image}"),
                }}),
                "cu",
            )
        }
        6 => {
            let picture = picture(talk);
            let call = function(&id, name, &arguments);
            let text = json!({"type": "input_text", "text": text});
            let output =
                json!({"type": "function_call_output", "call_id": id, "output": [text, picture]});
            (call, output, "fc")
        }
        _ => {
            let call = function(&id, name, &arguments);
            let output = json!({"type": "function_call_output", "call_id": id, "output": text});
            (call, output, "fc")
        }
    }
}

fn function(id: &str, name: &str, arguments: &Value) -> Value {
    json!({
        "type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string(),
        "status": "completed",
    })
}
