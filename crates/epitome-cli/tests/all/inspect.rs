//! `epitome inspect`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{example, run};

fn object(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_conversation_is_counted_by_role_tool_and_message() {
    let file = example("coding-session.jsonl");
    let file = file.to_str().unwrap();
    let found = object(&["inspect", file, "--json"]);
    let lines = fs::read_to_string(file).unwrap().lines().count();
    assert_eq!(found["format"], "openai-chat");
    assert_eq!(found["conversations"], 1);
    assert_eq!(found["messages"], lines);
    let sum = |part: &str, of: &str| -> u64 {
        let rows = found[part].as_object().unwrap().values();
        rows.map(|row| row[of].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("by_role", "tokens"), found["tokens"].as_u64().unwrap());
    assert_eq!(sum("by_role", "messages"), lines as u64);
    assert_eq!(
        sum("by_tool", "calls"),
        found["tool_calls"].as_u64().unwrap()
    );
    assert_eq!(found["tool_calls"], found["tool_results"]);
    assert_eq!(found["unanswered_calls"], 0);
    assert_eq!(found["problems"], json!([]));
    let largest: Vec<u64> = found["largest"]
        .as_array()
        .unwrap()
        .iter()
        .map(|large| large["tokens"].as_u64().unwrap())
        .collect();
    assert_eq!(largest.len(), 10);
    assert!(largest.is_sorted_by(|a, b| a >= b), "{largest:?}");
    // Another meter counts otherwise.
    let exact = object(&["inspect", file, "--json", "--count", "o200k"]);
    assert_ne!(exact["tokens"], found["tokens"]);
    assert_eq!(exact["messages"], found["messages"]);
}

#[test]
fn a_saw_tooth_shows_where_the_context_was_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let drawing = folder.path().join("context.svg");
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/"}),
    ];
    let mut parent = Value::Null;
    let entry = |number: usize, parent: &mut Value, kind: &str, more: Value| {
        let id = format!("{number:08x}");
        let mut entry = json!({"type": kind, "id": id, "parentId": parent, "timestamp": "2026-01-02T03:04:05.000Z"});
        for (name, value) in more.as_object().unwrap() {
            entry[name] = value.clone();
        }
        *parent = json!(id);
        entry
    };
    for number in 0..40 {
        if number == 20 {
            let more = json!({"summary": "What was done so far.", "firstKeptEntryId": format!("{:08x}", 18), "tokensBefore": 5000});
            lines.push(entry(100, &mut parent, "compaction", more));
        }
        let role = ["user", "assistant"][number % 2];
        let text = "a word and another ".repeat(40);
        let more = json!({"message": {"role": role, "content": [{"type": "text", "text": text}]}});
        lines.push(entry(number, &mut parent, "message", more));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let found = object(&[
        "inspect",
        path,
        "--json",
        "--svg",
        drawing.to_str().unwrap(),
    ]);
    assert_eq!(
        (&found["format"], &found["compactions"]),
        (&json!("pi"), &json!(1))
    );
    assert_eq!(found["messages"], 40);
    let largest = found["largest_context_tokens"].as_u64().unwrap();
    assert!(
        largest < found["tokens"].as_u64().unwrap() * 3 / 4,
        "{found}"
    );
    let drawn = fs::read_to_string(drawing).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("compacted"));
    let output = run(&["inspect", path]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("▲ compacted") && text.contains("1 compaction\n"),
        "{text}"
    );
}

#[test]
fn a_folder_is_one_table_and_one_object_a_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("deep")).unwrap();
    for name in ["a.jsonl", "deep/b.jsonl"] {
        fs::copy(example("coding-session.jsonl"), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("broken.json"), "no conversation").unwrap();
    fs::write(folder.path().join("picture.png"), "not looked at").unwrap();
    let path = folder.path().to_str().unwrap();
    let output = run(&["inspect", path]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("a.jsonl") && text.contains("deep/b.jsonl") && text.contains("2 files"),
        "{text}"
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("broken.json") && !said.contains("picture"),
        "{said}"
    );
    let output = run(&["inspect", path, "--json"]);
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["file"].is_string()));

    fs::remove_file(folder.path().join("a.jsonl")).unwrap();
    fs::remove_dir_all(folder.path().join("deep")).unwrap();
    let output = run(&["inspect", path]);
    assert_eq!(
        output.status.code(),
        Some(2),
        "nothing here is a conversation"
    );
}
