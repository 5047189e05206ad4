//! `epitome inspect` and `epitome recall` over folders and over what agents recorded.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{epitome, json, stderr, stdout};

/// A session of Claude Code with one request and its answer.
fn claude_code(id: &str, day: u32, words: &str, input_tokens: u64) -> String {
    let entry = |uuid: &str, parent: Value, kind: &str, second: u32, message: Value| {
        json!({"type": kind, "uuid": format!("{id}-{uuid}"), "parentUuid": parent, "sessionId": id, "cwd": "/work",
            "version": "2.0.0", "isSidechain": false, "userType": "external",
            "timestamp": format!("2026-03-{day:02}T10:00:{second:02}.000Z"), "message": message})
        .to_string()
    };
    let asked = json!({"role": "user", "content": words});
    let answered = json!({"id": format!("msg_{id}"), "type": "message", "role": "assistant",
        "model": "claude-sonnet-5", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "It is done."}],
        "usage": {"input_tokens": input_tokens, "output_tokens": 100,
            "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}});
    let first = entry("a", Value::Null, "user", 1, asked);
    let second = entry("b", format!("{id}-a").into(), "assistant", 2, answered);
    format!("{first}\n{second}\n")
}

/// A home in which two agents have worked.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |path: &str, text: String| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let project = ".claude/projects/-work";
    write(
        &format!("{project}/old.jsonl"),
        claude_code("old", 1, "Fix the invoice rounding", 9_000),
    );
    write(
        &format!("{project}/new.jsonl"),
        claude_code("new", 9, "Rounding of an invoice again", 1_000),
    );
    write(&format!("{project}/notes.md"), "not a conversation".into());
    let chat = r#"{"messages": [{"role": "user", "content": "Say hello"}]}"#;
    write(".pi/agent/sessions/chat.json", chat.into());
    home
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    let mut command = epitome();
    command.env("HOME", home).args(arguments);
    for moved in [
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "PI_CODING_AGENT_DIR",
        "XDG_DATA_HOME",
    ] {
        command.env_remove(moved);
    }
    command.output().unwrap()
}

fn names(output: &Output) -> Vec<String> {
    let lines = stdout(output);
    let name = |line: &str| {
        let object: Value = serde_json::from_str(line).unwrap();
        let file = object.get("file").and_then(Value::as_str).unwrap();
        file.rsplit('/').next().unwrap().to_owned()
    };
    lines.lines().map(name).collect()
}

#[test]
fn inspect_alone_looks_where_agents_keep_their_conversations() {
    let home = home();
    let output = run(home.path(), &["inspect"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[1].starts_with("2026-03-09  claude-code"), "{text}");
    assert!(
        lines[1].ends_with("~/.claude/projects/-work/new.jsonl"),
        "{text}"
    );
    assert!(lines[1].contains('$') && lines[2].contains('$'), "{text}");
    assert!(lines[4].ends_with("3 files"), "{text}");
    assert!(
        stderr(&output).contains("1 file beside them"),
        "{}",
        stderr(&output)
    );

    let nobody = tempfile::tempdir().unwrap();
    let output = run(nobody.path(), &["inspect"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("name a file or a folder"));
}

#[test]
fn a_session_of_opencode_is_put_together_from_its_files() {
    let home = tempfile::tempdir().unwrap();
    let storage = home.path().join(".local/share/opencode/storage");
    let write = |path: &str, value: Value| {
        let path = storage.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    write(
        "session/global/ses_1.json",
        json!({"id": "ses_1", "directory": "/work", "title": "t", "version": "1.0.0", "time": {"created": 1}}),
    );
    let said = [
        ("msg_1", "user", "Rename the lexer"),
        ("msg_2", "assistant", "The lexer is a scanner now."),
    ];
    for (id, role, text) in said {
        let message = json!({"id": id, "sessionID": "ses_1", "role": role, "time": {"created": 1_772_359_202_000_u64}});
        write(&format!("message/ses_1/{id}.json"), message);
        let part = json!({"id": format!("prt_{id}"), "messageID": id, "sessionID": "ses_1", "type": "text", "text": text});
        write(&format!("part/{id}/prt_{id}.json"), part);
    }
    let mut command = epitome();
    command.env("HOME", home.path()).env_remove("XDG_DATA_HOME");
    let output = command.args(["inspect", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let found = json(&output);
    assert_eq!(found["format"], "opencode");
    assert_eq!(found["messages"], 2);
    let file = storage.join("session/global/ses_1.json");
    let arguments = ["recall", file.to_str().unwrap(), "scanner"];
    let output = run(home.path(), &arguments);
    assert!(
        stdout(&output).starts_with("entry 2, assistant"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn files_are_sorted_as_asked() {
    let home = home();
    let folder = home.path().to_str().unwrap();
    for (by, expected) in [
        ("name", ["new.jsonl", "old.jsonl", "chat.json"]),
        ("date", ["new.jsonl", "old.jsonl", "chat.json"]),
        ("cost", ["old.jsonl", "new.jsonl", "chat.json"]),
        ("messages", ["new.jsonl", "old.jsonl", "chat.json"]),
    ] {
        let output = run(home.path(), &["inspect", folder, "--json", "--sort", by]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(names(&output), expected, "{by}");
    }
    let file = home.path().join(".pi/agent/sessions/chat.json");
    let output = run(
        home.path(),
        &["inspect", file.to_str().unwrap(), "--sort", "date"],
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_cost_is_what_the_provider_counted_at_the_models_price() {
    let home = home();
    let file = home.path().join(".claude/projects/-work/old.jsonl");
    let found = json(&run(
        home.path(),
        &["inspect", file.to_str().unwrap(), "--json"],
    ));
    let prices = epitome::ModelTable::builtin()
        .find("claude-sonnet-5")
        .unwrap()
        .prices;
    let expected = 9_000 * prices.input.unwrap() + 100 * prices.output.unwrap();
    assert_eq!(found["nanodollars"], expected);
    assert_eq!(found["model"], "claude-sonnet-5");
    assert_eq!(found["last_ms"], 1_772_359_202_000_u64);
}

#[test]
fn recall_names_the_file_and_the_day_and_sorts_by_it() {
    let home = home();
    let folder = home.path().to_str().unwrap().to_owned();
    for arguments in [
        &["recall", "--agents", "invoice", "rounding"][..],
        &["recall", &folder, "invoice", "rounding"],
    ] {
        let output = run(home.path(), arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = stdout(&output);
        assert!(
            text.contains("2026-03-01 10:00, ~/.claude/projects/-work/old.jsonl, entry 1, user"),
            "{text}"
        );
        assert!(
            stderr(&output).contains("can be read: 1"),
            "{}",
            stderr(&output)
        );
    }
    let arguments = ["recall", "--agents", "--sort", "date", "--json", "rounding"];
    let found = json(&run(home.path(), &arguments));
    let times: Vec<u64> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["at_ms"].as_u64().unwrap())
        .collect();
    assert_eq!(times.len(), 2);
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
}
