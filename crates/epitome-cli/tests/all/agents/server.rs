//! A provider on loopback that says what it is told to: Anthropic Messages and OpenAI Responses, streamed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What a prompt has in it that is to be answered with parallel calls.
pub(super) const PARALLEL: &str = "all three at once";
/// How many calls that are.
pub(super) const CALLS: usize = 3;

/// The bodies of all requests so far.
pub(super) type Requests = Arc<Mutex<Vec<Value>>>;

/// What a prompt has in it that is to be answered with a long text.
pub(super) const LONG: &str = "at length";

/// How the answer to a request begins; a short one is no longer.
pub(super) fn answer(number: usize) -> String {
    let filler = format!("The drawer number {number} was looked at. ").repeat(3);
    format!("Answer {number}. {filler}")
}

fn answer_to(last: Option<&Value>, number: usize) -> String {
    let is_long = last.is_some_and(|last| last.to_string().contains(LONG));
    let more = "Nothing else was found there, and the oil is gone. ";
    answer(number) + &more.repeat(if is_long { 900 } else { 0 })
}

/// Starts the provider; it ends with the process.
pub(super) fn start() -> (u16, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Requests::default();
    let log = Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let log = Arc::clone(&log);
            // Whoever hangs up early gets no answer.
            std::thread::spawn(move || serve(&stream, &log).is_ok());
        }
    });
    (port, requests)
}

fn serve(stream: &TcpStream, log: &Requests) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut is_upgrade) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        is_upgrade |= line.starts_with("upgrade:");
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut stream = stream;
    if !first.starts_with("POST") {
        let status = if is_upgrade {
            "426 Upgrade Required"
        } else {
            "200 OK"
        };
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return stream.write_all(head.as_bytes());
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let number = {
        let mut log = log.lock().unwrap();
        log.push(body.clone());
        log.len() - 1
    };
    let events = if first.contains("/responses") {
        responses(&body, number)
    } else {
        messages(&body, number)
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    for event in events {
        let name = event["type"].as_str().unwrap_or_default();
        stream.write_all(format!("event: {name}\ndata: {event}\n\n").as_bytes())?;
    }
    stream.flush()
}

/// Whether what was said last is a prompt that wants calls.
fn wants_calls(last: Option<&Value>) -> bool {
    let last = last.map(Value::to_string).unwrap_or_default();
    last.contains(PARALLEL) && !last.contains("tool_result")
}

fn tool<'a>(body: &'a Value, names: &[&'a str]) -> Option<&'a str> {
    let tools = body["tools"].as_array()?;
    let is_there = |name: &&&str| tools.iter().any(|tool| tool["name"] == **name);
    names.iter().find(is_there).copied()
}

fn messages(body: &Value, number: usize) -> Vec<Value> {
    let last = body["messages"].as_array().and_then(|said| said.last());
    let usage = json!({"input_tokens": 900, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0});
    let message = json!({"id": format!("msg_{number:020}"), "type": "message", "role": "assistant", "model": body["model"],
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let mut blocks = Vec::new();
    if body["thinking"]["type"].is_string() {
        blocks.push((
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": format!("Thought {number}.")}),
                json!({"type": "signature_delta", "signature": format!("c2ln{number}")}),
            ],
        ));
    }
    let shell = tool(body, &["Bash", "bash"]).filter(|_| wants_calls(last));
    match shell {
        Some(shell) => blocks.extend((0..CALLS).map(|call| {
            let input = json!({"command": format!("echo part-{number}-{call}"), "description": "say"});
            (
                json!({"type": "tool_use", "id": format!("toolu_{number}_{call}"), "name": shell, "input": {}}),
                vec![json!({"type": "input_json_delta", "partial_json": input.to_string()})],
            )
        })),
        None => blocks.push((
            json!({"type": "text", "text": ""}),
            vec![json!({"type": "text_delta", "text": answer_to(last, number)})],
        )),
    }
    for (index, (start, deltas)) in blocks.into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if shell.is_some() {
        "tool_use"
    } else {
        "end_turn"
    };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 50}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn responses(body: &Value, number: usize) -> Vec<Value> {
    let last = body["input"].as_array().and_then(|input| input.last());
    let last = last.filter(|last| last["role"] == "user");
    let id = format!("resp_{number}");
    let mut items = vec![
        json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": [],
        "encrypted_content": format!("Z0FB{number}")}),
    ];
    match tool(body, &["exec_command"]).filter(|_| wants_calls(last)) {
        Some(shell) => items.extend((0..CALLS).map(|call| {
            let arguments = json!({"cmd": format!("echo part-{number}-{call}")}).to_string();
            json!({"type": "function_call", "id": format!("fc_{number}_{call}"), "call_id": format!("call_{number}_{call}"),
                "name": shell, "arguments": arguments})
        })),
        None => items.push(json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant",
            "content": [{"type": "output_text", "text": answer_to(last, number), "annotations": []}]})),
    }
    let mut events = vec![json!({"type": "response.created", "response": {"id": id}})];
    for (index, item) in items.iter().enumerate() {
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    let usage = json!({"input_tokens": 900, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 950});
    events.push(json!({"type": "response.completed", "response": {"id": id, "output": items, "usage": usage}}));
    events
}
