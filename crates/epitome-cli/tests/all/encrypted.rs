//! Commands on an encrypted store.

use std::process::Output;

use bytes::Bytes;
use epitome_store::{
    AnyStore, Append, CompactionRow, CompactionState, Compactions, ConversationId, Digest,
    EntryRow, EntryWords, Keys, NewConversation, NodeRow, Store, TenantId,
};
use epitome_testkit::postgres;

use crate::support::{epitome, stderr, stdout};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const OTHER: &str = "0f0e0d0c0b0a090807060504030201000f0e0d0c0b0a09080706050403020100";

async fn fill(location: &str) {
    let keys = Keys::parse(KEY).unwrap();
    let store = AnyStore::open_with(location, &keys).await.unwrap();
    let id = ConversationId::new("talk").unwrap();
    let raw = Bytes::from_static(b"{\"role\":\"user\",\"content\":\"the planted word\"}");
    let key = Digest::of(&raw);
    let node = Digest::of(b"node");
    let span = Append {
        conversation: NewConversation {
            id: id.clone(),
            parent: None,
            label: Some("planted title".to_owned()),
            created_ms: 1,
        },
        entries: vec![EntryRow {
            key,
            raw,
            wire: "openai-chat".to_owned(),
            tokens: 3,
        }],
        nodes: vec![NodeRow {
            digest: node,
            parent: None,
            entry: key,
            position: 0,
            conversation: id.clone(),
        }],
        words: vec![EntryWords {
            key,
            text: "the planted word".to_owned(),
        }],
        touched_ms: 2,
    };
    let row = CompactionRow {
        id: "k1".to_owned(),
        conversation: id,
        node,
        model_class: "any".to_owned(),
        state: CompactionState::Published,
        head_entries: 0,
        covered_entries: 1,
        tokens_before: 900,
        tokens_after: 40,
        summary: "a planted summary".to_owned(),
        record: "{}".to_owned(),
        created_ms: 5,
    };
    let local = TenantId::local();
    let committed = store.commit_compaction(&local, &span, &row);
    committed.await.unwrap();
    store.close().await;
}

fn run(location: &str, key: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = epitome();
    command.args(arguments).args(["--store", location]);
    match key {
        Some(key) => command.env("EPITOME_STORE_KEY", key),
        None => command.env_remove("EPITOME_STORE_KEY"),
    };
    command.output().unwrap()
}

fn said(location: &str, key: &str, arguments: &[&str]) -> String {
    let output = run(location, Some(key), arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        stderr(&output)
    );
    stdout(&output)
}

async fn with_a_key(location: &str) {
    fill(location).await;
    for (key, words) in [
        (None, "EPITOME_STORE_KEY"),
        (Some(OTHER), "another key"),
        (Some("12"), "64"),
    ] {
        for arguments in [
            &["log"][..],
            &["show", "k1"],
            &["undo", "--session", "talk"],
            &["store", "stats"],
        ] {
            let output = run(location, key, arguments);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            let said = stderr(&output);
            assert!(said.contains(words) && !said.contains("planted"), "{said}");
            assert!(!said.contains(OTHER) && !said.contains(KEY), "{said}");
        }
    }
    assert!(said(location, KEY, &["log"]).contains("talk"));
    assert!(said(location, KEY, &["show", "k1"]).contains("a planted summary"));
    let found = said(location, KEY, &["recall", "--session", "talk", "planted"]);
    assert!(found.contains("planted"), "{found}");
    let export = said(location, KEY, &["store", "export"]);
    assert!(
        !export.contains("planted"),
        "an export is as encrypted as the store"
    );

    // One key after the other.
    let both = format!("{OTHER}\n{KEY}");
    assert!(said(location, &both, &["show", "k1"]).contains("a planted summary"));
    said(location, &both, &["store", "rotate"]);
    assert_eq!(run(location, Some(KEY), &["log"]).status.code(), Some(2));
    assert!(said(location, OTHER, &["show", "k1"]).contains("a planted summary"));
    said(location, OTHER, &["undo", "--session", "talk"]);
    assert!(said(location, OTHER, &["log", "--session", "talk"]).contains("undone"));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.key");
    std::fs::write(&file, format!("# the newest\n{OTHER}\n")).unwrap();
    let file = file.to_str().unwrap();
    let output = run(location, None, &["log", "--key-file", file]);
    assert!(stdout(&output).contains("talk"), "{}", stderr(&output));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    with_a_key(&format!("sqlite:{}/log.db", folder.path().display())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_with_a_key() {
    if let Some(database) = postgres::database().await {
        with_a_key(database.url()).await;
    }
}
