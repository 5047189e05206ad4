//! How the command looks and behaves at a terminal: width, colour, pipes, addresses, manual pages.

use std::process::{Command, Output, Stdio};

use epitome_testkit::{ModelConfig, ScriptedModel, Wire, client};
use serde_json::{Value, json};

use super::serve::serve;
use crate::support::{epitome, example, run, stderr, stdout};

const WIDTHS: [usize; 3] = [60, 80, 120];

/// What a command prints at a terminal of this width.
fn at_width(arguments: &[&str], columns: usize, is_coloured: bool) -> String {
    let mut command = epitome();
    command.args(arguments).env("COLUMNS", columns.to_string());
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    // Files are named as they stand there, the same on every machine.
    command.current_dir(example(""));
    if is_coloured {
        command.env("CLICOLOR_FORCE", "1");
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    stdout(&output)
}

#[test]
fn a_dry_run_says_would_and_words_stand_for_codes() {
    let file = example("coding-session.jsonl");
    let file = file.to_str().unwrap();
    let text = stdout(&run(&["compact", file, "--budget", "10k", "--dry-run"]));
    assert!(text.contains("would be compacted to"), "{text}");
    assert!(!text.contains("\ncompacted to"), "{text}");
    let text = stdout(&run(&["compact", file, "--auto"]));
    assert!(text.contains("it fits as it is"), "{text}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for script in [
        "\"$0\" completions bash | head -n 1",
        "\"$0\" completions zsh | true",
        "\"$0\" --help | head -n 1",
        "\"$0\" config schema | head -n 1",
    ] {
        let output = Command::new("bash")
            .args([
                "-o",
                "pipefail",
                "-c",
                script,
                env!("CARGO_BIN_EXE_epitome"),
            ])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{script}");
    }
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("man");
    let output = run(&["man", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    for name in [
        "epitome.1",
        "epitome-compact.1",
        "epitome-serve.1",
        "epitome-savings.1",
    ] {
        let page = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(page.contains(".SH NAME"), "{name}");
    }
}

fn conversation() -> Vec<Value> {
    let mut messages =
        vec![json!({"role": "user", "content": "Never touch the vault of the bank."})];
    for step in 0..40 {
        let text = format!("Step {step}: the zebra of cage {step} was fed. ").repeat(12);
        messages.push(json!({"role": "assistant", "content": text}));
        messages
            .push(json!({"role": "user", "content": format!("Go on with part {step} please.")}));
    }
    messages
}

fn lines(output: &Output) -> Vec<String> {
    stdout(output).lines().map(ToOwned::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_stored_is_listed_named_shortly_counted_and_served_to_agents() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}/log.db", folder.path().display());
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let serving_flags = [
        "--store",
        &store,
        "--window",
        "8k",
        "--log-form",
        "json",
        "--access-log",
    ];
    let mut serving = serve(&model.base_url(), &serving_flags);
    let mut session = String::new();
    for part in [41, 61, 81] {
        let body = json!({"model": "gpt-4o", "messages": conversation()[..part]});
        let answer = client::post(serving.address, Wire::OpenaiChat, &body)
            .await
            .unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        session = answer.header("x-epitome-conversation").to_owned();
    }
    let pid = serving.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    serving.child.wait().unwrap();
    // Every request has a line in the access log, and every line of the log is an object.
    let mut logged = Vec::new();
    while let Ok(line) = serving.lines.recv() {
        if line.starts_with('{') {
            logged.push(serde_json::from_str::<Value>(&line).unwrap());
        }
    }
    let requests: Vec<&Value> = logged
        .iter()
        .filter(|line| line["target"] == "epitome::access")
        .collect();
    assert_eq!(requests.len(), 3, "{logged:?}");
    for line in requests {
        assert_eq!(line["path"], "/v1/chat/completions");
        assert_eq!(line["status"], 200);
        assert_eq!(line["conversation"], session);
    }
    let run = |arguments: &[&str]| run(&[arguments, &["--store", &store]].concat());

    let listed = run(&["log"]);
    let listed = lines(&listed);
    assert!(listed[0].starts_with("id "), "{listed:?}");
    let (short, rest) = listed[1].split_once("  ").unwrap();
    assert!(session.starts_with(short) && short.len() >= 8, "{short}");
    for part in ["gpt-4o", "81", " %", "Never touch the vault of the bank."] {
        assert!(rest.contains(part), "{part}: {rest}");
    }
    let year = rest.trim_start().get(..4).unwrap();
    assert!(year.parse::<u32>().is_ok_and(|year| year > 2_000), "{rest}");
    for columns in WIDTHS {
        for line in at_width(&["log", "--store", &store], columns, false).lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
    // The short name will do wherever a name is asked for.
    let made = run(&["log", "--session", short, "--json"]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(made["session"], session);
    let id = made["compactions"][0]["id"].as_str().unwrap();
    assert!(run(&["show", id]).status.success());
    for arguments in [
        &["pins", "--session", short][..],
        &["recall", "--session", short, "zebra"],
    ] {
        assert!(run(arguments).status.success(), "{arguments:?}");
    }

    let saved = run(&["savings", "--json"]);
    let saved: Value = serde_json::from_slice(&saved.stdout).unwrap();
    assert_eq!(saved["conversations"], 1, "{saved}");
    assert!(saved["tokens_saved"].as_u64().unwrap() > 0, "{saved}");
    assert_eq!(saved["by_model"][0]["model"], "gpt-4o");
    let (least, most) = (&saved["saved_usd_at_least"], &saved["saved_usd_at_most"]);
    assert!(
        most.as_f64() > least.as_f64() && least.as_f64() > Some(0.0),
        "{saved}"
    );
    for columns in WIDTHS {
        for line in at_width(&["savings", "--store", &store], columns, false).lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }

    let asked = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "vault bank"}}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "message", "arguments": {"session": session, "position": 1}}}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "recall", "arguments": {}}}),
        json!({"jsonrpc": "2.0", "id": 6, "method": "none"}),
    ];
    let input: String = asked.iter().map(|line| format!("{line}\n")).collect();
    let arguments = ["mcp", "--store", &store];
    let output = crate::support::run_with_input(&arguments, format!("{input}no json\n").as_bytes());
    let answers: Vec<Value> = lines(&output)
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 7, "{answers:?}");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-03-26");
    assert_eq!(answers[1]["result"]["tools"][0]["name"], "recall");
    let text = |at: usize| {
        answers[at]["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
    };
    assert!(
        text(2).contains("message 1") && text(2).contains("vault"),
        "{}",
        text(2)
    );
    assert!(
        text(3)
            .trim_end()
            .ends_with("Never touch the vault of the bank."),
        "{}",
        text(3)
    );
    assert_eq!(answers[4]["result"]["isError"], true);
    assert_eq!(answers[5]["error"]["code"], -32_601);
    assert_eq!(answers[6]["error"]["code"], -32_700);
}
