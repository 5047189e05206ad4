//! The example agent as a real process, through several compactions.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome_testkit::{Call, ModelConfig, Recorded, Reply, Script, ScriptedModel};
use epitome_wire::Wire;
use serde_json::{Value, json};

use super::told::{calls_tool, last_said, said, tools};

const RULE: &str = "Never delete a chapter.";
const CHECK: &str = "Heartbeat: does anything need attention?";
const CHAPTERS: usize = 60;

/// A model that writes a book, looks at it now and then, answers heartbeats and saves a memory when asked to.
fn author() -> Script {
    let written = AtomicUsize::new(0);
    Script::by(move |request| {
        if tools(request).is_empty() {
            return Reply::text(
                "Chapters of the book were written, one file each. The book goes on.",
            );
        }
        if calls_tool(request, "memory_write") {
            let is_saved = last_said(request).is_empty();
            return if is_saved {
                Reply::text("NO_REPLY")
            } else {
                let note = json!({"content": "The book is told in the first person."});
                Reply::calls([Call::new("memory_write", note)])
            };
        }
        if last_said(request) == CHECK {
            return Reply::text("HEARTBEAT_OK");
        }
        let at = written.fetch_add(1, Ordering::Relaxed);
        match at {
            at if at == CHAPTERS || at == 2 * CHAPTERS => Reply::text("The chapters are written."),
            at if at % 6 == 5 => {
                let path = chapter(at - 1);
                Reply::calls([Call::new("read_file", json!({"path": path}))])
            }
            at => {
                let line = format!("Line {at} of the book, in which the rain goes on. ");
                let content = line.repeat(90);
                let write = json!({"path": chapter(at), "content": content});
                Reply::calls([Call::new("write_file", write)])
            }
        }
    })
}

fn chapter(number: usize) -> String {
    format!("book/chapter_{number:03}.txt")
}

/// The example beside this test; built where nobody has built it yet.
pub(crate) fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    let binary = folder.join("examples/agent");
    if !binary.exists() {
        let built = Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "-p",
                "epitome-engine",
                "--example",
                "agent",
            ])
            .status();
        assert!(built.unwrap().success());
    }
    binary
}

fn run(model: &ScriptedModel, wire: Wire, folder: &Path, lines: &[&str]) -> Output {
    let url = model.base_url();
    let task = format!("Write a book in the folder book, one file for each chapter. {RULE}");
    let mut process = Command::new(example())
        .args(["--url", &url, "--api", wire.as_str(), "--model", "scripted"])
        .args(["--preset", "default", "--window", "20000", "--folder"])
        .arg(folder)
        .arg(task)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    process.wait_with_output().unwrap()
}

async fn check(wire: Wire) {
    let model = ScriptedModel::start(ModelConfig {
        window_tokens: 20_000,
        script: author(),
        ..ModelConfig::default()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let lines = [CHECK, "Write the second part too.", CHECK, CHECK];
    let output = tokio::task::block_in_place(|| run(&model, wire, folder.path(), &lines));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{wire}: {told}");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        out,
        "The chapters are written.\n".repeat(2),
        "{wire}: {told}"
    );

    let done = told.matches("Compaction complete: ").count();
    assert!(done >= 3, "{wire}: {told}");
    assert!(
        told.contains(&format!(", {done} compactions, ")),
        "{wire}: {told}"
    );

    let requests = model.requests();
    for request in &requests {
        assert_eq!(request.violations, [], "{wire}: request {}", request.number);
        assert_eq!(
            request.status,
            Some(200),
            "{wire}: request {}",
            request.number
        );
    }
    let turns: Vec<Value> = requests
        .iter()
        .map(Recorded::json)
        .filter(|request| calls_tool(request, "write_file"))
        .collect();
    assert!(turns.len() > 2 * CHAPTERS, "{wire}: {}", turns.len());
    for turn in &turns {
        assert!(turn.to_string().contains(RULE), "{wire}: the rule is gone");
    }

    // Every chapter that the model wrote is there, as it wrote it.
    for at in (0..2 * CHAPTERS).filter(|at| at % 6 != 5 && *at != CHAPTERS) {
        let text = std::fs::read_to_string(folder.path().join(chapter(at))).unwrap();
        assert!(
            text.starts_with(&format!("Line {at} of the book")),
            "{wire}"
        );
    }

    // Heartbeats were answered, are shown as they were said or not at all, and no summary speaks of them.
    let last = turns.last().unwrap();
    assert_eq!(last_said(last), CHECK);
    for request in requests.iter().map(Recorded::json) {
        let is_turn = !tools(&request).is_empty();
        for (role, text) in said(&request) {
            let speaks_of_it = text.to_lowercase().contains("heartbeat") && role != "system";
            let is_itself = text == CHECK || text == "HEARTBEAT_OK";
            assert!(!speaks_of_it || (is_turn && is_itself), "{wire}: {text}");
        }
    }

    // Memories were saved once for each compaction, in their own place.
    let flushes = requests
        .iter()
        .map(Recorded::json)
        .filter(|request| calls_tool(request, "memory_write") && !last_said(request).is_empty());
    assert!((1..=done + 1).contains(&flushes.count()), "{wire}: {told}");
    let files: Vec<_> = std::fs::read_dir(folder.path().join("memory"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(files, ["The book is told in the first person.\n"], "{wire}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_works_through_three_compactions_on_every_wire() {
    for wire in Wire::ALL {
        check(*wire).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_stays_in_its_folder_and_says_what_is_wrong_with_its_arguments() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("work");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(
        outside.path().join("secret.txt"),
        "the password is swordfish",
    )
    .unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.join("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("new.txt"), folder.join("dangling")).unwrap();
    let paths = [
        "../secret.txt",
        "link/secret.txt",
        "dangling",
        "/etc/hostname",
    ];
    let calls = paths.iter().flat_map(|path| {
        let write = json!({"path": path, "content": "overwritten"});
        [
            Call::new("read_file", json!({"path": path})),
            Call::new("write_file", write),
        ]
    });
    let script = Script::Fixed(vec![Reply::calls(calls), Reply::text("Done.")]);
    let model = ScriptedModel::start(ModelConfig {
        script,
        ..ModelConfig::default()
    })
    .await;
    let output = tokio::task::block_in_place(|| run(&model, Wire::OpenAiChat, &folder, &[]));
    assert!(output.status.success());
    let answered = model.requests().pop().unwrap().json().to_string();
    assert_eq!(
        answered.matches("is not in the folder").count(),
        2 * paths.len()
    );
    assert!(!answered.contains("swordfish"));
    let secret = std::fs::read_to_string(outside.path().join("secret.txt")).unwrap();
    assert_eq!(secret, "the password is swordfish");
    assert!(!outside.path().join("new.txt").exists());

    for (arguments, expected) in [
        (vec!["--model", "m", "a task"], "agent --url URL"),
        (
            vec!["--url", "http://x", "--model", "m", "--preset", "none", "t"],
            "none",
        ),
        (
            vec!["--url", "http://x", "--model", "m", "--color", "red", "t"],
            "--color",
        ),
    ] {
        let output = Command::new(example()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(expected), "{told}");
    }
}
