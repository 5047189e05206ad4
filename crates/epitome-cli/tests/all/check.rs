//! `epitome check`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json as object};

use crate::support::{EXAMPLES, example, json, run, stderr};

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn codes(found: &Value, list: &str) -> Vec<String> {
    let rows = found[list].as_array().unwrap();
    rows.iter()
        .map(|row| row["code"].as_str().unwrap().to_owned())
        .collect()
}

/// A conversation in which a result lacks its call and a call its result.
fn broken() -> String {
    let messages = [
        object!({"role": "user", "content": "Read both."}),
        object!({"role": "tool", "tool_call_id": "lost", "content": "nobody asked"}),
        object!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}},
        ]}),
        object!({"role": "tool", "tool_call_id": "a", "content": "one"}),
        object!({"role": "user", "content": "And?"}),
    ];
    messages.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_is_whole_has_no_problems_and_is_repaired_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in EXAMPLES {
        let file = example(name);
        let output = run(&["check", path(&file), "--json"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
        assert_eq!(json(&output), object!({"format": format, "problems": []}));
        let out = folder.path().join(name);
        let output = run(&["check", path(&file), "--repair", "--out", path(&out)]);
        assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
        assert_eq!(fs::read(&out).unwrap(), fs::read(&file).unwrap(), "{name}");
    }
}

#[test]
fn problems_are_listed_with_their_places_and_repaired_into_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.jsonl");
    fs::write(&file, broken()).unwrap();
    let output = run(&["check", path(&file), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let found = json(&output);
    let found_codes = codes(&found, "problems");
    assert!(found_codes.len() >= 2, "{found}");
    for row in found["problems"].as_array().unwrap() {
        assert!(
            row["position"].as_str().unwrap().starts_with("message "),
            "{row}"
        );
    }
    let text = String::from_utf8(run(&["check", path(&file)]).stdout).unwrap();
    assert!(text.contains("broken.jsonl: message 2"), "{text}");

    let out = folder.path().join("whole.jsonl");
    let output = run(&[
        "check",
        path(&file),
        "--repair",
        "--out",
        path(&out),
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!codes(&json(&output), "repaired").is_empty());
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        broken(),
        "the input stays"
    );
    let output = run(&["check", path(&out), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let kept = fs::read_to_string(&out).unwrap();
    assert!(kept.contains("And?") && !kept.contains("nobody asked"));
}

#[test]
fn session_files_are_checked_and_repaired_in_their_own_format() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("broken.jsonl");
    fs::write(&source, broken()).unwrap();
    for format in ["pi", "claude-code", "codex"] {
        let file = folder.path().join(format!("{format}.jsonl"));
        let output = run(&[
            "convert",
            path(&source),
            "--to",
            format,
            "--out",
            path(&file),
            "--quiet",
        ]);
        assert!(output.status.success(), "{output:?}");
        // A writer was stopped in the middle of a line.
        let mut text = fs::read_to_string(&file).unwrap();
        text.push_str("{\"type\":\"mes");
        fs::write(&file, text).unwrap();
        let output = run(&["check", path(&file), "--json"]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        let found = codes(&json(&output), "problems");
        for code in ["torn_last_line", "unanswered_call", "orphan_result"] {
            assert!(
                found.iter().any(|found| found == code),
                "{format}: {found:?}"
            );
        }
        let out = folder.path().join(format!("{format}-whole.jsonl"));
        let output = run(&["check", path(&file), "--repair", "--out", path(&out)]);
        assert_eq!(output.status.code(), Some(0), "{format}: {output:?}");
        let output = run(&["check", path(&out), "--json"]);
        assert_eq!(output.status.code(), Some(0), "{format}: {output:?}");
        assert_eq!(json(&output)["format"], format);
    }
}

#[test]
fn the_input_is_never_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("broken.jsonl");
    fs::write(&file, broken()).unwrap();
    for out in [file.clone(), folder.path().join("./broken.jsonl")] {
        let output = run(&["check", path(&file), "--repair", "--out", path(&out)]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains("never written"));
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), broken());
    let output = run(&["check", path(&file), "--repair"]);
    assert_eq!(output.status.code(), Some(2), "where to is not said");
}

#[test]
fn a_folder_is_checked_file_by_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(
        example("coding-session.jsonl"),
        folder.path().join("whole.jsonl"),
    )
    .unwrap();
    let whole = run(&["check", path(folder.path())]);
    assert_eq!(whole.status.code(), Some(0), "{whole:?}");
    fs::write(folder.path().join("broken.jsonl"), broken()).unwrap();
    fs::write(folder.path().join("other.json"), "no conversation").unwrap();
    let output = run(&["check", path(folder.path()), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<Value> = String::from_utf8(output.stdout.clone())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let problems: Vec<usize> = lines
        .iter()
        .map(|line| line["problems"].as_array().unwrap().len())
        .collect();
    assert!(problems[0] > 0 && problems[1..] == [0], "{lines:?}");
    assert!(stderr(&output).contains("other.json"));
}
