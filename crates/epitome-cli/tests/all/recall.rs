//! `epitome recall` on files.

use serde_json::Value;

use crate::support::{EXAMPLES, example, json, run, run_with_input, stderr};

const CHAT: &str = r#"{"messages": [
    {"role": "user", "content": "Deploy with parse_http_header on port 8443."},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",
        "function": {"name": "read_file", "arguments": "{\"path\":\"src/net/tls.rs\"}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "部署在周五失败了"},
    {"role": "user", "content": "and on port 80"}
]}"#;

fn positions(found: &Value) -> Vec<u64> {
    let hits = found["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["position"].as_u64().unwrap())
        .collect()
}

#[test]
fn messages_of_a_body_are_found_by_words() {
    for (query, expected) in [
        (&["8443"][..], &[1][..]),
        (&["Header"], &[1]),
        (&["tls.rs"], &[2]),
        (&["失败"], &[3]),
        (&["port", "80"], &[4]),
        (&["\"port\" AND NEAR("], &[4, 1]),
    ] {
        let mut arguments = vec!["recall", "--json", "-"];
        arguments.extend(query);
        let output = run_with_input(&arguments, CHAT.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(positions(&json(&output)), expected, "{query:?}");
    }
    let output = run_with_input(&["recall", "-", "port", "-k", "1"], CHAT.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "entry 4, user\n    and on port 80\n");
}

#[test]
fn nothing_found_is_a_no_and_no_query_is_wrong() {
    let output = run_with_input(&["recall", "--json", "-", "zebra"], CHAT.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(positions(&json(&output)), [0; 0]);
    assert_eq!(run(&["recall", "file"]).status.code(), Some(2));
    assert_eq!(run(&["recall", "no-such-file", "x"]).status.code(), Some(2));
}

#[test]
fn every_example_can_be_searched() {
    for (name, _) in EXAMPLES {
        let file = example(name);
        let output = run(&["recall", "--json", file.to_str().unwrap(), "the"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        assert!(!positions(&json(&output)).is_empty(), "{name}");
    }
}

#[test]
fn a_compaction_of_the_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let message = |id: &str, parent: &str, role: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}"#.to_owned(),
        message("a", "null", "user", "the zebra is in the first message"),
        message("b", "\"a\"", "assistant", "noted"),
        message("c", "\"b\"", "user", "and a giraffe"),
        r#"{"type":"compaction","id":"d","parentId":"c","timestamp":"2026-01-01T00:00:00.000Z","summary":"animals were named","firstKeptEntryId":"c","tokensBefore":99}"#.to_owned(),
    ];
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let file = path.to_str().unwrap();
    let found = json(&run(&["recall", "--json", file, "zebra"]));
    assert_eq!(positions(&found), [1]);
    let covered_by = &found["hits"][0]["covered_by"];
    assert_eq!(covered_by["summary"], "animals were named");
    assert_eq!(covered_by["compaction"], "line 5");
    let found = json(&run(&["recall", "--json", file, "giraffe"]));
    assert_eq!(found["hits"][0]["covered_by"], Value::Null);
}
