//! `epitome compact` and `epitome convert` on session files.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use epitome_files::{FileFormat, Transcript};
use epitome_testkit::strict;
use serde_json::{Value, json};

use crate::support::{json, run, run_with_input, stderr};

/// A session of many steps, in the unified form.
fn unified(steps: usize) -> String {
    let mut messages = vec![json!({"role": "system", "content": "You are an agent."})];
    messages.push(json!({"role": "user", "content": "Port src/lexer.rs. Never touch vendor/."}));
    for step in 0..steps {
        let id = format!("call_{step}");
        let arguments = format!(r#"{{"path":"src/part_{step}.rs"}}"#);
        messages.push(
            json!({"role": "assistant", "content": format!("Reading part {step}."),
            "tool_calls": [{"id": id, "name": "read_file", "arguments": arguments}]}),
        );
        let text = format!("fn part_{step}() {{ later(\"step {step}\") }}\n").repeat(20);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    messages.push(json!({"role": "user", "content": "And now the tests."}));
    json!({"id": "session-1", "format": "test", "messages": messages, "compactions": []})
        .to_string()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn read(path: &Path, format: FileFormat) -> Transcript {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(FileFormat::sniff(&bytes), Some(format));
    Transcript::collect(&mut Cursor::new(bytes), format).unwrap()
}

const WRITTEN: [(&str, FileFormat); 4] = [
    ("pi", FileFormat::Pi),
    ("claude-code", FileFormat::ClaudeCode),
    ("codex", FileFormat::Codex),
    ("unified", FileFormat::Unified),
];

#[test]
fn a_session_is_converted_compacted_and_compacted_again() {
    let folder = Folder::new();
    let original = folder.write("session.json", &unified(60));
    let whole = read(&original, FileFormat::Unified).conversations.remove(0);
    for (name, format) in WRITTEN {
        let file = folder.path(&format!("{name}.session"));
        let output = run(&[
            "convert",
            text(&original),
            "--to",
            name,
            "--out",
            text(&file),
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(output.stderr, b"", "{name}: nothing is lost");
        let converted = read(&file, format).conversations.remove(0);
        assert_eq!(converted.messages, whole.messages, "{name}");

        let once = folder.path(&format!("{name}.once"));
        let output = run(&["compact", text(&file), "--json", "--out", text(&once)]);
        assert!(output.status.success(), "{}", stderr(&output));
        let first = json(&output);
        assert_eq!(first["format"], name);
        assert_eq!(first["compacted"], true, "{name}: {}", first["reason"]);
        rebuilds(&once, format, &first, whole.messages.len());

        let twice = folder.path(&format!("{name}.twice"));
        let arguments = [
            "compact",
            text(&once),
            "--json",
            "--budget",
            "1500",
            "--out",
            text(&twice),
        ];
        let output = run(&arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        let second = json(&output);
        assert_eq!(second["compacted"], true, "{name}: {}", second["reason"]);
        assert!(second["tokens_after"].as_u64().unwrap() <= 1_500, "{name}");
        let view = second["messages"].to_string();
        assert!(view.contains("Never touch vendor/"), "{name}: {view}");
        rebuilds(&twice, format, &second, whole.messages.len());
    }
}

/// The file that was written gives the messages that were reported, and holds all that it held before.
fn rebuilds(path: &Path, format: FileFormat, report: &Value, messages: usize) {
    let again = read(path, format).conversations.remove(0);
    assert_eq!(again.messages.len(), messages, "{format}");
    let context = epitome_files::chat_messages(&again.context().messages);
    let context: Value = serde_json::from_slice(&context).unwrap();
    assert_eq!(context, report["messages"], "{format}");
    let body = json!({"messages": report["messages"]});
    assert_eq!(strict::openai_chat(&body), [], "{format}");
}

#[test]
fn every_preset_works_on_every_session_format() {
    let folder = Folder::new();
    let original = folder.write("session.json", &unified(30));
    for (name, format) in WRITTEN {
        let file = folder.path(&format!("{name}.session"));
        run(&[
            "convert",
            text(&original),
            "--to",
            name,
            "--out",
            text(&file),
        ]);
        for preset in ["default", "vibe", "openclaw", "micro", "spacebot", "layer"] {
            let out = folder.path("out");
            let output = run(&[
                "compact",
                text(&file),
                "--json",
                "--preset",
                preset,
                "--budget",
                "3000",
                "--out",
                text(&out),
                // D1: an existing file is replaced only by force.
                "--force",
            ]);
            assert!(
                output.status.success(),
                "{name} {preset}: {}",
                stderr(&output)
            );
            let report = json(&output);
            assert_eq!(
                report["compacted"], true,
                "{name} {preset}: {}",
                report["reason"]
            );
            assert!(
                report["tokens_after"].as_u64().unwrap() <= 3_000,
                "{name} {preset}"
            );
            let whole = read(&file, format).conversations.remove(0);
            rebuilds(&out, format, &report, whole.messages.len());
        }
    }
}

#[test]
fn several_conversations_give_a_result_each_unless_one_is_chosen() {
    let record = |id: usize| json!({"task_id": id, "trial": 0, "traj": [{"role": "user", "content": "hello"}]});
    let file = json!([record(0), record(1), record(2)]).to_string();
    let output = run_with_input(&["compact", "-", "--json"], file.as_bytes());
    let lines = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["conversation"].clone())
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    let output = run_with_input(
        &["compact", "-", "--json", "--conversation", "2"],
        file.as_bytes(),
    );
    assert_eq!(json(&output)["conversation"], 2);
    for number in ["0", "4"] {
        let output = run_with_input(&["compact", "-", "--conversation", number], file.as_bytes());
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("3 conversations"),
            "{}",
            stderr(&output)
        );
    }
    let output = run_with_input(&["convert", "-", "--to", "pi"], file.as_bytes());
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_cannot_be_carried_is_listed() {
    let body = json!({"messages": [
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "I see"}]}]});
    let body = body.to_string();
    let output = run_with_input(&["convert", "-", "--to", "pi", "--json"], body.as_bytes());
    let object = json(&output);
    let codes: Vec<&str> = object["losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| loss["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["thinking", "media"]);
    assert!(
        stderr(&output).contains("thinking is left out"),
        "{}",
        stderr(&output)
    );
    assert!(
        object["file"]
            .as_str()
            .unwrap()
            .starts_with(r#"{"type":"session""#)
    );
    let output = run_with_input(
        &["convert", "-", "--to", "openai-chat", "-q"],
        body.as_bytes(),
    );
    assert_eq!(output.stderr, b"");
    assert_eq!(json(&output)["messages"][1]["content"], "I see");
}

#[test]
fn bad_files_are_refused_in_one_line_and_nothing_is_written() {
    let folder = Folder::new();
    let deep = "[".repeat(10_000_000);
    for (name, content) in [
        ("empty", ""),
        ("binary", "\u{7f}ELF\u{0}\u{0}"),
        ("deep", deep.as_str()),
        (
            "header",
            "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n",
        ),
    ] {
        refused(&folder, &folder.write(name, content), &[]);
    }
    refused(&folder, folder.0.path(), &[]);
    refused(&folder, &folder.path("absent"), &[]);
    let unified = folder.write("unified", "{\"id\":\"u\",\"messages\":[");
    refused(&folder, &unified, &["--format", "unified"]);
}

fn refused(folder: &Folder, path: &Path, extra: &[&str]) {
    let out = folder.path("out");
    for command in ["compact", "convert"] {
        let mut arguments = vec![command, text(path), "--out", text(&out)];
        if command == "convert" {
            arguments.extend(["--to", "pi"]);
        }
        arguments.extend(extra);
        let output = run(&arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{command} {}",
            path.display()
        );
        let line = stderr(&output);
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.contains(text(path)), "{line}");
        assert!(!out.exists(), "{line}");
    }
}

#[test]
fn a_file_with_problems_is_read_and_they_are_named() {
    let folder = Folder::new();
    let original = folder.write("session.json", &unified(30));
    let file = folder.path("pi.session");
    run(&[
        "convert",
        text(&original),
        "--to",
        "pi",
        "--out",
        text(&file),
    ]);
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.extend_from_slice(
        b"{\"type\":\"wizardry\",\"id\":\"w\"}\n{\"type\":\"message\",\"id\":\"torn",
    );
    std::fs::write(&file, bytes).unwrap();
    let output = run(&["compact", text(&file), "--json"]);
    assert!(output.status.success());
    let told = stderr(&output);
    assert!(told.contains("torn_last_line"), "{told}");
    // Every version of an agent has kinds of its own.
    assert!(!told.contains("wizardry"), "{told}");
    assert_eq!(json(&output)["compacted"], true);
}

#[test]
fn a_second_compaction_keeps_a_tail_in_every_format() {
    let folder = Folder::new();
    let original = folder.write("session.json", &unified(60));
    for (name, _) in WRITTEN {
        let file = folder.path(&format!("{name}.session"));
        let (from, to) = (text(&original), text(&file));
        let output = run(&["convert", from, "--to", name, "--out", to]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let mut from = file;
        let mut budget = 6_000;
        for round in 0..3 {
            let to = folder.path(&format!("{name}.{round}"));
            let output = run(&[
                "compact",
                text(&from),
                "--budget",
                &budget.to_string(),
                "--out",
                text(&to),
                "--json",
            ]);
            assert!(output.status.success(), "{name}: {}", stderr(&output));
            let result = json(&output);
            assert_eq!(result["compacted"], true, "{name} {round}");
            let kept =
                result["messages_before"].as_u64().unwrap() - result["span"][1].as_u64().unwrap();
            assert!(kept > 0, "{name} {round}: {}", result["span"]);
            budget = result["tokens_after"].as_u64().unwrap() * 85 / 100;
            from = to;
        }
    }
}

/// The first entry of what a file is as a session of another agent.
fn converted(folder: &Folder, file: &Path, to: &str) -> Value {
    let out = folder.path(&format!("{to}.converted"));
    let output = run(&[
        "convert",
        text(file),
        "--to",
        to,
        "--out",
        text(&out),
        "--force",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let written = std::fs::read_to_string(out).unwrap();
    serde_json::from_str(written.lines().next().unwrap()).unwrap()
}

#[test]
fn a_converted_session_stays_in_its_folder_and_with_its_provider() {
    const ID: &str = "01a1e777-1b34-7812-afcc-f2b4e4921750";
    let folder = Folder::new();
    let pi = json!({"type": "session", "version": 3, "id": ID, "timestamp": "2026-01-02T03:04:05.678Z", "cwd": "/srv/shop"});
    let said = json!({"type": "message", "id": "a", "parentId": null, "timestamp": "2026-01-02T03:04:05.678Z",
        "message": {"role": "user", "content": "Mend the till."}});
    let pi = folder.write("pi.jsonl", &format!("{pi}\n{said}\n"));
    let codex = json!({"timestamp": "2026-01-02T03:04:05.678Z", "type": "session_meta",
        "payload": {"id": ID, "cwd": "/srv/till", "model_provider": "workshop"}});
    let said = json!({"timestamp": "2026-01-02T03:04:05.678Z", "type": "response_item", "payload": {"type": "message",
        "role": "user", "content": [{"type": "input_text", "text": "Oil it."}]}});
    let codex = folder.write("codex.jsonl", &format!("{codex}\n{said}\n"));
    let nowhere = folder.write("unified.json", &unified(1));

    let meta = converted(&folder, &pi, "codex")["payload"].clone();
    assert_eq!(
        (&meta["cwd"], &meta["id"]),
        (&json!("/srv/shop"), &json!(ID))
    );
    // Codex takes the provider of its configuration then.
    assert_eq!(meta.get("model_provider"), None);
    let meta = converted(&folder, &codex, "codex")["payload"].clone();
    assert_eq!(meta["model_provider"], "workshop");
    assert_eq!(converted(&folder, &codex, "pi")["cwd"], "/srv/till");
    assert_eq!(
        converted(&folder, &codex, "claude-code")["cwd"],
        "/srv/till"
    );
    // A file that does not say where it was held is held here, and agents that take nothing but a UUID get one.
    let here = std::env::current_dir().unwrap();
    let meta = converted(&folder, &nowhere, "codex")["payload"].clone();
    assert_eq!(meta["cwd"].as_str().unwrap(), text(&here));
    let id = meta["id"].as_str().unwrap();
    assert_eq!(
        id.split('-').map(str::len).collect::<Vec<_>>(),
        [8, 4, 4, 4, 12]
    );
}

#[test]
fn what_the_model_saw_and_is_not_shown_is_told() {
    let folder = Folder::new();
    let entry = |parent: Option<&str>, id: &str, kind: &str, name: &str, value: Value| {
        let mut entry = json!({"parentUuid": parent, "isSidechain": false, "sessionId": "s", "type": kind, "uuid": id});
        entry[name] = value;
        entry.to_string()
    };
    let lines = [
        entry(
            None,
            "u",
            "user",
            "message",
            json!({"role": "user", "content": "Mend the till."}),
        ),
        json!({"type": "mode", "mode": "plan", "sessionId": "s"}).to_string(),
        json!({"type": "frame-link", "url": "x", "sessionId": "s"}).to_string(),
        entry(
            Some("u"),
            "t",
            "attachment",
            "attachment",
            json!({"type": "todo_reminder", "content": []}),
        ),
        entry(
            Some("t"),
            "a",
            "assistant",
            "message",
            json!({"role": "assistant", "id": "m", "content": "It opens."}),
        ),
    ];
    let claude_code = folder.write("cc.jsonl", &(lines.join("\n") + "\n"));
    let item = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-01-02T03:04:05.678Z", "type": kind, "payload": payload})
            .to_string()
    };
    let lines = [
        item("session_meta", json!({"id": "s", "cwd": "/srv"})),
        item(
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look it up."}]}),
        ),
        item(
            "response_item",
            json!({"type": "web_search_call", "status": "completed"}),
        ),
        item("token_usage_record", json!({"thread_id": "s"})),
        item(
            "response_item",
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Found."}]}),
        ),
    ];
    let codex = folder.write("codex.jsonl", &(lines.join("\n") + "\n"));
    for (file, kind) in [
        (claude_code, "attachment/todo_reminder"),
        (codex, "web_search_call"),
    ] {
        let output = run(&["check", text(&file)]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
        let seen = json(&run(&["inspect", text(&file), "--json"]));
        assert_eq!(seen["unshown"], json!({kind: 1}));
        assert_eq!(seen["problems"], json!([]));
        let converted = json(&run(&["convert", text(&file), "--to", "pi", "--json"]));
        let codes: Vec<&Value> = converted["losses"]
            .as_array()
            .unwrap()
            .iter()
            .map(|loss| &loss["code"])
            .collect();
        assert_eq!(codes, ["unshown"], "{converted}");
    }
}
