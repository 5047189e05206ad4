//! `epitome store` on both databases.

#![expect(
    clippy::indexing_slicing,
    reason = "what an answer lacks is null, and names are listed above"
)]

use std::process::Output;

use epitome_store::{
    AnyStore, Append, CompactionRow, CompactionState, Compactions, ConversationId, Digest, Entries,
    EntryRow, NewConversation, NodeRow, Store, TenantId, Tenants,
};
use epitome_testkit::postgres;
use serde_json::{Value, json};

use crate::support::{epitome, json, run_with_input, stderr, stdout};

fn key(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

/// A conversation whose messages are its names; the first `known` are there already.
fn append(id: &str, names: &[&str], known: usize, touched_ms: i64) -> Append {
    let id = ConversationId::new(id).unwrap();
    let entry = |name: &str| EntryRow {
        key: key(name),
        raw: format!("{{\"role\":\"user\",\"content\":\"{name}\"}}").into(),
        wire: "openai-chat".to_owned(),
        tokens: 3,
    };
    let nodes = names.iter().enumerate().skip(known);
    let nodes = nodes.map(|(at, name)| NodeRow {
        digest: key(&format!("node {name}")),
        parent: at
            .checked_sub(1)
            .map(|at| key(&format!("node {}", names[at]))),
        entry: key(name),
        position: u32::try_from(at).unwrap(),
        conversation: id.clone(),
    });
    Append {
        entries: names[known..].iter().map(|name| entry(name)).collect(),
        nodes: nodes.collect(),
        words: Vec::new(),
        conversation: NewConversation {
            id,
            parent: None,
            label: None,
            created_ms: 1,
        },
        touched_ms,
    }
}

/// Two conversations, one of them compacted, and a branch.
async fn fill(location: &str) {
    let store = AnyStore::open(location).await.unwrap();
    let tenant = TenantId::local();
    store.tenant_key(&tenant, [7; 32]).await.unwrap();
    let row = CompactionRow {
        id: "k1".to_owned(),
        conversation: ConversationId::new("old").unwrap(),
        node: key("node b"),
        model_class: "any".to_owned(),
        state: CompactionState::Published,
        head_entries: 0,
        covered_entries: 2,
        tokens_before: 900,
        tokens_after: 40,
        summary: "a and b".to_owned(),
        record: "{}".to_owned(),
        created_ms: 5,
    };
    let old = append("old", &["a", "b", "c"], 0, 10);
    store.commit_compaction(&tenant, &old, &row).await.unwrap();
    let mut branch = append("branch", &["a", "b", "x"], 2, 4_000_000_000_000);
    branch.conversation.parent = Some(ConversationId::new("old").unwrap());
    store.append(&tenant, &branch).await.unwrap();
    let new = append("new", &["p", "q"], 0, 4_000_000_000_000);
    store.append(&tenant, &new).await.unwrap();
    store.close().await;
}

fn run(location: &str, arguments: &[&str]) -> Output {
    let mut command = epitome();
    command.arg("store").args(arguments);
    command.args(["--store", location]).output().unwrap()
}

fn done(location: &str, arguments: &[&str]) -> Value {
    let output = run(location, &[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    json(&output)
}

/// Every verb that changes something, on one store.
async fn look_after(location: &str) {
    fill(location).await;
    let before = done(location, &["stats"]);
    assert_eq!(before["conversations"], 3, "{before}");
    assert_eq!(
        (&before["entries"], &before["nodes"]),
        (&json!(6), &json!(6))
    );
    let page = stdout(&run(location, &["stats"]));
    assert!(page.contains("conversations      3\n"), "{page}");

    let tried = done(location, &["gc", "--older-than", "1d", "--dry-run"]);
    assert_eq!(tried["deleted"][0]["session"], "old", "{tried}");
    assert_eq!(done(location, &["stats"])["conversations"], 3);
    let gone = done(location, &["gc", "--older-than", "1d"]);
    assert_eq!(gone["deleted"][0]["session"], "old", "{gone}");
    assert_eq!(gone["deleted"][0]["rehomed_nodes"], 2, "{gone}");
    assert_eq!(gone["deleted"][0]["entries"], 1, "{gone}");
    let after = done(location, &["stats"]);
    assert_eq!(
        (&after["entries"], &after["compactions"]),
        (&json!(5), &json!(1))
    );

    let unknown = run(location, &["delete", "--session", "old"]);
    assert_eq!(unknown.status.code(), Some(1), "{}", stderr(&unknown));
    let gone = done(location, &["delete", "--session", "branch"]);
    assert_eq!(gone["deleted"][0]["entries"], 3, "{gone}");
    let gone = done(location, &["gc", "--max-bytes", "0"]);
    assert_eq!(gone["deleted"][0]["session"], "new", "{gone}");
    let after = done(location, &["stats"]);
    assert_eq!(
        (&after["entries"], &after["entry_bytes"]),
        (&json!(0), &json!(0))
    );
    let swept = done(location, &["gc", "--forget-deleted-after", "0s"]);
    // The name and the last link of the one that somebody wanted forgotten; age leaves no marks.
    assert_eq!(swept["swept"]["deleted_marks"], 2, "{swept}");
    done(location, &["vacuum"]);
    let schema = done(location, &["migrate"]);
    assert_eq!(schema["from"], schema["schema"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_after_a_file() {
    let folder = tempfile::tempdir().unwrap();
    look_after(&format!(
        "sqlite:{}",
        folder.path().join("log.db").display()
    ))
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_after_a_database() {
    if let Some(database) = postgres::database().await {
        look_after(database.url()).await;
    }
}

/// From a file to a server, through an export and straight, while somebody goes on writing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_moves_to_postgres() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let from = format!("sqlite:{}", folder.path().join("log.db").display());
    fill(&from).await;
    // It is in use.
    let open = AnyStore::open(&from).await.unwrap();
    let export = folder.path().join("export.jsonl");
    let written = run(&from, &["export", "--out", export.to_str().unwrap()]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    assert_eq!(stdout(&written), "");
    let again = run(&from, &["export", "--out", export.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("--force"), "{}", stderr(&again));

    let first = done(database.url(), &["import", export.to_str().unwrap()]);
    assert_eq!(first["left"], 0, "{first}");
    let later = append("new", &["p", "q", "r"], 2, 4_000_000_000_001);
    open.append(&TenantId::local(), &later).await.unwrap();
    let second = done(database.url(), &["import", &from]);
    // An entry, a link, and when the conversation was touched.
    assert_eq!(second["written"], 3, "{second}");
    let (mut here, mut there) = (done(&from, &["stats"]), done(database.url(), &["stats"]));
    for one in [&mut here, &mut there] {
        one["disk_bytes"] = Value::Null;
        one["schema"] = Value::Null;
    }
    assert_eq!(here, there);
    let whole = run(&from, &["export"]).stdout;
    assert_eq!(run(database.url(), &["export"]).stdout, whole);
    open.close().await;

    // What was cut off is known, and so is what is none.
    let cut = whole.len() - 10;
    for (input, words) in [
        (&whole[..cut], "line "),
        (
            &whole[..whole.iter().rposition(|byte| *byte == b'{').unwrap()],
            "cut off",
        ),
        (&b"{}\n"[..], "no table"),
        (&b""[..], "cut off"),
    ] {
        let place = format!("sqlite:{}", folder.path().join("other.db").display());
        let refused = run_with_input(&["store", "import", "-", "--store", &place], input);
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        assert!(stderr(&refused).contains(words), "{}", stderr(&refused));
    }
}

#[test]
fn what_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = format!("sqlite:{}", folder.path().join("none.db").display());
    for arguments in [
        &["stats"][..],
        &["gc"],
        &["export"],
        &["vacuum"],
        &["delete", "--session", "x"],
    ] {
        let output = run(&nowhere, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = stderr(&output);
        assert!(
            said.contains("none.db") && said.lines().count() == 1,
            "{said}"
        );
    }
    let output = run(&nowhere, &["gc", "--older-than", "soon"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("90d"), "{}", stderr(&output));
}
