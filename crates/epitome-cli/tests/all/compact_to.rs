//! `epitome compact --to FORMAT`.

use std::io::Cursor;

use epitome_files::{FileFormat, Transcript, chat_messages};
use epitome_testkit::strict;
use serde_json::{Value, json};

use crate::support::{EXAMPLES, example, json, run, run_with_input, stderr, stdout};

const WRITTEN: [(&str, FileFormat); 4] = [
    ("pi", FileFormat::Pi),
    ("claude-code", FileFormat::ClaudeCode),
    ("codex", FileFormat::Codex),
    ("unified", FileFormat::Unified),
];

#[test]
fn the_result_is_a_session_file_with_the_compaction_in_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in EXAMPLES {
        let input = example(name);
        for (to, file_format) in WRITTEN {
            let out = folder.path().join(format!("{name}.{to}"));
            let paths = (input.to_str().unwrap(), out.to_str().unwrap());
            let output = run(&["compact", paths.0, "--to", to, "--json", "--out", paths.1]);
            assert!(output.status.success(), "{name} {to}: {}", stderr(&output));
            let report = json(&output);
            assert_eq!(report["format"], format, "{name} {to}");
            assert_eq!(report["compacted"], true, "{name} {to}");
            let bytes = std::fs::read(&out).unwrap();
            assert_eq!(FileFormat::sniff(&bytes), Some(file_format), "{name} {to}");
            let read = Transcript::collect(&mut Cursor::new(bytes), file_format).unwrap();
            assert_eq!(read.problems.total(), 0, "{name} {to}");
            let [conversation] = read.conversations.as_slice() else {
                panic!("{name} {to}: {} conversations", read.conversations.len());
            };
            assert_eq!(conversation.compactions.len(), 1, "{name} {to}");
            let context = chat_messages(&conversation.context().messages);
            let context: Value = serde_json::from_slice(&context).unwrap();
            assert_eq!(context, report["messages"], "{name} {to}");
        }
    }
}

#[test]
fn without_a_file_the_result_is_standard_output() {
    let input = example("support-case.jsonl");
    let output = run(&["compact", input.to_str().unwrap(), "--to", "openai-chat"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let body: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(strict::openai_chat(&body), []);
    let said = stderr(&output);
    assert!(said.contains("compacted to"), "{said}");
}

#[test]
fn a_file_that_is_of_the_format_already_keeps_its_bytes() {
    let input = example("coding-session.jsonl");
    let input = input.to_str().unwrap();
    let with = run(&["compact", input, "--to", "openai-chat", "--quiet"]);
    let without = run(&["compact", input, "--out", "-", "--quiet"]);
    assert!(!with.stdout.is_empty());
    assert_eq!(with.stdout, without.stdout);
}

#[test]
fn what_cannot_be_carried_is_told() {
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let mut messages = vec![json!({"role": "user", "content": [picture]})];
    for turn in 0..40 {
        let text = format!("Part {turn} of the report is done. ").repeat(20);
        messages.push(json!({"role": "assistant", "content": text}));
        messages.push(json!({"role": "user", "content": format!("Go on with part {}.", turn + 1)}));
    }
    let body = json!({ "messages": messages }).to_string();
    let output = run_with_input(&["compact", "-", "--to", "unified"], body.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("replaced by a word"), "{said}");
}
