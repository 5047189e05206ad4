//! Conversations as clients send them, request after request, from generators and recorded sessions.

use std::path::Path;
use std::rc::Rc;

use bytes::Bytes;
use epitome_testkit::Random;
use epitome_wire::{Body, Wire};
use serde_json::{Value, json};

/// A history without a break, and after how many messages a request went out.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) messages: Vec<Value>,
    pub(crate) ends: Vec<usize>,
    pub(crate) spelled: Vec<Rc<str>>,
    respelled: Vec<Rc<str>>,
}

/// One conversation: runs are separated by the client's own compactions.
pub(crate) struct Traffic {
    pub(crate) name: String,
    pub(crate) wire: Wire,
    pub(crate) runs: Vec<Run>,
}

/// A request, by run and by its number in the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) run: usize,
    pub(crate) request: usize,
}

impl Traffic {
    pub(crate) fn hops(&self) -> Vec<Hop> {
        let hops = |(run, history): (usize, &Run)| {
            (0..history.ends.len()).map(move |request| Hop { run, request })
        };
        self.runs.iter().enumerate().flat_map(hops).collect()
    }

    /// The messages of a request, with everything that a client changes from one request to the next.
    pub(crate) fn messages(&self, hop: Hop) -> Vec<Rc<str>> {
        let run = &self.runs[hop.run];
        let end = run.ends[hop.request];
        // Half-way the date changes; later the client says the same things in another way.
        let phase = hop.request * 4 / run.ends.len();
        let spelled = if phase == 3 {
            &run.respelled
        } else {
            &run.spelled
        };
        let mut list = spelled[..end].to_vec();
        match self.wire {
            Wire::Anthropic => decorate_anthropic(&mut list, run, phase),
            Wire::OpenAiChat | Wire::OpenAiResponses => decorate_openai(&mut list, phase),
        }
        list
    }

