//! Session files against recorded ones: the counts of their manifest, and the same sessions in one chat shape.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use epitome::{Message, Role};
use epitome_files::{Counts, FileFormat, ProblemCode, Transcript, flat_text, read_file};
use epitome_testkit::data::data;
use serde_json::Value;

/// What the manifest says about the native files.
fn manifest(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("MANIFEST.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    let is_native = |entry: &Value| entry["kind"] == "native";
    entries.into_iter().filter(is_native).collect()
}

fn sniff(path: &Path) -> FileFormat {
    let mut head = Vec::new();
    let file = File::open(path).unwrap();
    file.take(epitome_files::SNIFF_BYTES as u64)
        .read_to_end(&mut head)
        .unwrap();
    FileFormat::sniff(&head).unwrap_or_else(|| panic!("{} is not recognised", path.display()))
}

fn counts(path: &Path) -> Counts {
    let mut counts = Counts::default();
    let mut source = BufReader::new(File::open(path).unwrap());
    read_file(&mut source, sniff(path), &mut |event| counts.add(&event)).unwrap();
    counts.finish()
}

fn transcript(path: &Path) -> Transcript {
    let mut source = BufReader::new(File::open(path).unwrap());
    Transcript::collect(&mut source, sniff(path)).unwrap()
}

/// Files whose manifest and unified form were made before messages from the queue were read (rule C9; the index of the
/// data says so), and how many such messages each has.
const WITHOUT_QUEUED: [(&str, usize); 2] = [("cc-cli-03a1382e", 2), ("cc-cli-67d765b5", 1)];

/// One entry of its, a hook before a compaction, really follows a result that was never written.
const WITHOUT_A_PARENT: &str = "cc-cli-c010174c";

/// Which messages come from the queue and are not in what the native file is compared with.
fn uncounted(path: &Path) -> Vec<usize> {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let Some((_, expected)) = WITHOUT_QUEUED.iter().find(|(name, _)| *name == stem) else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let transcript = transcript(path);
    let origins = transcript.conversations[0].origins.iter().enumerate();
    let queued: Vec<usize> = origins
        .filter(|(_, origin)| {
            let line = origin.position.line.unwrap() as usize;
            lines[line - 1].contains("\"type\":\"queue-operation\"")
        })
        .map(|(at, _)| at)
        .collect();
    assert_eq!(queued.len(), *expected, "{stem}");
    queued
}

#[test]
fn every_native_file_has_the_counts_of_its_manifest() {
    let Some(folder) = data("files_real", "native") else {
        return;
    };
    let folder = folder.parent().unwrap();
    let mut files = 0;
    for entry in manifest(folder) {
        let name = entry["file"].as_str().unwrap();
        let counts = counts(&folder.join(name));
        if name.contains("aider") {
            // Of aider's logs the manifest counts the lines of requests.
            assert_eq!(counts.by_role["user"], entry["messages"], "{name}");
        } else {
            let uncounted = uncounted(&folder.join(name)).len() as u64;
            let messages = counts.messages - uncounted;
            assert_eq!(messages, entry["messages"], "{name}: messages");
            assert_eq!(counts.calls, entry["calls"], "{name}: calls");
            assert_eq!(counts.results, entry["results"], "{name}: results");
            assert_eq!(counts.unanswered, entry["unanswered"], "{name}: unanswered");
            assert_eq!(counts.orphans, entry["orphan_results"], "{name}: orphans");
            assert_eq!(counts.compactions, entry["compactions"], "{name}");
            let users = counts.by_role.get("user").copied().unwrap_or_default();
            assert_eq!(users - uncounted, entry["users"], "{name}: users");
        }
        let sessions = entry.get("sessions").and_then(Value::as_u64).unwrap_or(1);
        assert_eq!(counts.conversations, sessions, "{name}: conversations");
        let codes: Vec<&str> = counts
            .problems
            .counts
            .keys()
            .map(|code| code.as_str())
            .collect();
        let mut expected = vec!["repeated_call_id", "unanswered_call"];
        if name.contains(WITHOUT_A_PARENT) {
            let broken = &counts.problems.counts[&ProblemCode::BrokenParent];
            assert_eq!(*broken, 1, "{name}");
            expected.push("broken_parent");
        }
        assert!(
            codes.iter().all(|code| expected.contains(code)),
            "{name}: {codes:?}"
        );
        files += 1;
    }
    assert!(files >= 26, "{files} files");
}

#[test]
fn unified_files_are_what_their_originals_say() {
    let Some(folder) = data("files_real", "unified") else {
        return;
    };
    let folder = folder.parent().unwrap();
    let mut files = 0;
    for entry in manifest(folder) {
        let native = folder.join(entry["file"].as_str().unwrap());
        let stem = native.file_stem().unwrap().to_str().unwrap();
        let unified = folder.join("unified").join(stem).with_extension("json");
        if !unified.exists() {
            continue;
        }
        let uncounted = uncounted(&native);
        let (mut native, unified) = (transcript(&native), transcript(&unified));
        for at in uncounted.iter().rev() {
            let conversation = &mut native.conversations[0];
            conversation.messages.remove(*at);
            for recorded in &mut conversation.compactions {
                recorded.at -= usize::from(recorded.at > *at);
            }
        }
        assert_eq!(unified.format, FileFormat::Unified);
        let (native, unified) = (&native.conversations[0], &unified.conversations[0]);
        assert_eq!(native.messages.len(), unified.messages.len(), "{stem}");
        for (at, (ours, theirs)) in native.messages.iter().zip(&unified.messages).enumerate() {
            same_message(ours, theirs, &format!("{stem}, message {at}"));
        }
        let facts = |conversation: &epitome_files::Conversation| -> Vec<_> {
            let recorded = conversation.compactions.iter();
            recorded
                .map(|recorded| {
                    (
                        recorded.at,
                        recorded.summary.clone(),
                        recorded.tokens_before,
                    )
                })
                .collect()
        };
        assert_eq!(facts(native), facts(unified), "{stem}");
        files += 1;
    }
    assert!(files >= 11, "{files} files");
}

fn same_message(ours: &Message, theirs: &Message, place: &str) {
    assert_eq!(ours.role, theirs.role, "{place}");
    assert_eq!(flat_text(ours), flat_text(theirs), "{place}");
    let calls = |message: &Message| -> Vec<(String, String, Value)> {
        let calls = message.calls();
        calls
            .map(|call| {
                let given = &call.arguments;
                let read =
                    serde_json::from_str(given).unwrap_or_else(|_| Value::from(given.to_string()));
                (call.id.to_string(), call.name.to_string(), read)
            })
            .collect()
    };
    assert_eq!(calls(ours), calls(theirs), "{place}");
    if ours.role == Role::Tool {
        let id = |message: &Message| {
            message
                .results()
                .next()
                .map(|result| result.call_id.clone())
        };
        assert_eq!(id(ours), id(theirs), "{place}");
    }
}
