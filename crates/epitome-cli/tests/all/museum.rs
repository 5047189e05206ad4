//! What earlier versions wrote, under the commands. The files and what must be true of them are in `epitome-testkit/museum`.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Output;

use epitome_files::{FileFormat, Transcript};
use epitome_testkit::museum::{Version, digest, versions};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{epitome, json, run, stderr};

/// The databases that a version wrote: the proxy's, and the engine's.
const DATABASES: [&str; 2] = ["proxy", "engine"];

/// A copy of a database.
struct Copy {
    manifest: Value,
    folder: TempDir,
}

impl Copy {
    fn all() -> Vec<Self> {
        let of = |version: &Version| {
            DATABASES.map(|part| {
                let folder = tempfile::tempdir().unwrap();
                version.copy(part, "log.db", &folder.path().join("log.db"));
                Self {
                    manifest: version.manifest(part),
                    folder,
                }
            })
        };
        versions().iter().flat_map(of).collect()
    }

    fn conversations(&self) -> &[Value] {
        list(&self.manifest, "conversations")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let store = format!("sqlite:{}", self.folder.path().join("log.db").display());
        let mut command = epitome();
        command.args(arguments).args(["--store", &store, "--json"]);
        command.output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {}",
            stderr(&output)
        );
        json(&output)
    }
}

fn list<'a>(manifest: &'a Value, name: &str) -> &'a [Value] {
    manifest.get(name).and_then(Value::as_array).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn stored_conversations_are_listed_shown_and_searched() {
    for copy in Copy::all() {
        let listed = copy.json(&["log"]);
        let listed = listed["conversations"].as_array().unwrap();
        assert_eq!(listed.len(), copy.conversations().len());
        for one in copy.conversations() {
            let session = text(&one["session"]);
            let log = copy.json(&["log", "--session", session]);
            let compactions = log["compactions"].as_array().unwrap();
            let known = one["compactions"].as_array().unwrap();
            assert_eq!(compactions.len(), known.len(), "{session}");
            for known in known {
                let shown = copy.json(&["show", text(&known["id"])]);
                assert_eq!(shown["state"], known["state"], "{session}");
                assert_eq!(shown["model_class"], known["model_class"], "{session}");
                let summary = text(&shown["summary"]);
                assert_eq!(
                    digest(summary.as_bytes()),
                    known["summary_blake3"],
                    "{session}"
                );
                assert!(shown["record"].is_object(), "{session}");
            }
            let found = copy.json(&["recall", "--session", session, "vendor"]);
            let entry = text(&found["hits"][0]["entry"]).to_owned();
            let bytes = copy.run(&["show", "--entry", &entry]).stdout;
            assert!(
                String::from_utf8(bytes).unwrap().contains("vendor"),
                "{session}"
            );
        }
    }
}

#[test]
fn stored_compactions_are_undone_and_conversations_forked() {
    for copy in Copy::all() {
        for one in copy.conversations() {
            let session = text(&one["session"]);
            let forked = copy.json(&["fork", "--session", session, "--at", "1"]);
            copy.json(&["recall", "--session", text(&forked["session"]), "vendor"]);
            let known = one["compactions"].as_array().unwrap();
            let newest = known.iter().rfind(|row| row["state"] == "published");
            let output = copy.run(&["undo", "--session", session, "--force"]);
            match newest {
                Some(newest) => {
                    assert_eq!(json(&output)["undone"], newest["id"], "{session}");
                    let shown = copy.json(&["show", text(&newest["id"])]);
                    assert_eq!(shown["state"], "undone", "{session}");
                }
                None => assert_eq!(output.status.code(), Some(1), "{session}"),
            }
        }
    }
}

/// A session file, and what must be true of it.
fn session_files(folder: &Path) -> Vec<(PathBuf, Value)> {
    let mut files = Vec::new();
    for version in versions() {
        let into = folder.join(version.name());
        std::fs::create_dir(&into).unwrap();
        for one in list(&version.manifest("sessions"), "files") {
            let name = one.get("file").and_then(Value::as_str).unwrap();
            let path = into.join(name);
            version.copy("sessions", name, &path);
            files.push((path, one.clone()));
        }
    }
    files
}

#[test]
fn session_files_are_read_checked_and_compacted_again() {
    let folder = tempfile::tempdir().unwrap();
    for (path, one) in session_files(folder.path()) {
        let path = path.to_str().unwrap();
        let name = text(&one["file"]);
        let check = run(&["check", path, "--json"]);
        assert_eq!(
            check.status.code(),
            one["check_code"].as_i64().map(|code| code as i32),
            "{name}"
        );
        assert_eq!(json(&check)["problems"], one["problems"], "{name}");
        let inspected = run(&["inspect", path, "--json"]);
        assert!(inspected.status.success(), "{name}: {}", stderr(&inspected));
        assert_eq!(json(&inspected)["format"], one["format"], "{name}");

        let out = folder.path().join(format!("again-{name}"));
        let out = out.to_str().unwrap();
        let arguments = ["compact", path, "--json", "--budget", "350", "--out", out];
        let again = run(&arguments);
        assert!(again.status.success(), "{name}: {}", stderr(&again));
        let report = json(&again);
        assert_eq!(report["compacted"], true, "{name}: {}", report["reason"]);
        assert_eq!(report["format"], one["format"], "{name}");
        let view = report["messages"].to_string();
        assert!(view.contains(text(&one["rule"])), "{name}: {view}");
        assert!(run(&["check", out]).status.success(), "{name}");
    }
}

#[test]
fn session_files_give_the_view_that_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut formats = 0;
    for (path, one) in session_files(folder.path()) {
        let bytes = std::fs::read(&path).unwrap();
        let name = text(&one["file"]);
        let Some(format) = FileFormat::sniff(&bytes) else {
            // A request body is the view itself.
            let body: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(
                digest(body["messages"].to_string().as_bytes()),
                one["view_blake3"],
                "{name}"
            );
            continue;
        };
        formats += 1;
        let read = Transcript::collect(&mut Cursor::new(bytes), format).unwrap();
        let conversation = read.conversations.first().unwrap();
        let view = epitome_files::chat_messages(&conversation.context().messages);
        let view: Value = serde_json::from_slice(&view).unwrap();
        assert_eq!(
            view.as_array().unwrap().len(),
            one["messages_after"],
            "{name}"
        );
        assert_eq!(
            digest(view.to_string().as_bytes()),
            one["view_blake3"],
            "{name}"
        );
        assert_eq!(
            conversation.messages.len(),
            one["messages_before"],
            "{name}"
        );
    }
    assert!(formats >= 4, "{formats}");
}

#[test]
fn learned_windows_are_listed_with_their_reason_and_forgotten() {
    let mut seen = 0;
    for copy in Copy::all() {
        let listed = copy.json(&["models"]);
        for model in list(&listed, "models") {
            seen += 1;
            assert!(model["window_tokens"].as_u64().is_some(), "{model}");
            assert!(!text(&model["why"]).is_empty(), "{model}");
            let name = text(&model["model"]);
            let forgotten = copy.json(&["models", "--forget", name]);
            assert_eq!(forgotten["forgotten"][0], model["endpoint"], "{model}");
        }
        let left = copy.json(&["models"]);
        assert!(list(&left, "models").is_empty(), "{left}");
        let nobody = copy.run(&["models", "--forget", "nobody-knows-me"]);
        assert_eq!(nobody.status.code(), Some(1));
    }
    assert!(seen >= 2, "{seen}");
}
