//! `epitome log`, `show`, `undo`, `fork` and `recall --session` on a store.

use std::process::Output;

use epitome_store::{
    Append, CompactionRow, CompactionState, Compactions, ConversationId, Digest, EntryRow,
    EntryWords, NewConversation, NodeRow, SqliteStore, Store, TenantId,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{epitome, json, stderr};

const TEXTS: [&str; 4] = ["the zebra", "an answer", "the giraffe", "the end"];

struct Kept {
    folder: TempDir,
}

impl Kept {
    /// A conversation of four messages, the first two compacted.
    async fn new(record: &str) -> Self {
        let kept = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let store = SqliteStore::open(kept.folder.path().join("log.db"))
            .await
            .unwrap();
        let span = append(ConversationId::new("talk").unwrap());
        let row = CompactionRow {
            id: "k1".to_owned(),
            conversation: ConversationId::new("talk").unwrap(),
            node: key(1),
            model_class: "any".to_owned(),
            state: CompactionState::Published,
            head_entries: 0,
            covered_entries: 2,
            tokens_before: 900,
            tokens_after: 40,
            summary: "animals were named".to_owned(),
            record: record.to_owned(),
            created_ms: 5,
        };
        let tenant = TenantId::local();
        store.commit_compaction(&tenant, &span, &row).await.unwrap();
        store.close().await;
        kept
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let store = format!("sqlite:{}", self.folder.path().join("log.db").display());
        let mut command = epitome();
        command.args(arguments).args(["--store", &store]);
        command.output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json(&output)
    }
}

fn raw(index: usize) -> String {
    format!("{{ \"role\":\"user\",\"content\":\"{}\" }}\n", text(index))
}

fn text(index: usize) -> &'static str {
    TEXTS.get(index).unwrap()
}

fn key(index: usize) -> Digest {
    Digest::of(raw(index).as_bytes())
}

fn append(id: ConversationId) -> Append {
    let entry = |index: usize| EntryRow {
        key: key(index),
        raw: raw(index).into(),
        wire: "openai-chat".to_owned(),
        tokens: 3,
    };
    let node = |index: usize| NodeRow {
        digest: key(index),
        parent: index.checked_sub(1).map(key),
        entry: key(index),
        position: index as u32,
        conversation: id.clone(),
    };
    let words = |index: usize| EntryWords {
        key: key(index),
        text: text(index).to_owned(),
    };
    Append {
        entries: (0..4).map(entry).collect(),
        nodes: (0..4).map(node).collect(),
        words: (0..4).map(words).collect(),
        conversation: NewConversation {
            id,
            parent: None,
            label: Some("a talk".to_owned()),
            created_ms: 1,
        },
        touched_ms: 1,
    }
}

