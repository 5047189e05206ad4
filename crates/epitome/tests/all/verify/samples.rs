//! Summaries and what they were written about.

use std::path::{Path, PathBuf};

use epitome::{
    Basis, Compaction, Facts, Log, Message, Meter, Plan, Preset, PresetName, Reason, leading_system,
};
use epitome_wire::{Wire, decode, detect};
use serde_json::{Value, json};

/// A summary with its source.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    /// Which table it counts in.
    pub(crate) set: &'static str,
    pub(crate) messages: Vec<Message>,
    pub(crate) previous: Option<String>,
    pub(crate) summary: String,
}

impl Sample {
    pub(crate) fn source(&self) -> Vec<(usize, &Message)> {
        self.messages.iter().enumerate().collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(bytes: Vec<u8>, wire: Option<Wire>) -> Vec<Message> {
    let detected = detect(&bytes.into(), wire).unwrap();
    let body = detected.body;
    (0..body.len())
        .map(|at| {
            decode(body.wire(), &body.read(at).unwrap())
                .unwrap()
                .message
        })
        .collect()
}

/// What the built-in summariser makes of the first part of a conversation.
fn built_in(name: &str, messages: &[Message], share: u64) -> Option<Sample> {
    let mut log = Log::new();
    for message in messages {
        log.push(&Facts::of(message, Meter::Estimate));
    }
    let target = log.tokens(leading_system(&log)..log.len()) / share;
    let plan = Plan::with(
        &Preset::named(PresetName::Default),
        &log,
        Some(target),
        epitome::Room::of(target),
        Reason::Manual,
    )
    .ok()?;
    let compaction =
        Compaction::extract(plan, &Basis::new(&log, messages, Meter::Estimate)).ok()?;
    // What is left out of results that stay is told by the summary too.
    let trimmed = compaction
        .trims
        .iter()
        .filter_map(|(at, _)| messages.get(*at));
    let span = messages.get(compaction.plan.span.clone())?;
    Some(Sample {
        name: format!("{name} / {share}"),
        set: "built-in",
        messages: span.iter().chain(trimmed).cloned().collect(),
        previous: None,
        summary: compaction.summary.text,
    })
}

/// Built-in summaries of the examples, long and short ones.
pub(crate) fn built_in_examples() -> Vec<Sample> {
    let names = [
        "coding-session.jsonl",
        "long-chat.jsonl",
        "support-case.jsonl",
    ];
    names
        .iter()
        .flat_map(|name| {
            let messages = read(
                std::fs::read(root().join("examples").join(name)).unwrap(),
                None,
            );
            [2, 3, 5].map(|share| built_in(name, &messages, share))
        })
        .flatten()
        .collect()
}

/// Summaries that models wrote in real sessions, and built-in ones of the same spans.
pub(crate) fn real(test: &str) -> Vec<Sample> {
    let base = std::env::var_os("EPITOME_DATA")
        .map_or_else(|| root().join("../shared/data"), PathBuf::from);
    let Ok(folder) = std::fs::read_dir(base.join("unified")) else {
        eprintln!("{test}: no real data here, skipped");
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| session(path)).collect()
}

fn session(path: &Path) -> Vec<Sample> {
    let session: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let compactions = session["compactions"].as_array().unwrap();
    if compactions.is_empty() {
        return Vec::new();
    }
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let messages = chat(session["messages"].as_array().unwrap());
    let mut samples = Vec::new();
    let mut previous = None;
    for compaction in compactions {
        let at = usize::try_from(compaction["at"].as_u64().unwrap()).unwrap();
        let summary = without_frame(compaction["summary"].as_str().unwrap());
        let before = &messages[..at];
        samples.extend(built_in(&name, before, 20));
        if !summary.is_empty() {
            samples.push(Sample {
                name: format!("{name} at {at}"),
                set: "real",
                messages: before.to_vec(),
                previous: previous.replace(summary.clone()),
                summary,
            });
        }
    }
    samples
}

/// The client's own last lines, which name a file of its own, are no part of what the model wrote.
fn without_frame(summary: &str) -> String {
    let end = summary.find("\nIf you need specific details from before compaction");
    summary[..end.unwrap_or(summary.len())].to_owned()
}

fn chat(messages: &[Value]) -> Vec<Message> {
    let messages: Vec<Value> = messages
        .iter()
        .map(|message| {
            let mut out = json!({"role": message["role"], "content": message["content"]});
            if let Some(id) = message.get("tool_call_id") {
                out["tool_call_id"] = id.clone();
            }
            let calls: Vec<Value> = message["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| {
                    let function = json!({"name": call["name"], "arguments": call["arguments"]});
                    json!({"id": call["id"], "type": "function", "function": function})
                })
                .collect();
            if !calls.is_empty() {
                out["tool_calls"] = json!(calls);
            }
            out
        })
        .collect();
    let body = serde_json::to_vec(&json!({"model": "m", "messages": messages})).unwrap();
    read(body, Some(Wire::OpenAiChat))
}
