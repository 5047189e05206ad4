//! Many nodes on one PostgreSQL: what becomes of clients when nodes, the server or the way to it fail.

#[path = "cluster/failover.rs"]
mod failover;
#[path = "cluster/faults.rs"]
mod faults;
#[path = "cluster/fleet.rs"]
mod fleet;
#[path = "cluster/work.rs"]
mod work;

use epitome_store::{
    AnyStore, CompactionRow, CompactionState, Compactions, Conversations, Entries, TenantId,
};
use epitome_testkit::{ModelConfig, Script};
use http::Method;
use serde_json::Value;

use crate::support::Proxy;

/// A server of this window that answers shortly.
fn model(window_tokens: u64) -> ModelConfig {
    ModelConfig {
        window_tokens,
        script: Script::Agent {
            tool_every: 0,
            parallel_every: 0,
            words: 30,
        },
        ..ModelConfig::default()
    }
}

/// Every message of every conversation that is stored, as it was sent.
async fn stored_messages(store: &AnyStore) -> Vec<Vec<String>> {
    let tenant = TenantId::local();
    let mut all = Vec::new();
    for row in store.conversations(&tenant, 1_000).await.unwrap() {
        let Some(tip) = store.tip(&tenant, &row.id).await.unwrap() else {
            continue;
        };
        let entries = store.history(&tenant, tip.digest).await.unwrap();
        let texts = entries.iter().map(|entry| entry.raw.to_vec());
        all.push(texts.map(|raw| String::from_utf8(raw).unwrap()).collect());
    }
    all
}

/// Every compaction of every conversation. Of those in force no two are for the same place and class.
async fn stored_compactions(store: &AnyStore) -> Vec<CompactionRow> {
    let tenant = TenantId::local();
    let mut all: Vec<CompactionRow> = Vec::new();
    for row in store.conversations(&tenant, 1_000).await.unwrap() {
        let found = store.compactions_of(&tenant, &row.id).await.unwrap();
        all.extend(found);
    }
    let mut places: Vec<_> = all
        .iter()
        .filter(|row| row.state != CompactionState::Undone)
        .map(|row| (row.node, row.model_class.clone()))
        .collect();
    let count = places.len();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), count, "the same span was compacted twice");
    all
}

/// A figure that Prometheus would read.
async fn metric(proxy: &Proxy, name: &str) -> u64 {
    let received = proxy.send(&Method::GET, "/metrics", &[], "").await;
    let text = String::from_utf8(received.body.to_vec()).unwrap();
    let line = text.lines().find(|line| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(' '))
    });
    let line = line.unwrap_or_else(|| panic!("no {name} in {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// The jobs of all nodes, as one of them tells.
async fn jobs(proxy: &Proxy) -> Vec<Value> {
    let key = format!("Bearer {}", proxy.token);
    let headers = [("authorization", key.as_str())];
    let received = proxy
        .send(&Method::GET, "/epitome/v1/jobs", &headers, "")
        .await;
    assert_eq!(received.status, 200, "{received:?}");
    received.json()["jobs"].as_array().unwrap().clone()
}