#[tokio::test]
async fn conversations_and_compactions_are_listed_and_shown() {
    let kept = Kept::new("{\"reason\":\"window\"}").await;
    let listed = kept.json(&["log"]);
    let first = &listed["conversations"][0];
    assert_eq!(first["session"], "talk");
    assert_eq!(first["entries"], 4);
    assert_eq!(first["compactions"], 1);
    let listed = kept.json(&["log", "--session", "talk"]);
    let first = &listed["compactions"][0];
    assert_eq!(first["id"], "k1");
    assert_eq!(first["state"], "published");
    assert_eq!(
        (&first["first_entry"], &first["last_entry"]),
        (&1.into(), &2.into())
    );
    let shown = kept.json(&["show", "k1"]);
    assert_eq!(shown["summary"], "animals were named");
    assert_eq!(shown["record"]["reason"], "window");
    for (arguments, code) in [
        (&["log"][..], 0),
        (&["log", "--session", "talk"], 0),
        (&["show", "k1"], 0),
        (&["log", "--session", "nobody"], 1),
        (&["show", "nobody"], 1),
        (&["show"], 2),
        (&["show", "--entry", "xyz"], 2),
        (&["log", "--tenant", "other"], 0),
        (&["log", "--session", "talk", "--tenant", "other"], 1),
    ] {
        let output = kept.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}

#[tokio::test]
async fn entries_are_found_and_shown_byte_for_byte() {
    let kept = Kept::new("{}").await;
    let found = kept.json(&["recall", "--session", "talk", "zebra"]);
    let hit = &found["hits"][0];
    assert_eq!(
        (&hit["position"], &hit["role"]),
        (&1.into(), &"user".into())
    );
    assert_eq!(hit["covered_by"]["compaction"], "k1");
    let output = kept.run(&["show", "--entry", hit["entry"].as_str().unwrap()]);
    assert_eq!(output.stdout, raw(0).as_bytes());
    let found = kept.json(&["recall", "--session", "talk", "giraffe"]);
    assert_eq!(found["hits"][0]["covered_by"], Value::Null);
    let output = kept.run(&["recall", "--session", "talk", "lion"]);
    assert_eq!(output.status.code(), Some(1));
}

#[tokio::test]
async fn the_newest_compaction_is_undone_once() {
    let kept = Kept::new("{}").await;
    let undone = kept.json(&["undo", "--session", "talk"]);
    assert_eq!(undone["undone"], "k1");
    assert_eq!(undone["tokens_after"], 900);
    let listed = kept.json(&["log", "--session", "talk"]);
    assert_eq!(listed["compactions"][0]["state"], "undone");
    let output = kept.run(&["undo", "--session", "talk"]);
    assert_eq!(output.status.code(), Some(1));
    let found = kept.json(&["recall", "--session", "talk", "zebra"]);
    assert_eq!(found["hits"][0]["covered_by"], Value::Null);
}

#[tokio::test]
async fn an_undo_that_would_not_fit_is_refused() {
    let kept = Kept::new("{\"hard_tokens\": 800}").await;
    let output = kept.run(&["undo", "--session", "talk"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("900") && said.contains("800"), "{said}");
    kept.json(&["undo", "--session", "talk", "--force"]);
}

#[tokio::test]
async fn a_fork_shares_its_first_entries() {
    let kept = Kept::new("{}").await;
    let forked = kept.json(&["fork", "--session", "talk", "--at", "2"]);
    let id = forked["session"].as_str().unwrap();
    kept.json(&["recall", "--session", id, "zebra"]);
    let output = kept.run(&["recall", "--session", id, "giraffe"]);
    assert_eq!(output.status.code(), Some(1), "it is not in the fork");
    let listed = kept.json(&["log"]);
    assert_eq!(listed["conversations"][0]["parent"], "talk");
    // A fork of a fork that has nothing of its own yet.
    kept.json(&["fork", "--session", id, "--at", "1"]);
    let output = kept.run(&["fork", "--session", id, "--at", "3"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    let store = format!("sqlite:{}", path.display());
    for arguments in [
        &["log"][..],
        &["undo", "--session", "x"],
        &["recall", "--session", "x", "y"],
    ] {
        let output = epitome()
            .args(arguments)
            .args(["--store", &store])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!path.exists());
    }
}

#[test]
fn a_server_that_is_not_there_is_named_without_the_password() {
    for store in [
        "postgres://me:hunter2@127.0.0.1:1/talks",
        "postgresql://me@127.0.0.1:1/talks?password=hunter2",
        "postgres://me:hunter2@127.0.0.1:no/talks",
    ] {
        for arguments in [&["log"][..], &["undo", "--session", "x"]] {
            let output = epitome()
                .args(arguments)
                .args(["--store", store])
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            let said = stderr(&output);
            assert!(said.contains("127.0.0.1"), "{said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}

/// What is damaged, or comes from a later version, is named; the rest is shown, and it can be taken back by force.
#[tokio::test]
async fn a_record_that_cannot_be_read_is_named() {
    for (record, shown) in [
        (
            "{\"covered_links\": 2}",
            serde_json::json!({"covered_links": 2}),
        ),
        ("{\"covered", Value::Null),
    ] {
        let kept = Kept::new(record).await;
        for arguments in [&["show", "k1"][..], &["undo", "--session", "talk"]] {
            let said = stderr(&kept.run(arguments));
            for words in ["k1", "cannot be read", "use that version"] {
                assert!(said.contains(words), "{arguments:?}: {said}");
            }
        }
        let output = kept.run(&["show", "k1", "--json"]);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(json(&output)["record"], shown);
        assert_eq!(json(&output)["summary"], "animals were named");
        let output = kept.run(&["undo", "--session", "talk"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("--force"));
        let output = kept.run(&["undo", "--session", "talk", "--force", "--json"]);
        assert_eq!(json(&output)["undone"], "k1");
    }
}