    pub(crate) fn body(&self, messages: &[Rc<str>]) -> Body {
        let list = messages.join(",");
        let text = match self.wire {
            Wire::Anthropic => {
                let system = format!(r#"[{{"type":"text","text":"cch={:x};"}}]"#, list.len());
                format!(r#"{{"model":"claude-opus-4-6","messages":[{list}],"system":{system}}}"#)
            }
            Wire::OpenAiChat => format!(r#"{{"model":"gpt-5","messages":[{list}]}}"#),
            Wire::OpenAiResponses => format!(r#"{{"model":"gpt-5","input":[{list}]}}"#),
        };
        Body::scan(Bytes::from(text), self.wire).unwrap()
    }
}

/// Laid out once, because every request repeats all messages before it.
fn spell(runs: Vec<Run>) -> Vec<Run> {
    let text = |message: &Value| Rc::from(message.to_string());
    runs.into_iter()
        .map(|run| Run {
            spelled: run.messages.iter().map(text).collect(),
            respelled: run.messages.iter().map(|m| text(&compact(m))).collect(),
            ..run
        })
        .collect()
}

/// Another client of the same history writes arguments without spaces, and knows nothing of the ids of items.
fn compact(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(arguments) = message["arguments"].as_str()
        && let Ok(parsed) = serde_json::from_str::<Value>(arguments)
    {
        message["arguments"] = json!(parsed.to_string());
    }
    let members = message.as_object_mut().unwrap();
    if members.contains_key("type") {
        for name in ["id", "status", "internal_chat_message_metadata_passthrough"] {
            members.remove(name);
        }
    }
    for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
        let arguments = call["function"]["arguments"].as_str().unwrap();
        if let Ok(parsed) = serde_json::from_str::<Value>(arguments) {
            call["function"]["arguments"] = json!(parsed.to_string());
        }
    }
    message
}

fn blocks_of(message: &mut Value) -> &mut Vec<Value> {
    if let Value::String(text) = &message["content"] {
        message["content"] = json!([{"type": "text", "text": text}]);
    }
    message["content"].as_array_mut().unwrap()
}

/// A rules and date reminder in front, and the cache mark on the newest message, as Claude Code does it.
fn decorate_anthropic(list: &mut Vec<Rc<str>>, run: &Run, phase: usize) {
    let reminder = format!(
        "<system-reminder>\nToday is day {}.\n</system-reminder>\n",
        phase / 2
    );
    let newest = list.len() - 1;
    let mut last = run.messages[newest].clone();
    // A mark makes a string a list of blocks; when it leaves, the string is back.
    if let Some(block) = blocks_of(&mut last).last_mut() {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    list[newest] = Rc::from(last.to_string());
    if phase < 3 {
        let mut first: Value = serde_json::from_str(&list[0]).unwrap();
        blocks_of(&mut first).insert(0, json!({"type": "text", "text": reminder}));
        list[0] = Rc::from(first.to_string());
    } else {
        // The dialect of newer models: system messages inside the list.
        let system = json!({"role": "system", "content": reminder});
        list.insert(1, Rc::from(system.to_string()));
    }
}

fn decorate_openai(list: &mut Vec<Rc<str>>, phase: usize) {
    let system = format!("You are a coding agent. Today is day {}.", phase / 2);
    let developer = json!({"role": "developer", "content": system});
    list.insert(0, Rc::from(developer.to_string()));
    if phase == 3 {
        let note = json!({"role": "system", "content": "The working folder has changed."});
        list.insert(2, Rc::from(note.to_string()));
    }
}

/// A generated conversation that grows by a step per request.
pub(crate) fn generated(wire: Wire, random: &mut Random, requests: usize) -> Traffic {
    let kind = *random.pick(&epitome_testkit::Kind::ALL);
    let growth =
        epitome_testkit::generate::Growth::new(crate::fixtures::testkit(wire), kind, random.bits());
    let mut run = Run::default();
    for request in growth.take(requests) {
        let list = request[wire.list_name()].as_array().unwrap();
        let spoken: Vec<Value> = list
            .iter()
            .filter(|m| m["role"] != "system")
            .cloned()
            .collect();
        run.ends.push(spoken.len());
        run.messages = spoken;
    }
    // The generator marks the newest message itself; here that is the decoration's part.
    for block in run
        .messages
        .iter_mut()
        .flat_map(|m| m["content"].as_array_mut())
        .flatten()
    {
        block.as_object_mut().unwrap().remove("cache_control");
    }
    Traffic {
        name: format!("{wire} {kind:?}"),
        wire,
        runs: spell(vec![run]),
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The requests behind a Claude Code session file.
pub(crate) fn claude_code(path: &Path) -> Traffic {
    let mut runs = vec![Run::default()];
    let mut current = Value::Null;
    for line in lines(path) {
        let kind = line["type"].as_str().unwrap_or_default();
        let is_told = matches!(kind, "user" | "assistant")
            && line["isSidechain"] != true
            && line["isApiErrorMessage"] != true;
        if !is_told {
            continue;
        }
        if line["isCompactSummary"] == true {
            runs.push(Run::default());
            current = Value::Null;
        }
        let run = runs.last_mut().unwrap();
        let message = &line["message"];
        let is_new = kind == "user" || message["id"] != current;
        if kind == "assistant" && is_new {
            // The request for this answer held everything before it.
            run.ends
                .extend((!run.messages.is_empty()).then_some(run.messages.len()));
            current = message["id"].clone();
        }
        let mut addition = json!({"role": kind, "content": message["content"]});
        // Blocks of one answer come on several lines, results may stand between them; and what the user
        // side sends until the next answer is one message.
        let into = run
            .messages
            .iter_mut()
            .rev()
            .take(2)
            .find(|known| known["role"] == kind)
            .filter(|_| kind == "assistant" && !is_new);
        let blocks = blocks_of(&mut addition).clone();
        if let Some(into) = into {
            blocks_of(into).extend(blocks);
        } else if let Some(last) = run.messages.last_mut().filter(|last| last["role"] == kind) {
            blocks_of(last).extend(blocks);
        } else {
            run.messages
                .push(json!({"role": kind, "content": message["content"]}));
        }
    }
    Traffic {
        name: epitome_testkit::data::stem(path),
        wire: Wire::Anthropic,
        runs: spell(runs),
    }
}

/// The requests behind a Codex session file, as Chat Completions.
pub(crate) fn codex(path: &Path) -> Traffic {
    let mut runs = vec![Run::default()];
    for line in lines(path) {
        let payload = &line["payload"];
        match line["type"].as_str() {
            Some("response_item") => codex_item(payload, runs.last_mut().unwrap()),
            Some("compacted") => {
                let mut run = Run::default();
                for item in payload["replacement_history"]
                    .as_array()
                    .into_iter()
                    .flatten()
                {
                    codex_item(item, &mut run);
                }
                run.ends.clear();
                runs.push(run);
            }
            _ => {}
        }
    }
    Traffic {
        name: epitome_testkit::data::stem(path),
        wire: Wire::OpenAiChat,
        runs: spell(runs),
    }
}

/// The requests behind a Codex session file, as they were: its items are those of Responses.
pub(crate) fn codex_items(path: &Path) -> Traffic {
    let mut runs = vec![Run::default()];
    for line in lines(path) {
        let payload = &line["payload"];
        match line["type"].as_str() {
            Some("response_item") => {
                let run = runs.last_mut().unwrap();
                // What the model put out came in answer to everything before.
                let is_models = |item: &Value| {
                    item["role"] == "assistant"
                        || item["type"]
                            .as_str()
                            .is_some_and(|kind| kind == "reasoning" || kind.ends_with("_call"))
                };
                if is_models(payload) && !run.messages.last().is_none_or(is_models) {
                    run.ends.push(run.messages.len());
                }
                run.messages.push(payload.clone());
            }
            Some("compacted") => runs.push(Run {
                messages: payload["replacement_history"].as_array().unwrap().clone(),
                ..Run::default()
            }),
            _ => {}
        }
    }
    Traffic {
        name: epitome_testkit::data::stem(path),
        wire: Wire::OpenAiResponses,
        runs: spell(runs),
    }
}

fn codex_item(item: &Value, run: &mut Run) {
    match item["type"].as_str().unwrap_or_default() {
        "message" => {
            let role = item["role"].as_str().unwrap();
            let parts: Vec<Value> = item["content"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|part| match part["text"].as_str() {
                    Some(text) => json!({"type": "text", "text": text}),
                    None => json!({"type": "image_url", "image_url": {"url": part["image_url"]}}),
                })
                .collect();
            if role == "assistant" {
                answer(run)["content"] = json!(parts);
            } else {
                run.messages.push(json!({"role": role, "content": parts}));
            }
        }
        kind @ ("function_call" | "custom_tool_call") => {
            let arguments = if kind == "function_call" {
                &item["arguments"]
            } else {
                &item["input"]
            };
            let call = json!({
                "id": item["call_id"], "type": "function",
                "function": {"name": item["name"], "arguments": arguments},
            });
            let message = answer(run);
            match message["tool_calls"].as_array_mut() {
                Some(calls) => calls.push(call),
                None => message["tool_calls"] = json!([call]),
            }
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = match &item["output"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            run.messages.push(json!({
                "role": "tool", "tool_call_id": item["call_id"], "content": output,
            }));
        }
        _ => {}
    }
}

/// The answer that is being written; a new one means that a request went out.
fn answer(run: &mut Run) -> &mut Value {
    let is_new = run
        .messages
        .last()
        .is_none_or(|last| last["role"] != "assistant");
    if is_new {
        run.ends
            .extend((!run.messages.is_empty()).then_some(run.messages.len()));
        run.messages
            .push(json!({"role": "assistant", "content": null}));
    }
    run.messages.last_mut().unwrap()
}
