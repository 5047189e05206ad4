//! `epitome eval` on a folder made for it.

use std::fmt::Write;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{json, run, stderr};

/// One session of about 70,000 tokens with a compaction in it, and one chat with a question.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let unified = folder.path().join("unified");
    let chats = folder.path().join("qa").join("beam");
    std::fs::create_dir_all(&unified).unwrap();
    std::fs::create_dir_all(&chats).unwrap();
    std::fs::write(unified.join("one.json"), session()).unwrap();
    let chat = r#"[{"turns": [[{"role": "user", "id": 1, "content": "The gateway answers in 250 milliseconds. ->-> 1,1"},
        {"role": "assistant", "id": 2, "content": "Noted."}]]}]"#;
    let questions = r#"{"information_extraction": [{"question": "How fast is the gateway?", "answer": "250 milliseconds",
        "source_chat_ids": [1]}]}"#;
    std::fs::write(chats.join("100K-1.chat.json"), chat).unwrap();
    std::fs::write(chats.join("100K-1.questions.json"), questions).unwrap();
    folder
}

fn session() -> String {
    let mut messages =
        String::from(r#"{"role":"user","content":"Repair the parser, file by file."}"#);
    for number in 0..140 {
        let file = format!("src/module_{}/part_{number}.rs", number % 9);
        let output = format!("fn work_{number}() in {file}\\n").repeat(50);
        // Every message looks back at a file that was read long before.
        let old = format!("src/module_{}/part_{}.rs", (number / 3) % 9, number / 3);
        write!(
            messages,
            r#",{{"role":"assistant","content":"After {old} comes the next.","tool_calls":[{{"id":"c{number}","name":"read","arguments":"{{\"path\":\"{file}\"}}"}}]}}"#
        )
        .unwrap();
        write!(
            messages,
            r#",{{"role":"tool","tool_call_id":"c{number}","content":"{output}"}}"#
        )
        .unwrap();
    }
    let summary = "The parser was repaired in src/module_1/part_1.rs. ".repeat(40);
    format!(
        r#"{{"id":"one","format":"test","messages":[{messages}],"compactions":[{{"at":201,"summary":"{summary}"}}]}}"#
    )
}

fn eval(folder: &Path, options: &[&str]) -> std::process::Output {
    let mut arguments = vec!["eval", folder.to_str().unwrap()];
    arguments.extend(options);
    run(&arguments)
}

#[test]
fn all_parts_are_reported_and_twice_the_same() {
    let folder = folder();
    let output = eval(folder.path(), &["--json"]);
    let report = json(&output);
    let budgets: Vec<_> = report["needs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["budget"].as_u64())
        .collect();
    let expected = [Some(2_000), Some(4_000), Some(8_000), Some(16_000), None];
    assert_eq!(budgets, expected);
    let methods = report["needs"][0]["lines"].as_array().unwrap().len();
    assert_eq!(methods, 9);
    assert_eq!(report["planted"][0]["budget"], 4_000);
    assert_eq!(report["questions"][0]["chats"], "100K");
    assert_eq!(report["scores"].as_array().unwrap().len(), 9);
    for gate in [
        "newly_invalid",
        "over_budget",
        "not_repeatable",
        "not_idempotent",
        "inventing",
    ] {
        assert_eq!(report["gates"][gate], 0, "{gate}");
    }
    assert!(stderr(&output).contains("measured in"));
    assert_eq!(eval(folder.path(), &["--json"]).stdout, output.stdout);
}

#[test]
fn parts_methods_and_budgets_can_be_chosen() {
    let folder = folder();
    let chosen = [
        "--json",
        "--only",
        "needs",
        "--methods",
        "builtin,ledger",
        "--budgets",
        "4000",
    ];
    let report = json(&eval(folder.path(), &chosen));
    assert_eq!(report["needs"].as_array().unwrap().len(), 2);
    assert_eq!(report["needs"][0]["lines"].as_array().unwrap().len(), 2);
    assert!(report["planted"].as_array().unwrap().is_empty());
    assert!(report.get("gates").is_none());
    let real = json(&eval(folder.path(), &["--json", "--real"]));
    assert_eq!(real["needs"].as_array().unwrap().len(), 1);
    assert!(real["needs"][0]["budget"].is_null());
    assert_eq!(real["needs"][0]["lines"].as_array().unwrap().len(), 10);
}

#[test]
fn tables_are_markdown() {
    let folder = folder();
    let text = |options: &[&str]| String::from_utf8(eval(folder.path(), options).stdout).unwrap();
    let all = text(&["--quick"]);
    assert!(
        all.contains("### Budget 4000") && all.contains("| builtin |"),
        "{all}"
    );
    let quality = text(&["--markdown"]);
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../QUALITY.md");
    let committed = std::fs::read_to_string(committed).unwrap();
    let heads = quality
        .lines()
        .filter(|line| line.starts_with("###") || line.starts_with("| m"));
    for head in heads.filter(|line| !line.contains("0.")) {
        assert!(committed.contains(head), "QUALITY.md has no `{head}`");
    }
    assert!(quality.contains("| FNR-g, 8,000 | 0.85 |"), "{quality}");
}

#[test]
fn a_folder_without_sessions_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = eval(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no unified/*.json"));
    let unified = folder.path().join("unified");
    std::fs::create_dir_all(&unified).unwrap();
    std::fs::write(unified.join("odd.json"), "{}").unwrap();
    let output = eval(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("odd.json: not a session in the unified shape"));
}
