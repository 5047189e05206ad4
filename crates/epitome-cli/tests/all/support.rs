//! Running the command.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) fn epitome() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_epitome"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("EPITOME_")) {
        command.env_remove(name);
    }
    // Whoever runs the tests may have a configuration.
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    epitome().args(arguments).output().unwrap()
}

pub(crate) fn run_with_input(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = epitome()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

pub(crate) fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

pub(crate) const EXAMPLES: [(&str, &str); 3] = [
    ("coding-session.jsonl", "openai-chat"),
    ("long-chat.jsonl", "openai-chat"),
    ("support-case.jsonl", "anthropic"),
];

/// A copy that every user may run.
///
/// Another program makes it: were it written here, a process that some other test starts meanwhile could hold it open
/// for writing, and a file that is being written cannot be run ("Text file busy").
pub(crate) fn copy_of_the_command(folder: &Path) -> PathBuf {
    let copy = folder.join("epitome");
    let made = Command::new("install")
        .args(["-m", "755", env!("CARGO_BIN_EXE_epitome")])
        .arg(&copy)
        .status()
        .unwrap();
    assert!(made.success(), "install said {made}");
    copy
}
