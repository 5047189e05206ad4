//! `epitome config`, and configurations under the other commands.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::{epitome, example, json, stderr};

/// The command in a folder of its own, which holds its configuration.
fn at(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = epitome();
    command.current_dir(folder).args(arguments);
    command
}

fn run_at(folder: &Path, arguments: &[&str]) -> Output {
    at(folder, arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("epitome.toml"), text).unwrap();
    folder
}

#[test]
fn init_writes_a_file_once_and_check_likes_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = run_at(folder.path(), &["config", "init", "--preset", "layer"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = std::fs::read_to_string(folder.path().join("epitome.toml")).unwrap();
    assert!(text.contains("preset = \"layer\"") && text.contains("#safety_buffer = 5000"));
    let again = run_at(folder.path(), &["config", "init"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        stderr(&again).contains("is there already"),
        "{}",
        stderr(&again)
    );
    let now = std::fs::read_to_string(folder.path().join("epitome.toml")).unwrap();
    assert_eq!(now, text, "the file is untouched");
    assert_eq!(
        run_at(folder.path(), &["config", "check"]).status.code(),
        Some(0)
    );
    let other = run_at(folder.path(), &["config", "init", "--out", "other.toml"]);
    assert_eq!(other.status.code(), Some(0));
    assert!(folder.path().join("other.toml").exists());
    let printed = run_at(folder.path(), &["config", "init", "--out", "-"]);
    assert!(stdout(&printed).contains("preset = \"default\""));
}

#[test]
fn show_says_where_each_value_comes_from() {
    let folder = folder_with(
        "window = 5000\n[agents.a]\nwindow = 6000\n[models.\"x*\"]\nwait = true\n[summarizer]\nkey_env = \"MY_KEY\"\n",
    );
    // D2: where a key is, is heard from a file that is named, not from one that is found.
    let plain = at(
        folder.path(),
        &["config", "show", "--config", "epitome.toml"],
    )
    .env("EPITOME_RESERVE_TOKENS", "7")
    .env("MY_KEY", "sk-secret")
    .output()
    .unwrap();
    let text = stdout(&plain);
    let line = |start: &str| {
        let found = text.lines().find(|line| line.starts_with(start));
        found
            .unwrap_or_else(|| panic!("no {start} in\n{text}"))
            .to_owned()
    };
    assert!(line("window = 5000 ").ends_with("epitome.toml:1"));
    assert!(line("reserve_tokens = 7 ").ends_with("# EPITOME_RESERVE_TOKENS"));
    assert!(line("prepare_share = 0.85 ").ends_with("# default of default"));
    assert!(line("agents.a.window = 6000 ").ends_with("epitome.toml:3"));
    assert!(line("summarizer.key_env = \"MY_KEY\" ").ends_with("epitome.toml:7"));
    assert!(!text.contains("sk-secret"));

    let arguments = ["config", "show", "--agent", "a", "--model", "x-1", "--json"];
    let object = json(&run_at(folder.path(), &arguments));
    let value = |path: &str| {
        let values = object["values"].as_array().unwrap();
        values
            .iter()
            .find(|value| value["path"] == path)
            .unwrap()
            .clone()
    };
    assert_eq!(value("window")["value"], 6000);
    assert_eq!(value("window")["layer"], "file");
    assert_eq!(value("window")["line"], 3);
    assert_eq!(value("wait")["value"], true);
    assert_eq!(value("server.listen")["layer"], "default");
}

#[test]
fn check_lists_all_problems_and_exits_with_1() {
    let folder = folder_with("windw = 1\n[summarizer]\nkey = \"sk-secret\"\n");
    let output = run_at(folder.path(), &["config", "check"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("epitome.toml:1: `windw` is not a setting: did you mean `window`?"));
    assert!(text.contains("epitome.toml:3: `summarizer.key`") && !text.contains("sk-secret"));
    assert!(stderr(&output).contains("2 problems"));

    let object = json(&run_at(
        folder.path(),
        &["config", "check", "epitome.toml", "--json"],
    ));
    assert_eq!(object["problems"][0]["code"], "unknown_key");
    assert_eq!(object["problems"][0]["line"], 1);
    assert_eq!(object["problems"][1]["code"], "key_in_file");

    let missing = run_at(folder.path(), &["config", "check", "none.toml"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(stdout(&missing).contains("there is no such file"));
    // Every other command refuses to run on such a file.
    let shown = run_at(folder.path(), &["config", "show"]);
    assert_eq!(shown.status.code(), Some(2));
    assert!(stderr(&shown).contains("did you mean `window`?"));
}

#[test]
fn a_variable_that_sets_nothing_is_warned_of() {
    let folder = folder_with("");
    let output = at(folder.path(), &["config", "check"])
        .env("EPITOME_WINDWO", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("EPITOME_WINDWO sets nothing: did you mean EPITOME_WINDOW?"));
}

#[test]
fn schema_prints_what_is_committed() {
    let folder = tempfile::tempdir().unwrap();
    let printed = json(&run_at(folder.path(), &["config", "schema"]));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/epitome.schema.json");
    let committed = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        printed,
        serde_json::from_str::<serde_json::Value>(&committed).unwrap()
    );
}

#[test]
fn compact_takes_its_defaults_from_the_layers() {
    let file = example("coding-session.jsonl");
    let file = file.canonicalize().unwrap();
    let folder = folder_with("preset = \"vibe\"\n");
    let other = folder.path().join("other.toml");
    std::fs::write(&other, "preset = \"micro\"\n").unwrap();
    let preset = |command: &mut Command| {
        let output = command.arg("--json").output().unwrap();
        json(&output)["preset"].as_str().unwrap().to_owned()
    };
    let file = file.to_str().unwrap();
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(preset(&mut at(empty.path(), &["compact", file])), "default");
    assert_eq!(preset(&mut at(folder.path(), &["compact", file])), "vibe");
    let other = other.to_str().unwrap();
    assert_eq!(
        preset(&mut at(
            folder.path(),
            &["compact", file, "--config", other]
        )),
        "micro"
    );
    assert_eq!(
        preset(at(folder.path(), &["compact", file]).env("EPITOME_CONFIG", other)),
        "micro"
    );
    let with_variable = |arguments: &[&str]| {
        let mut command = at(folder.path(), arguments);
        preset(command.env("EPITOME_PRESET", "spacebot"))
    };
    assert_eq!(with_variable(&["compact", file]), "spacebot");
    assert_eq!(
        with_variable(&["compact", file, "--preset", "layer"]),
        "layer"
    );
}

#[test]
fn settings_change_when_compact_acts() {
    let file = example("coding-session.jsonl").canonicalize().unwrap();
    let reason = |text: &str| {
        let folder = folder_with(text);
        let arguments = ["compact", file.to_str().unwrap(), "--auto", "--json"];
        json(&run_at(folder.path(), &arguments))["compacted"]
            .as_bool()
            .unwrap()
    };
    assert!(!reason(""));
    assert!(reason("threshold = 100"));
    assert!(reason("preset = \"vibe\"\nauto_compact_threshold = 100"));
    assert!(!reason("preset = \"vibe\"\nauto_compact_threshold = 0"));
}

#[test]
fn serve_takes_its_defaults_from_the_file() {
    // D2: where the proxy listens is heard from a file that is named, not from one that is found.
    let folder = folder_with("[server]\nlisten = \"0.0.0.0:1\"\n");
    let serve = ["serve", "--store", "none", "--config", "epitome.toml"];
    let output = run_at(folder.path(), &serve);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("refusing to listen on 0.0.0.0:1"),
        "{}",
        stderr(&output)
    );
    let output = at(folder.path(), &serve)
        .env("EPITOME_LISTEN", "0.0.0.0:2")
        .output()
        .unwrap();
    assert!(
        stderr(&output).contains("refusing to listen on 0.0.0.0:2"),
        "{}",
        stderr(&output)
    );
    // The proxy knows every preset; a name that none has is refused.
    let folder = folder_with("preset = \"vibes\"\n");
    let output = run_at(folder.path(), &["serve", "--store", "none"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("vibes"), "{}", stderr(&output));
    assert_eq!(
        epitome_config::Sources::default()
            .load()
            .unwrap()
            .server
            .inspection_limit_bytes,
        epitome_server::INSPECTION_LIMIT_BYTES as u64,
        "one limit in two crates"
    );
}
