//! What a known conversation costs: a body of about 800 KB with one new step, on a warm memo, against a
//! plain `serde_json` scan of the same bytes. Fails when it costs more than 1.5 times that.
//!
//! Both are measured in turn, on the same bytes, in the same run; the best of all turns counts.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures time, prints it and stops when something is wrong"
)]

use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Bytes;
use epitome::{Digest, Meter};
use epitome_testkit::{Kind, generate};
use epitome_wire::{Body, ChainKey, Conversation, Memo, Prehashed, Wire};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const BYTES: usize = 800_000;
const TURNS: usize = 60;
const LIMIT: f64 = 1.5;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

fn main() -> ExitCode {
    let mut fixtures = vec![
        (
            "generated openai-chat",
            Wire::OpenAiChat,
            generated(Wire::OpenAiChat),
        ),
        (
            "generated anthropic",
            Wire::Anthropic,
            generated(Wire::Anthropic),
        ),
    ];
    match recorded("unified/codex-fd6b9e9d.json") {
        Some(request) => {
            fixtures.push(("codex-fd6b9e9d as openai-chat", Wire::OpenAiChat, request));
        }
        None => println!("no recorded session: EPITOME_DATA or ../shared/data is not there"),
    }
    println!(
        "{:30} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>7}",
        "body", "KB", "messages", "serde µs", "scan µs", "digest µs", "ours µs", "ratio"
    );
    let mut is_good = true;
    for (name, wire, request) in fixtures {
        let times = measure(wire, &request);
        let ratio = times.whole.as_secs_f64() / times.serde.as_secs_f64();
        let verdict = if ratio <= LIMIT { "" } else { "  too slow" };
        is_good &= ratio <= LIMIT;
        println!(
            "{name:30} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {ratio:>7.2}{verdict}",
            request.to_string().len() / 1000,
            request["messages"].as_array().unwrap().len(),
            times.serde.as_micros(),
            times.scan.as_micros(),
            (times.whole.saturating_sub(times.scan)).as_micros(),
            times.whole.as_micros(),
        );
    }
    println!("limit: {LIMIT} × serde_json into Vec<&RawValue>");
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

struct Times {
    serde: Duration,
    scan: Duration,
    whole: Duration,
}

fn measure(wire: Wire, request: &Value) -> Times {
    let key = ChainKey::public();
    let memo = Memo::new(Meter::Estimate, 1 << 14);
    let mut known: HashMap<Digest, usize, Prehashed> = HashMap::default();
    let body = Body::scan(Bytes::from(request.to_string()), wire).unwrap();
    let conversation = Conversation::of(&body, &memo, &key).unwrap();
    for (at, link) in &conversation.chain {
        known.insert(*link, *at);
    }
    let last_known = conversation.chain.last().unwrap().0;

    let mut best = Times {
        serde: Duration::MAX,
        scan: Duration::MAX,
        whole: Duration::MAX,
    };
    for turn in 0..TURNS {
        let bytes = Bytes::from(with_new_step(wire, request, turn).to_string());
        let start = Instant::now();
        let theirs: Request<'_> = serde_json::from_slice(&bytes).unwrap();
        let messages = black_box(theirs.messages.len());
        best.serde = best.serde.min(start.elapsed());

        let start = Instant::now();
        let body = Body::scan(bytes.clone(), wire).unwrap();
        let scan = start.elapsed();
        let conversation = Conversation::of(&body, &memo, &key).unwrap();
        let found = conversation
            .chain
            .iter()
            .rev()
            .find_map(|(_, link)| known.get(link));
        let whole = start.elapsed();
        best.scan = best.scan.min(scan);
        best.whole = best.whole.min(whole);
        // What is measured is the real thing: everything known is found, and only the step is new.
        assert_eq!(found, Some(&last_known));
        assert_eq!(
            (conversation.messages.len(), conversation.new_messages),
            (messages, 2)
        );
    }
    best
}

fn with_new_step(wire: Wire, request: &Value, turn: usize) -> Value {
    let id = format!("new_{turn}");
    let output = format!(
        "{turn}\n{}",
        "a line of output, as tools print it\n".repeat(50)
    );
    let step = match wire {
        Wire::OpenAiResponses => [
            json!({
                "type": "function_call", "call_id": id, "name": "run_command",
                "arguments": "{\"command\":\"make\"}",
            }),
            json!({"type": "function_call_output", "call_id": id, "output": output}),
        ],
        Wire::OpenAiChat => [
            json!({"role": "assistant", "content": null, "tool_calls": [{
                "id": id, "type": "function",
                "function": {"name": "run_command", "arguments": "{\"command\":\"make\"}"},
            }]}),
            json!({"role": "tool", "tool_call_id": id, "content": output}),
        ],
        Wire::Anthropic => [
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "run_command", "input": {"command": "make"}},
            ]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": output},
            ]}),
        ],
    };
    let mut request = request.clone();
    let list = request[wire.list_name()].as_array_mut();
    list.unwrap().extend(step);
    request
}

fn generated(wire: Wire) -> Value {
    let mut request = match wire {
        Wire::OpenAiChat => generate::openai_chat(Kind::ToolHeavy, 7, 700),
        Wire::OpenAiResponses => generate::openai_responses(Kind::ToolHeavy, 7, 900),
        Wire::Anthropic => generate::anthropic(Kind::ToolHeavy, 7, 700),
    };
    let list = request[wire.list_name()].as_array_mut().unwrap();
    let mut bytes = 0;
    let end = list.iter().position(|message| {
        bytes += message.to_string().len();
        bytes > BYTES
    });
    list.truncate(end.expect("the generator gives enough"));
    request
}

/// A recorded session as a Chat Completions request.
fn recorded(file: &str) -> Option<Value> {
    let base = std::env::var("EPITOME_DATA").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").to_owned()
    });
    let text = std::fs::read(Path::new(&base).join(file)).ok()?;
    let session: Value = serde_json::from_slice(&text).unwrap();
    let messages: Vec<Value> = session["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let mut out = json!({"role": message["role"], "content": message["content"]});
            if let Some(id) = message.get("tool_call_id") {
                out["tool_call_id"] = id.clone();
            }
            if let Some(calls) = message["tool_calls"].as_array() {
                out["tool_calls"] = calls
                    .iter()
                    .map(|call| {
                        json!({"id": call["id"], "type": "function", "function": {
                            "name": call["name"], "arguments": call["arguments"],
                        }})
                    })
                    .collect();
            }
            out
        })
        .collect();
    Some(json!({"model": "gpt-5", "messages": messages}))
}
