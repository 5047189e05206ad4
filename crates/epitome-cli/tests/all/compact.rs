//! `epitome compact`.

use epitome_testkit::strict;
use serde_json::{Value, json};

use crate::support::{EXAMPLES, epitome, example, json, run, run_with_input, stderr};

fn check(format: &str, body: &Value) -> Vec<strict::Violation> {
    match format {
        "anthropic" => strict::anthropic_foreign(body),
        _ => strict::openai_chat(body),
    }
}

#[test]
fn every_example_is_halved_and_stays_valid() {
    for (name, format) in EXAMPLES {
        let path = example(name);
        let output = run(&["compact", path.to_str().unwrap(), "--json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let result = json(&output);
        assert_eq!(result["format"], format, "{name}");
        assert_eq!(result["compacted"], true, "{name}");
        assert_eq!(result["reason"], "manual");
        let before = result["tokens_before"].as_u64().unwrap();
        let after = result["tokens_after"].as_u64().unwrap();
        assert!(after * 2 <= before, "{name}: {before} -> {after}");
        assert_eq!(result["report"]["invented"], 0, "{name}");
        let body = json!({"messages": result["messages"]});
        assert_eq!(check(format, &body), [], "{name}");
        let count = result["messages"].as_array().unwrap().len();
        assert_eq!(result["messages_after"], count);
    }
}

#[test]
fn what_was_replaced_later_is_no_instruction_in_force() {
    let path = example("coding-session.jsonl");
    let result = json(&run(&["compact", path.to_str().unwrap(), "--json"]));
    let pins: Vec<&str> = result["pins"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let has = |words: &str| pins.iter().any(|pin| pin.contains(words));
    assert!(has("Forget Redis"), "{pins:?}");
    assert!(!has("use Redis pub/sub"), "{pins:?}");
    assert!(
        result["summary"]
            .as_str()
            .unwrap()
            .contains("(superseded later) Wake-ups: use Redis pub/sub.")
    );
}

#[test]
fn a_reachable_budget_is_kept_and_an_unreachable_one_is_a_no() {
    for (name, format) in EXAMPLES {
        let path = example(name);
        let path = path.to_str().unwrap();
        for budget in [1_200_u64, 2_000, 4_000, 8_000] {
            for count in ["auto", "chars4"] {
                let budget_text = budget.to_string();
                let arguments = [
                    "compact",
                    path,
                    "--json",
                    "--budget",
                    &budget_text,
                    "--count",
                    count,
                ];
                let result = json(&run(&arguments));
                assert_eq!(result["compacted"], true, "{name} {budget} {count}");
                assert!(result["tokens_after"].as_u64().unwrap() <= budget);
                let body = json!({"messages": result["messages"]});
                assert_eq!(check(format, &body), [], "{name} {budget}");
            }
        }
        let output = run(&["compact", path, "--json", "--budget", "10"]);
        assert_eq!(output.status.code(), Some(1));
        let result = json(&output);
        assert_eq!(result["reason"], "floor_above_budget");
        let floor = result["floor_tokens"].as_u64().unwrap();
        assert!(floor > 10);
        let output = run(&["compact", path, "--json", "--budget", &floor.to_string()]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{name}: the floor named is not enough"
        );
    }
}

#[test]
fn every_preset_works_on_every_example() {
    let presets = ["default", "vibe", "openclaw", "micro", "spacebot", "layer"];
    for (name, format) in EXAMPLES {
        let path = example(name);
        for preset in presets {
            for extra in [&[][..], &["--budget", "4000"]] {
                let mut arguments = vec![
                    "compact",
                    path.to_str().unwrap(),
                    "--json",
                    "--preset",
                    preset,
                ];
                arguments.extend(extra);
                let result = json(&run(&arguments));
                assert_eq!(result["preset"], preset);
                let may_refuse = preset == "openclaw" && extra.is_empty();
                assert!(
                    result["compacted"] == true || may_refuse,
                    "{name} {preset} {extra:?}"
                );
                let body = json!({"messages": result["messages"]});
                assert_eq!(check(format, &body), [], "{name} {preset}");
                if !extra.is_empty() {
                    assert!(
                        result["tokens_after"].as_u64().unwrap() <= 4_000,
                        "{name} {preset}"
                    );
                }
            }
        }
    }
}

/// As aider sends it: the question, and a note of the client behind it. Nobody may summarise what no model saw.
#[test]
fn an_unanswered_question_stays_whatever_stands_behind_it() {
    let question = "Which of the seventeen ledgers is out of balance?";
    let note = |format: &str, text: &str| match format {
        "responses" => json!({"type": "message", "role": "developer", "content": [
            {"type": "input_text", "text": text},
        ]}),
        _ => json!({"role": "system", "content": text}),
    };
    for format in ["chat", "responses", "anthropic"] {
        for notes in 1..4 {
            let mut messages = Vec::new();
            for turn in 0..40 {
                let answer = format!("Ledger {turn} is in balance. {}", "It is. ".repeat(120));
                messages.push(json!({"role": "user", "content": format!("Ledger {turn}?")}));
                messages.push(json!({"role": "assistant", "content": answer}));
            }
            messages.push(json!({"role": "user", "content": question}));
            messages.extend((0..notes).map(|_| note(format, "Answer in short sentences.")));
            let body = match format {
                "responses" => json!({"model": "x", "input": messages}),
                "anthropic" => {
                    json!({"model": "x", "max_tokens": 9, "system": "S.", "messages": messages})
                }
                _ => json!({"model": "x", "messages": messages}),
            };
            for budget in ["600", "2000", "4000"] {
                let arguments = ["compact", "-", "--json", "--budget", budget];
                let output = run_with_input(&arguments, body.to_string().as_bytes());
                let result = json(&output);
                assert_eq!(result["compacted"], true, "{format} {budget}: {result}");
                let list = &result["messages"];
                let kept = json!({"role": "user", "content": question});
                let shown = list.as_array().unwrap();
                assert!(
                    shown.contains(&kept),
                    "{format} {notes} {budget}: {shown:?}"
                );
            }
        }
    }
}

#[test]
fn within_budget_and_below_the_line_nothing_happens() {
    let path = example("long-chat.jsonl");
    let path = path.to_str().unwrap();
    for (arguments, reason) in [
        (["--budget", "1000000"], "within_budget"),
        (["--auto", "--window=1000000"], "below_line"),
    ] {
        let output = epitome()
            .args(["compact", path, "--json"])
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        let result = json(&output);
        assert_eq!(result["compacted"], false);
        assert_eq!(result["reason"], reason);
        assert_eq!(result["messages_after"], result["messages_before"]);
    }
    let result = json(&run(&[
        "compact", path, "--json", "--auto", "--window", "20000",
    ]));
    assert_eq!(result["reason"], "hard_line");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let path = example("coding-session.jsonl");
    let summary = || json(&run(&["compact", path.to_str().unwrap(), "--json"]))["messages"].clone();
    assert_eq!(summary(), summary());
}

#[test]
fn a_request_body_is_spliced_and_everything_else_of_it_stays() {
    let folder = tempfile::tempdir().unwrap();
    let lines = std::fs::read_to_string(example("support-case.jsonl")).unwrap();
    let messages: Vec<&str> = lines.lines().collect();
    let body = format!(
        "{{ \"model\":\"m\", \"big\": 12345678901234567890123, \"messages\": [{}], \"x\": 1E3 }}\r\n",
        messages.join(" ,\n")
    );
    let input = folder.path().join("request.json");
    let out = folder.path().join("out.json");
    std::fs::write(&input, &body).unwrap();
    let output = run(&[
        "compact",
        input.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--quiet",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
    let written = std::fs::read_to_string(&out).unwrap();
    assert!(
        written.starts_with("{ \"model\":\"m\", \"big\": 12345678901234567890123, \"messages\": [")
    );
    assert!(written.ends_with("], \"x\": 1E3 }\r\n"));
    assert!(written.len() < body.len() * 2 / 3);
    assert!(written.contains(messages.last().unwrap()));
    assert_eq!(
        std::fs::read_to_string(&input).unwrap(),
        body,
        "the input is never touched"
    );
    let again = run_with_input(
        &["compact", "-", "--json", "--budget", "900000"],
        written.as_bytes(),
    );
    assert_eq!(json(&again)["reason"], "within_budget");
}

#[test]
fn lines_become_a_request_body_and_dry_run_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let path = example("long-chat.jsonl");
    let arguments = [
        "compact",
        path.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ];
    assert!(
        epitome()
            .args(arguments)
            .arg("--dry-run")
            .output()
            .unwrap()
            .status
            .success()
    );
    assert!(!out.exists());
    assert!(run(&arguments).status.success());
    let body: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(strict::openai_chat(&body), []);
}

#[test]
fn a_second_round_keeps_the_instructions_of_the_first() {
    let path = example("coding-session.jsonl");
    let first = json(&run(&[
        "compact",
        path.to_str().unwrap(),
        "--json",
        "--budget",
        "12000",
    ]));
    let lines: String = first["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| format!("{message}\n"))
        .collect();
    let second = json(&run_with_input(
        &["compact", "-", "--json", "--budget", "4000"],
        lines.as_bytes(),
    ));
    assert_eq!(second["compacted"], true);
    let summary = second["summary"].as_str().unwrap();
    for pin in first["pins"].as_array().unwrap() {
        assert!(summary.contains(pin.as_str().unwrap()), "{pin} was lost");
    }
}

#[test]
fn bad_files_are_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let cases = [
        (folder.path().to_str().unwrap().to_owned(), "folder"),
        (
            folder.path().join("none.json").to_str().unwrap().to_owned(),
            "No such file",
        ),
        (write("empty.json", b" \n"), "empty"),
        (write("binary", &[0, 159, 146, 150]), "byte 0"),
        (write("text", b"hello there"), "no conversation"),
        (write("deep.json", &[b'['; 200_000]), "byte"),
        (write("object.json", br#"{"a": 1}"#), "messages"),
        (
            write("no-message.json", br#"{"messages": ["wizard"]}"#),
            "message 1",
        ),
        (
            write(
                "torn.jsonl",
                b"{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assis",
            ),
            "byte",
        ),
    ];
    for (path, words) in cases {
        let output = run(&["compact", &path, "--json"]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        assert!(output.stdout.is_empty());
        let error = stderr(&output);
        assert!(error.contains(words), "{path}: {error}");
        assert!(error.contains(&path), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    assert_eq!(run(&["compact"]).status.code(), Some(2));
    assert_eq!(
        run(&["compact", "x", "--budget", "many"]).status.code(),
        Some(2)
    );
}

#[test]
fn diff_and_text_are_for_people() {
    let path = example("coding-session.jsonl");
    let path = path.to_str().unwrap();
    let page = |args: &[&str]| {
        let args: Vec<&str> = ["compact", path].iter().chain(args).copied().collect();
        String::from_utf8(run(&args).stdout).unwrap()
    };
    // Issue 15, part 8: a page with headline, where the work stands and sizes; the text itself on demand.
    let text = page(&[]);
    assert!(
        text.contains("compacted to") && text.contains("never touch the files under migrations/")
    );
    assert!(text.contains("\nwhere the work stands:\n") && text.contains("\ntokens:\n"));
    assert!(!text.contains("[Conversation summary"), "{text}");
    assert!(page(&["--print", "summary"]).starts_with("[Conversation summary"));
    for line in page(&["--print", "messages"]).lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        assert!(message["role"].is_string(), "{line}");
    }
    let focused = page(&["--focus", "zebra crossings"]);
    assert!(
        focused.contains("focus \"zebra crossings\": none of the"),
        "{focused}"
    );
    let diff = String::from_utf8(run(&["compact", path, "--diff"]).stdout).unwrap();
    assert!(diff.lines().any(|line| line.starts_with("-    3")));
    assert!(
        diff.lines()
            .any(|line| line.starts_with('+') && line.contains("summary"))
    );
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let path = example("coding-session.jsonl");
    let mut child = epitome()
        .args(["compact", path.to_str().unwrap(), "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(output.stderr.is_empty());
}
