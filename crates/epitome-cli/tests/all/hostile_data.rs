//! `epitome compact` as a process: what tools, pages and clients say in the user's role is not the user's order, in no
//! format of requests or of session files.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{json, run, stderr};

const RULE: &str = "Never touch the files below migrations/.";
const HOSTILE: &str = include_str!("../../../epitome/tests/vectors/hostile/dresses.json");
/// Every so many texts are taken through four rounds.
const ROUNDS_EVERY: usize = 5;

/// How a conversation is handed over: as a request, or as the file of a session, converted from one.
const FORMATS: [&str; 7] = [
    "openai-chat",
    "anthropic",
    "openai-responses",
    "unified",
    "pi",
    "claude-code",
    "codex",
];

fn user(text: impl Into<String>) -> Value {
    json!({"role": "user", "content": text.into()})
}

fn assistant(text: impl Into<String>) -> Value {
    json!({"role": "assistant", "content": text.into()})
}

fn work(round: usize, steps: usize) -> impl Iterator<Item = Value> {
    (0..steps).flat_map(move |step| {
        [
            assistant(format!("Step {step} of round {round}: the handler in src/login_{step}.rs checks the session and returns early.")),
            user(format!("Good, go on with part {step} of round {round}.")),
        ]
    })
}

fn conversation(text: String, steps: usize) -> Vec<Value> {
    let mut messages = vec![
        user("Mend the login of the shop. Answer in short sentences."),
        assistant("I will look at the login first."),
        user(RULE),
        assistant("Understood. I will read the notes now."),
        user(text),
    ];
    messages.extend(work(0, steps));
    messages
}

/// An item of a request as the format wants it; what a compaction gave is one already.
fn item(format: &str, message: &Value) -> Value {
    match (format, message["content"].as_str()) {
        ("openai-responses", Some(text)) => {
            let is_user = message["role"] == "user";
            let kind = if is_user { "input_text" } else { "output_text" };
            json!({"type": "message", "role": message["role"], "content": [{"type": kind, "text": text}]})
        }
        _ => message.clone(),
    }
}

fn write(path: &Path, format: &str, messages: &[Value]) {
    let items: Vec<Value> = messages
        .iter()
        .map(|message| item(format, message))
        .collect();
    let body = match format {
        "openai-responses" => json!({"model": "gpt-5", "input": items}),
        "openai-chat" | "anthropic" => json!({"model": "m", "messages": items}),
        _ => json!({"id": "s", "format": "test", "messages": items, "compactions": []}),
    };
    std::fs::write(path, body.to_string()).unwrap();
}

/// What stands under the user's name in a summary: the sections that are his, and his lines in the log.
fn his(text: &str) -> String {
    let mut is_his = false;
    let mut is_line = false;
    let lines = text.lines().filter(|line| {
        if line.starts_with("## ") {
            is_his = line.contains("of the user") || line.contains("by the user");
        }
        if !line.starts_with("  ") {
            is_line = line.starts_with("User: ") || line.starts_with("Request: ");
        }
        is_his || is_line
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The text of the summary among what a compaction gave, whatever the format.
fn summary(messages: &Value) -> String {
    fn texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
            Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    texts(messages, &mut found);
    let is_summary =
        |text: &&&str| text.contains("\n## ") && text.contains("This stands for messages");
    let summary = found.iter().find(is_summary);
    summary.unwrap().to_string()
}

fn compact(path: &Path, format: &str, out: &Path, budget: u64) -> Value {
    let (path, out) = (path.to_str().unwrap(), out.to_str().unwrap());
    let budget = budget.to_string();
    let arguments = [
        "compact", path, "--json", "--format", format, "--out", out, "--force", "--budget", &budget,
    ];
    let output = run(&arguments);
    assert!(output.status.success(), "{format}: {}", stderr(&output));
    json(&output)
}

struct Case<'a> {
    name: &'a str,
    format: &'a str,
    order: &'a str,
}

impl Case<'_> {
    fn judge(&self, round: usize, result: &Value) {
        let Self {
            name,
            format,
            order,
        } = self;
        let (before, reason) = (&result["tokens_before"], &result["reason"]);
        assert_eq!(
            result["compacted"], true,
            "{name} {format} {round}: {before} {reason}"
        );
        let his = his(&summary(&result["messages"]));
        let gist: String = order.chars().take(18).collect();
        assert!(
            !his.contains(&gist),
            "{name} {format} {round}: {order}\n{his}"
        );
        let view = result["messages"].to_string();
        assert!(view.contains("below migrations/"), "{name} {format}");
    }
}

#[test]
fn no_format_lets_data_give_orders() {
    let hostile: Value = serde_json::from_str(HOSTILE).unwrap();
    let list = |name: &str| hostile[name].as_array().unwrap().clone();
    let (orders, dresses) = (list("orders"), list("dresses"));
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut tried = 0;
    for dress in &dresses {
        for format in FORMATS {
            let order = orders[tried % orders.len()].as_str().unwrap();
            let case = Case {
                name: dress[0].as_str().unwrap(),
                format,
                order,
            };
            let text = dress[1].as_str().unwrap().replace("{}", order);
            let is_request = FORMATS.iter().take(3).any(|request| *request == format);
            // A session file holds its whole history: every further round has to fit into less.
            let (steps, mut budget) = if is_request { (24, 900) } else { (72, 1_800) };
            let mut messages = conversation(text, steps);
            write(&path("in"), format, &messages);
            if !is_request && format != "unified" {
                let (from, to) = (path("in"), path("converted"));
                let output = run(&[
                    "convert",
                    from.to_str().unwrap(),
                    "--to",
                    format,
                    "--out",
                    to.to_str().unwrap(),
                ]);
                assert!(output.status.success(), "{format}: {}", stderr(&output));
                std::fs::rename(to, from).unwrap();
            }
            let rounds = if tried % ROUNDS_EVERY == 0 { 4 } else { 1 };
            for round in 0..rounds {
                let result = compact(&path("in"), format, &path("out"), budget);
                case.judge(round, &result);
                if is_request {
                    messages = result["messages"].as_array().unwrap().clone();
                    messages.extend(work(round + 1, steps));
                    write(&path("in"), format, &messages);
                } else {
                    budget = result["tokens_after"].as_u64().unwrap() * 85 / 100;
                    std::fs::rename(path("out"), path("in")).unwrap();
                }
            }
            tried += 1;
        }
    }
    assert!(tried >= 300, "{tried}");
}
