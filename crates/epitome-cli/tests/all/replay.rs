//! `epitome replay` and `epitome compare`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{epitome, example, json as object, run, run_with_input, stderr};

/// A session of many steps, in the unified form.
fn session(steps: usize) -> String {
    let mut messages = vec![
        json!({"role": "system", "content": "You are an agent."}),
        json!({"role": "user", "content": "Port src/lexer.rs. Never touch vendor/."}),
    ];
    for step in 0..steps {
        let id = format!("call_{step}");
        let arguments = format!(r#"{{"path":"src/part_{step}.rs"}}"#);
        messages.push(
            json!({"role": "assistant", "content": format!("Reading part {step}."),
            "tool_calls": [{"id": id, "name": "read_file", "arguments": arguments}]}),
        );
        let text = format!("fn part_{step}() {{ later(\"step {step}\") }}\n").repeat(40);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    messages.push(json!({"role": "assistant", "content": "Done."}));
    json!({"id": "session-1", "format": "test", "messages": messages, "compactions": []})
        .to_string()
}

fn lines(output: &std::process::Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", stderr(output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn sum(turns: &[Value], pointer: &str) -> u64 {
    turns
        .iter()
        .map(|turn| turn.pointer(pointer).unwrap().as_u64().unwrap())
        .sum()
}

#[test]
fn a_session_is_walked_through_request_by_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    fs::write(&path, session(200)).unwrap();
    let path = path.to_str().unwrap();
    let turns = lines(&run(&[
        "replay",
        path,
        "--window",
        "40k",
        "--model",
        "claude-sonnet-5",
        "--json",
    ]));
    assert_eq!(turns.len(), 201);
    let compacted: Vec<&Value> = turns
        .iter()
        .filter(|turn| turn["action"] == "compacted")
        .collect();
    assert!(compacted.len() > 1, "{}", compacted.len());
    for (at, turn) in turns.iter().enumerate() {
        assert_eq!(turn["turn"], at + 1);
        assert_eq!(turn["own_nanodollars"], 0);
        let tokens = |name: &str| turn[name].as_u64().unwrap();
        assert_eq!(
            tokens("context_tokens"),
            tokens("cache_read_tokens") + tokens("cache_write_tokens") + tokens("fresh_tokens")
        );
        assert!(tokens("context_tokens") <= 40_000, "{turn}");
        assert_eq!(
            turn["compaction"].is_object(),
            turn["action"] == "compacted"
        );
    }
    for turn in compacted {
        let made = &turn["compaction"];
        assert!(made["tokens_after"].as_u64() < made["tokens_before"].as_u64());
        assert!(made["anchors_in_view"].as_u64() <= made["anchors"].as_u64());
        assert!(turn["reason"].is_string());
    }
    // As long as it fits, nothing is different; in the end it costs less.
    let first = turns.iter().position(|turn| turn["action"] == "compacted");
    for turn in &turns[..first.unwrap()] {
        assert_eq!(turn["nanodollars"], turn["without"]["nanodollars"]);
    }
    assert!(sum(&turns, "/nanodollars") < sum(&turns, "/without/nanodollars"));
    assert_eq!(turns[200]["without"]["too_long"], true);
    // The same file gives the same lines.
    let again = lines(&run(&[
        "replay",
        path,
        "--window",
        "40k",
        "--model",
        "claude-sonnet-5",
        "--json",
    ]));
    assert_eq!(again, turns);
}

#[test]
fn people_get_a_page_with_a_saw_tooth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    let drawing = folder.path().join("context.svg");
    fs::write(&path, session(200)).unwrap();
    let path = path.to_str().unwrap();
    let output = run(&[
        "replay",
        path,
        "--window",
        "40k",
        "--preset",
        "micro",
        "--svg",
        drawing.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "201 requests",
        "design micro, window 40,000",
        "▲ compacted",
        "with epitome",
        "read from the cache",
        "cost",
        "own spend: $0",
        "a request every 30 seconds",
        "the file names no model",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let body = text.split_once('\n').unwrap().1;
    assert!(
        body.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'));
    let drawn = fs::read_to_string(&drawing).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("request by request"));
    let again = run(&["replay", path, "--svg", drawing.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(2), "an existing file stays");
}

#[test]
fn times_prices_and_windows_are_those_of_the_file_where_it_has_them() {
    let entry = |number: u64, role: &str, at: &str| {
        let said = match role {
            "assistant" => {
                json!({"id": format!("msg_{number}"), "role": role, "model": "claude-opus-4-5-20251101",
                "content": [{"type": "text", "text": format!("Answer {number}.")}],
                "usage": {"input_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 12_000,
                    "cache_creation": {"ephemeral_1h_input_tokens": 12_000}, "output_tokens": 9}})
            }
            _ => json!({"role": role, "content": format!("Question {number}?")}),
        };
        let parent = number.checked_sub(1).map(|before| format!("u{before}"));
        json!({"type": role, "uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "s", "cwd": "/",
            "timestamp": at, "message": said})
    };
    let file: String = [
        entry(0, "user", "2026-01-02T03:00:00.000Z"),
        entry(1, "assistant", "2026-01-02T03:00:05.000Z"),
        entry(2, "user", "2026-01-02T03:40:00.000Z"),
        entry(3, "assistant", "2026-01-02T03:40:05.000Z"),
        entry(4, "user", "2026-01-02T05:00:00.000Z"),
        entry(5, "assistant", "2026-01-02T05:00:05.000Z"),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect();
    let turns = lines(&run_with_input(&["replay", "-", "--json"], file.as_bytes()));
    let at: Vec<u64> = turns
        .iter()
        .map(|turn| turn["at_ms"].as_u64().unwrap())
        .collect();
    assert_eq!(at[1] - at[0], 40 * 60_000);
    // What the provider counted in the first request, besides its message, is in all of them.
    assert_eq!(turns[0]["context_tokens"], 12_003);
    // Marked for an hour: alive after forty minutes, gone after eighty.
    assert_eq!(turns[1]["cache_read_tokens"], 12_003);
    assert_eq!(turns[2]["cache_read_tokens"], 0);
    let text = run_with_input(&["replay", "-"], file.as_bytes());
    let text = String::from_utf8(text.stdout).unwrap();
    for part in [
        "window 200,000 (of the model)",
        "prices of claude-opus-4-5",
        "times are those of the file; marks last an hour",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn designs_are_set_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.json", "b.json"] {
        fs::write(folder.path().join(name), session(150)).unwrap();
    }
    fs::write(folder.path().join("broken.json"), "no conversation").unwrap();
    let path = folder.path().to_str().unwrap();
    let one = folder.path().join("a.json");
    let one = one.to_str().unwrap();
    let rows = lines(&run(&["compare", one, "--window", "40k", "--json"]));
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row["preset"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "default", "vibe", "openclaw", "micro", "spacebot", "layer", "none"
        ]
    );
    let none = rows.last().unwrap();
    assert_eq!(
        (&none["compactions"], &none["kept_share"]),
        (&json!(0), &Value::Null)
    );
    assert!(none["too_long"].as_u64().unwrap() > 0);
    let ours = &rows[0];
    assert_eq!(ours["too_long"], 0);
    assert_eq!(ours["windows"], json!([40_000]));
    assert!(ours["nanodollars"].as_u64() < none["nanodollars"].as_u64());
    let kept = ours["kept_share"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&kept));
    // A folder is the sum of its files, and what cannot be read is said.
    let output = run(&["compare", path, "--window", "40k", "--json"]);
    let both = lines(&output);
    for (both, one) in both.iter().zip(&rows) {
        let twice = |name: &str| one[name].as_u64().unwrap() * 2;
        assert_eq!(both["files"], 2);
        for name in ["requests", "compactions", "sent_tokens", "nanodollars"] {
            assert_eq!(both[name], twice(name), "{name}");
        }
    }
    assert!(stderr(&output).contains("broken.json"));
    let mut narrow = epitome();
    narrow.env("COLUMNS", "80");
    let text = narrow.args(["compare", path, "--window", "40k"]).output();
    let text = String::from_utf8(text.unwrap().stdout).unwrap();
    assert!(
        text.contains("2 files") && text.contains("own spend: $0"),
        "{text}"
    );
    let body = text.split_once('\n').unwrap().1;
    assert!(
        body.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    // It agrees with the walk.
    let turns = lines(&run(&["replay", one, "--window", "40k", "--json"]));
    assert_eq!(
        sum(&turns, "/nanodollars"),
        ours["nanodollars"].as_u64().unwrap()
    );
    assert_eq!(
        sum(&turns, "/context_tokens"),
        ours["sent_tokens"].as_u64().unwrap()
    );
}

#[test]
fn what_cannot_be_walked_through_is_said() {
    let two = json!([
        {"task_id": 0, "trial": 0, "traj": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
        {"task_id": 1, "trial": 0, "traj": [{"role": "user", "content": "a"}]}
    ])
    .to_string();
    let refused = |arguments: &[&str], input: &str, says: &str| {
        let output = run_with_input(arguments, input.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    };
    refused(&["replay", "-"], &two, "choose one with --conversation");
    refused(
        &["replay", "-", "--conversation", "3"],
        &two,
        "there is no 3",
    );
    refused(
        &["replay", "-", "--conversation", "2"],
        &two,
        "no model answers",
    );
    let asked = r#"{"messages": [{"role": "user", "content": "hello"}]}"#;
    refused(&["replay", "-"], asked, "no model answers");
    refused(&["compare", "-"], asked, "no model answers");
    refused(&["replay", "-", "--window", "many"], &two, "--window");
    let output = run_with_input(
        &["replay", "-", "--conversation", "1", "--json"],
        two.as_bytes(),
    );
    assert_eq!(object(&output)["conversation"], 1);
}

#[test]
fn examples_cost_the_same_with_and_without_where_they_fit() {
    for name in [
        "coding-session.jsonl",
        "long-chat.jsonl",
        "support-case.jsonl",
    ] {
        let file = example(name);
        let file = file.to_str().unwrap();
        let turns = lines(&run(&["replay", file, "--window", "1M", "--json"]));
        assert!(!turns.is_empty());
        for turn in turns {
            assert_eq!(
                turn["nanodollars"], turn["without"]["nanodollars"],
                "{name}"
            );
        }
    }
}
