//! What conversations hold never steers the terminal of whoever looks at them.

use epitome_testkit::{ModelConfig, ScriptedModel, Wire, client};
use serde_json::{Value, json};

use super::serve::serve;
use crate::support::run;

/// Renames the window, clears the screen, fills the clipboard, goes back over a line; in one byte and in two.
const ORDERS: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}]52;c;ZXZpbA==\u{1b}\\\u{9b}31m over\rwritten \u{202e}txet\u{8}";

fn assert_plain(what: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let order = text.chars().find(|letter| {
        let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || (letter.is_control() && !matches!(letter, '\n' | '\t'))
    });
    assert_eq!(order, None, "{what}: {text:?}");
}

fn conversation() -> Vec<Value> {
    let user = |text: String| json!({"role": "user", "content": text});
    let mut messages = vec![user(format!("Never touch the vault {ORDERS} of the bank."))];
    for step in 0..40 {
        let call = json!({"id": format!("c{step}"), "type": "function",
            "function": {"name": format!("run{ORDERS}"), "arguments": json!({"path": format!("src/{ORDERS}{step}.rs")}).to_string()}});
        messages.push(json!({"role": "assistant", "content": format!("I look at step {step} {ORDERS}."), "tool_calls": [call]}));
        let output =
            format!("error: step {step} failed {ORDERS} in src/vault_{step}.rs\r\nline two\n");
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{step}"), "content": output.repeat(9)}));
        messages.push(user(format!("Go on with part {step} {ORDERS} please.")));
    }
    messages
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_passes_orders_on_to_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session\u{1b}[2J.json");
    let body = json!({"model": "m", "messages": conversation()});
    std::fs::write(&file, body.to_string()).unwrap();
    let name = file.to_str().unwrap();
    for arguments in [
        &["compact", name, "--budget", "2000"][..],
        &["compact", name, "--budget", "2000", "--diff"],
        &["compact", name, "--budget", "2000", "--dry-run"],
        &["compact", name, "--budget", "2000", "--json"],
        &["inspect", name],
        &["check", name],
        &["check", "missing\u{1b}[2J"],
        &["verify", "--source", name, "--summary", name],
    ] {
        let output = run(arguments);
        assert_plain(&format!("{arguments:?}"), &output.stdout);
        assert_plain(&format!("{arguments:?}"), &output.stderr);
    }
    let store = format!("sqlite:{}/log.db", folder.path().display());
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let mut serving = serve(&model.base_url(), &["--store", &store, "--window", "8000"]);
    let wire = Wire::OpenaiChat;
    let answer = client::post(serving.address, wire, &body).await.unwrap();
    assert_eq!(answer.header("x-epitome-action"), "compacted", "{answer:?}");
    let session = answer.header("x-epitome-conversation").to_owned();
    let pid = serving.child.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status();
    assert!(kill.unwrap().success());
    serving.child.wait().unwrap();
    while let Ok(line) = serving.lines.recv() {
        assert_plain("a log line", line.as_bytes());
    }
    let run = |arguments: &[&str]| run(&[arguments, &["--store", &store]].concat());
    let listed = run(&["log", "--session", &session, "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let made = listed["compactions"][0]["id"].as_str().unwrap().to_owned();
    for arguments in [
        &["log"][..],
        &["log", "--session", &session],
        &["show", &made],
        &["recall", "--session", &session, "vault"],
        &["pins", "--session", &session],
        &["models"],
    ] {
        let output = run(arguments);
        assert_plain(&format!("{arguments:?}"), &output.stdout);
        assert_plain(&format!("{arguments:?}"), &output.stderr);
        assert!(output.status.success(), "{arguments:?}");
    }
    // JSON means the same as before.
    let output = run(&["recall", "--session", &session, "vault", "--json"]);
    assert_plain("recall --json", &output.stdout);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found.to_string().contains("owned"), "{found}");
}
