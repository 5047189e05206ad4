//! `epitome wrap`: agents behind a proxy of their own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use epitome_testkit::{ModelConfig, ScriptedModel};

use crate::support::{epitome, run, stderr, stdout};

/// Writes a program that others may run. A shell writes it: see `copy_of_the_command`.
fn program(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    let made = Command::new("sh")
        .args([
            "-c",
            "printf '%s' \"$1\" > \"$2\" && chmod 755 \"$2\"",
            "sh",
            text,
        ])
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
}

#[test]
fn how_each_agent_is_started_is_said() {
    for (agent, says) in [
        (
            "claude",
            "export ANTHROPIC_BASE_URL=http://127.0.0.1:7700\nclaude -p 'fix it'\n",
        ),
        (
            "codex",
            "codex -c 'openai_base_url=\"http://127.0.0.1:7700/v1\"' -p 'fix it'\n",
        ),
        ("opencode", "\"baseURL\":\"http://127.0.0.1:7700/v1\""),
        (
            "pi",
            "pi.registerProvider(\"anthropic\", { baseUrl: \"http://127.0.0.1:7700\" })",
        ),
        ("aider", "export OPENAI_API_BASE=http://127.0.0.1:7700/v1\n"),
    ] {
        let output = run(&["wrap", agent, "--print", "--", "-p", "fix it"]);
        assert!(output.status.success(), "{agent}: {}", stderr(&output));
        let told = stdout(&output);
        assert!(told.starts_with("epitome serve &\n"), "{told}");
        assert!(told.contains(says), "{agent}: {told}");
    }
}

#[tokio::test]
async fn an_agent_runs_behind_a_proxy_that_ends_with_it() {
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let asks = r#"#!/bin/sh
exec python3 - "$@" <<'END'
import json, os, sys, urllib.request
base = os.environ["ANTHROPIC_BASE_URL"]
body = {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": "hello from " + " ".join(sys.argv[1:])}]}
request = urllib.request.Request(base + "/v1/messages", json.dumps(body).encode(), {"content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01"})
print("answer", urllib.request.urlopen(request).status, base)
sys.exit(7)
END
"#;
    program(folder.path(), "claude", asks);
    let path = format!(
        "{}:{}",
        folder.path().display(),
        std::env::var("PATH").unwrap()
    );
    let store = format!("sqlite:{}", folder.path().join("log.db").display());
    let mut command = epitome();
    command
        .args(["wrap", "claude", "--store", &store, "--", "-p", "two words"])
        .env("PATH", &path)
        .env("ANTHROPIC_BASE_URL", format!("http://{}", model.address()))
        .stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(told.contains("answer 200 http://127.0.0.1:"), "{told}");
    assert!(!told.contains(&model.address().to_string()), "{told}");
    assert!(
        stderr(&output).contains("1 requests, 0 shortened"),
        "{}",
        stderr(&output)
    );
    let came = model.requests();
    assert_eq!(came.len(), 1);
    assert!(String::from_utf8_lossy(&came[0].body).contains("hello from -p two words"));
    // What was said is kept, and the proxy is gone.
    assert!(fs::metadata(folder.path().join("log.db")).is_ok());
    let base = told
        .split_whitespace()
        .last()
        .unwrap()
        .trim_start_matches("http://");
    assert!(std::net::TcpStream::connect(base).is_err());
}

#[tokio::test]
async fn where_aider_was_pointed_is_where_its_requests_go() {
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let asks = r#"#!/bin/sh
exec python3 - <<'END'
import json, os, urllib.request
body = {"model": "m", "messages": [{"role": "user", "content": "hello from aider"}]}
request = urllib.request.Request(os.environ["OPENAI_API_BASE"] + "/chat/completions", json.dumps(body).encode(), {"content-type": "application/json", "authorization": "Bearer k"})
print("answer", urllib.request.urlopen(request).status)
END
"#;
    program(folder.path(), "aider", asks);
    let path = std::env::var("PATH").unwrap();
    let mut command = epitome();
    command
        .args(["wrap", "aider", "--store", "none"])
        .env("PATH", format!("{}:{path}", folder.path().display()))
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .env("OPENAI_API_BASE", format!("http://{}/v1", model.address()))
        .stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let told = stdout(&output);
    assert!(told.contains("answer 200"), "{told}{}", stderr(&output));
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn what_opens_the_store_is_not_told_to_the_agent() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "claude", "#!/bin/sh\nenv\n");
    let store = format!("sqlite:{}", folder.path().join("log.db").display());
    let path = format!(
        "{}:{}",
        folder.path().display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = epitome();
    command
        .args(["wrap", "claude"])
        .env("PATH", path)
        .env("EPITOME_STORE", &store)
        .env("EPITOME_STORE_KEY", "7".repeat(64))
        .env("EPITOME_TOKEN", "a token")
        .env("EPITOME_LOG", "warn")
        .env("ANTHROPIC_API_KEY", "its own")
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let told = stdout(&output);
    assert!(output.status.success(), "{told}{}", stderr(&output));
    assert!(folder.path().join("log.db").exists(), "the proxy has them");
    for secret in ["EPITOME_STORE", "EPITOME_TOKEN"] {
        assert!(!told.contains(secret), "{told}");
    }
    assert!(told.contains("EPITOME_LOG=warn") && told.contains("ANTHROPIC_API_KEY=its own"));
}

#[test]
fn an_agent_that_is_not_there_is_named() {
    let mut command = epitome();
    command
        .args(["wrap", "aider", "--store", "none"])
        .env("PATH", "/nonexistent");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    assert!(
        told.contains("aider cannot be started: install it"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
}
