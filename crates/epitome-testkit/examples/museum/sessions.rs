//! Session files with a compaction in them, as the command writes them.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use epitome_testkit::Wire;
use epitome_testkit::museum::digest;
use serde_json::{Value, json};

use super::talk::{RULE, Talk, prose};
use super::{Epitome, write_manifest};

/// The whole view may take this much.
const BUDGET_TOKENS: &str = "650";
/// The formats that a session is converted to, the names that their files have, and the designs that compact them: one
/// keeps calls and results at the end, ours a longer summary.
const CONVERTED: [(&str, &str, &str); 4] = [
    ("pi", "jsonl", "openclaw"),
    ("claude-code", "jsonl", "openclaw"),
    ("codex", "jsonl", "openclaw"),
    ("unified", "json", "default"),
];

pub(crate) fn make(folder: &Path, epitome: &Epitome) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let session = scratch.path().join("session.json");
    fs::write(&session, unified())?;
    let mut files = Vec::new();
    for (format, ending, preset) in CONVERTED {
        let source = scratch.path().join(format!("{format}.{ending}"));
        let arguments = ["convert", text(&session)?, "--to", format, "--json"];
        let converted = epitome.run(&[&arguments[..], &["--out", text(&source)?]].concat())?;
        ensure!(converted.code == Some(0), "{format} was not converted");
        files.push(compacted(folder, &source, preset, epitome)?);
    }
    for (wire, format) in [
        (Wire::OpenaiChat, "openai-chat"),
        (Wire::Anthropic, "anthropic"),
    ] {
        let source = scratch.path().join(format!("{format}.json"));
        let talk = Talk::new(wire, "lexer", 20).grow(7, 60);
        fs::write(&source, talk.request("museum-model"))?;
        files.push(compacted(folder, &source, "default", epitome)?);
    }
    write_manifest(&folder.join("manifest.json"), &json!({"files": files}))
}

/// Compacts a file, and says what is to be known of it.
fn compacted(folder: &Path, source: &Path, preset: &str, epitome: &Epitome) -> Result<Value> {
    let name = source.file_name().context("a file without a name")?;
    let written = folder.join(name);
    let name = name.to_string_lossy();
    let arguments = ["compact", text(source)?, "--preset", preset, "--json"];
    let sizes = ["--budget", BUDGET_TOKENS, "--out", text(&written)?];
    let report = epitome.run(&[&arguments[..], &sizes[..]].concat())?;
    ensure!(report.json["compacted"] == true, "{name} was not compacted");
    let check = epitome.run(&["check", text(&written)?, "--json"])?;
    Ok(json!({
        "format": report.json["format"],
        "file": name,
        "messages_before": report.json["messages_before"],
        "messages_after": report.json["messages_after"],
        "view_blake3": digest(report.json["messages"].to_string().as_bytes()),
        "rule": RULE,
        "check_code": check.code,
        "problems": check.json["problems"],
    }))
}

/// A session in the form that every other one is converted from.
fn unified() -> String {
    let mut messages = vec![json!({"role": "system", "content": "You port Python to Rust."})];
    let task = format!("Port src/lexer.py to Rust. {RULE}");
    messages.push(json!({"role": "user", "content": task}));
    for step in 1..=7 {
        let id = format!("call_{step}");
        let arguments = format!(r#"{{"path":"src/part_{step}.py"}}"#);
        messages.push(
            json!({"role": "assistant", "content": format!("Reading part {step}."),
            "tool_calls": [{"id": id, "name": "read_file", "arguments": arguments}]}),
        );
        let text = prose(step, 70);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    messages.push(json!({"role": "user", "content": "And now the tests."}));
    json!({"id": "museum", "format": "museum", "messages": messages, "compactions": []}).to_string()
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is no text")
}
