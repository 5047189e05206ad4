//! `epitome doctor`.

use std::fs;

use serde_json::Value;

use crate::support::{epitome, stderr, stdout};

fn state<'a>(checks: &'a Value, name: &str) -> (&'a str, &'a str) {
    let checks = checks["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name);
    let check = check.unwrap_or_else(|| panic!("no check {name}"));
    (
        check["state"].as_str().unwrap(),
        check["message"].as_str().unwrap(),
    )
}

#[test]
fn what_works_and_what_does_not_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (store, file) = (
        folder.path().join("log.db"),
        folder.path().join("epitome.toml"),
    );
    // A port that nobody listens on: it was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let there = listening.local_addr().unwrap();
    fs::write(
        &file,
        format!(
            "[server]\nlisten = \"{free}\"\nopenai_upstream = \"http://{there}\"\nanthropic_upstream = \"http://{free}\"\nstore = \"sqlite:{}\"\n",
            store.display()
        ),
    )
    .unwrap();
    let mut command = epitome();
    command.args(["--config", file.to_str().unwrap(), "doctor", "--json"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let checks: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(state(&checks, "configuration").0, "good", "{checks}");
    assert_eq!(state(&checks, "openai upstream").0, "good", "{checks}");
    assert_eq!(state(&checks, "anthropic upstream").0, "bad", "{checks}");
    assert_eq!(state(&checks, "store").0, "note", "{checks}");
    let (canary, told) = state(&checks, "canary");
    assert_eq!(canary, "good", "{told}");
    let (proxy, told) = state(&checks, "proxy");
    assert_eq!(proxy, "note", "{told}");
    assert!(told.contains("epitome serve"), "{told}");
    // Looking leaves nothing behind.
    assert!(!store.exists());
    fs::write(&store, [7; 4_096]).unwrap();
    let mut command = epitome();
    command.args(["--config", file.to_str().unwrap(), "doctor"]);
    let output = command.output().unwrap();
    let told = stdout(&output);
    assert!(
        told.lines().any(|line| line.starts_with("bad   store")),
        "{told}"
    );
}

#[test]
fn a_broken_configuration_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("epitome.toml");
    fs::write(&file, "[server]\nlisten = 7\n").unwrap();
    let mut command = epitome();
    command.args(["--config", file.to_str().unwrap(), "doctor"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told = stdout(&output);
    assert!(told.starts_with("bad   configuration"), "{told}");
    assert!(told.contains("listen"), "{told}");
}
