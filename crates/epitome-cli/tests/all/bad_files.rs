//! Files that no command can do anything with: one line that says so, and nothing written.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{copy_of_the_command, run, stderr};

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-02T03:04:05.000Z\",\"cwd\":\"/\"}\n";

fn entry(number: usize) -> String {
    let parent = match number {
        0 => "null".to_owned(),
        _ => format!("\"{:08x}\"", number - 1),
    };
    let text = "word after word ".repeat(60);
    format!(
        "{{\"type\":\"message\",\"id\":\"{number:08x}\",\"parentId\":{parent},\"timestamp\":\"2026-01-02T03:04:05.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

/// Every command that reads a file and could write one.
fn commands(file: &Path, out: &Path) -> Vec<Vec<String>> {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    vec![
        words(&["compact", &text(file), "--out", &text(out)]),
        words(&["convert", &text(file), "--to", "codex", "--out", &text(out)]),
        words(&["check", &text(file), "--repair", "--out", &text(out)]),
        words(&["inspect", &text(file), "--svg", &text(out)]),
    ]
}

fn refused(output: &Output, file: &Path, out: &Path) -> String {
    let line = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.contains(file.to_str().unwrap()), "{line}");
    assert!(!out.exists(), "{line}");
    line
}

#[test]
fn a_line_of_two_gigabytes_is_named_and_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("long.jsonl"), folder.path().join("out"));
    let mut writer = File::create(&file).unwrap();
    writer.write_all(HEADER.as_bytes()).unwrap();
    writer.write_all(entry(0).as_bytes()).unwrap();
    writer
        .write_all(b"{\"type\":\"message\",\"id\":\"")
        .unwrap();
    // The file system keeps no block for what was never written.
    writer.set_len(2 << 30).unwrap();
    for arguments in commands(&file, &out) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let line = refused(&run(&arguments), &file, &out);
        assert!(line.contains("line 3"), "{line}");
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("live.jsonl"), folder.path().join("out"));
    let mut writer = File::create(&file).unwrap();
    writer.write_all(HEADER.as_bytes()).unwrap();
    let entries: String = (0..20_000).map(entry).collect();
    writer.write_all(entries.as_bytes()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 20_000;
            while !is_done.load(Ordering::Relaxed) {
                writer.write_all(entry(number).as_bytes()).unwrap();
                number += 1;
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        for arguments in commands(&file, &out) {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let line = refused(&run(&arguments), &file, &out);
            assert!(line.contains("changed while it was read"), "{line}");
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (
        folder.path().join("secret.jsonl"),
        folder.path().join("out"),
    );
    fs::write(&file, HEADER.to_owned() + &entry(0)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // Root may read everything: then somebody else does it, with a copy of the command that everybody may run.
    let program = copy_of_the_command(folder.path());
    let is_root = File::open(&file).is_ok();
    for arguments in commands(&file, &out) {
        let mut command = Command::new(&program);
        command.args(&arguments).current_dir("/");
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        let line = refused(&command.output().unwrap(), &file, &out);
        assert!(line.contains("cannot be opened"), "{line}");
    }
}

/// Some errors say what led to them, and some leave it to the one who prints them.
#[test]
fn what_is_wrong_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("none.db").display());
    let random = folder.path().join("random.db");
    fs::write(&random, [0x9d; 4_096]).unwrap();
    let random = format!("sqlite:{}", random.display());
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/long-chat.jsonl"
    );
    let summarizer = [
        "--summarizer",
        "http://me:secret@localhost:1",
        "--model",
        "m",
    ];
    let compact = [&["compact", example, "--budget", "2000"], &summarizer[..]].concat();
    let cases = [
        (vec!["log", "--store", store.as_str()], "there is no file"),
        (
            vec!["log", "--store", random.as_str()],
            "file is not a database",
        ),
        (compact, "a name or password before `@`"),
    ];
    for (arguments, said) in cases {
        let output = run(&arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert_eq!(errors.matches(said).count(), 1, "{errors}");
        assert!(!errors.contains("secret"), "{errors}");
    }
}
