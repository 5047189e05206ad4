//! The store under stress: locked, slow, and with very long conversations.

use std::time::Duration;

use epitome_store::{CompactionState, Conversations, Store, TenantId};
use epitome_testkit::{Fault, Faults, ModelConfig, Script, ScriptedModel, Wire};
use serde_json::{Value, json};
use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;

use crate::support::{
    Folder, Proxy, action, assistant, config, history, last, pair, request, summary, user,
};

fn quick() -> ModelConfig {
    ModelConfig {
        script: Script::Agent {
            tool_every: 0,
            parallel_every: 0,
            words: 5,
        },
        ..ModelConfig::default()
    }
}

/// Another process that keeps everybody else from writing.
async fn locked(folder: &Folder) -> SqliteConnection {
    let location = format!("sqlite:{}", folder.path().display());
    let mut connection = SqliteConnection::connect(&location).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut connection)
        .await
        .unwrap();
    connection
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compaction_that_was_used_is_stored_in_the_end() {
    let folder = Folder::with_file();
    let (model, proxy) = pair(quick(), |config| {
        config.window_tokens = Some(6_000);
        config.store = folder.location();
    })
    .await;
    let first = request(Wire::OpenaiChat, "m", [user("Hello there, let us begin.")]);
    proxy.post(Wire::OpenaiChat, &first).await;
    folder.wait_for_conversation().await;
    let lock = locked(&folder).await;
    let body = request(Wire::OpenaiChat, "m", history(1, 12, 400));
    let received = proxy.post(Wire::OpenaiChat, &body).await;
    assert_eq!(received.status, 200);
    assert_eq!(action(&received), ("compacted", "hard_line"));
    let sent: Value = serde_json::from_slice(&last(&model).body).unwrap();
    // SQLite itself waits for five seconds; only then a write fails and has to be tried again.
    let mut health = Value::Null;
    for _ in 0..2_000 {
        health = proxy.health().await;
        if health["store_failures"].as_u64() > Some(0) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(health["status"], "degraded", "{health}");
    assert!(health["store_late_commits"].as_u64() > Some(0), "{health}");
    lock.close().await.unwrap();
    folder.wait_for_publication().await;
    let rows = folder.compactions().await;
    assert_eq!(rows.len(), 1);
    let is_stored = |message: &Value| {
        let text = message["content"].as_str();
        text.is_some_and(|text| text.contains(&rows[0].summary))
    };
    let messages = sent["messages"].as_array().unwrap();
    assert!(messages.iter().any(is_stored), "other bytes are stored");
    for _ in 0..2_000 {
        health = proxy.health().await;
        if health["store_late_commits"] == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(health["store_late_commits"], 0, "{health}");
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_a_provider_took_is_kept() {
    let folder = Folder::new();
    let model = ModelConfig {
        faults: Faults::none().on(0, Fault::Overloaded),
        ..quick()
    };
    let (model, proxy) = pair(model, |config| {
        config.window_tokens = Some(6_000);
        config.store = folder.location();
    })
    .await;
    let body = request(Wire::OpenaiChat, "m", history(1, 12, 400));
    let received = proxy.post(Wire::OpenaiChat, &body).await;
    assert_eq!(received.status, 529);
    let refused = summary(&last(&model).body);
    let state = |rows: &[epitome_store::CompactionRow]| -> Vec<CompactionState> {
        rows.iter().map(|row| row.state).collect()
    };
    assert_eq!(
        state(&folder.compactions().await),
        [CompactionState::Prepared]
    );
    // The client tries again: the same bytes go out, and now they are in force.
    let received = proxy.post(Wire::OpenaiChat, &body).await;
    assert_eq!(received.status, 200);
    assert_eq!(summary(&last(&model).body), refused);
    folder.wait_for_publication().await;
    proxy.stop().await;
    assert_eq!(
        state(&folder.compactions().await),
        [CompactionState::Published]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_kept_of_what_nobody_took() {
    let folder = Folder::new();
    let reserved = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = config(reserved.local_addr().unwrap());
    drop(reserved);
    config.store = folder.location();
    let proxy = Proxy::start(config).await;
    let body = request(Wire::OpenaiChat, "m", history(1, 2, 40));
    assert_eq!(proxy.post(Wire::OpenaiChat, &body).await.status, 502);
    proxy.stop().await;
    let store = folder.open().await;
    assert_eq!(
        store.conversations(&TenantId::local(), 9).await.unwrap(),
        []
    );
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_messages_survive_a_restart() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ModelConfig {
        window_tokens: 10_000_000,
        ..quick()
    })
    .await;
    let mut config = config(model.address());
    config.window_tokens = Some(100_000);
    config.store = folder.location();
    let mut messages: Vec<Value> = Vec::new();
    for turn in 0..50_000 {
        messages.push(user(format!("step {turn}")));
        messages.push(assistant(format!("done {turn}")));
    }
    messages.push(user("And now?"));
    let proxy = Proxy::start(config.clone()).await;
    let received = proxy
        .post(
            Wire::OpenaiChat,
            &request(Wire::OpenaiChat, "m", messages.clone()),
        )
        .await;
    assert_eq!(action(&received), ("compacted", "hard_line"));
    let before: Value = serde_json::from_slice(&last(&model).body).unwrap();
    folder.wait_for_publication().await;
    proxy.stop().await;
    let proxy = Proxy::start(config).await;
    messages.push(assistant("Nothing."));
    messages.push(user("Good."));
    let received = proxy
        .post(Wire::OpenaiChat, &request(Wire::OpenaiChat, "m", messages))
        .await;
    assert_eq!(action(&received), ("compacted", "epoch"));
    let after: Value = serde_json::from_slice(&last(&model).body).unwrap();
    let (before, after) = (
        before["messages"].as_array().unwrap(),
        after["messages"].as_array().unwrap(),
    );
    assert_eq!(after.len(), before.len() + 2);
    assert_eq!(json!(after[..before.len()]), json!(before));
    let health = proxy.health().await;
    assert_eq!(health["store_deadlines"], 0, "{health}");
    proxy.stop().await;
}
