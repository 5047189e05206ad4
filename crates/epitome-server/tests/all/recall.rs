//! What went through the proxy is found again by its words.

use epitome_store::{Entries, Search, SearchHit, SearchScope, Store, TenantId};
use epitome_testkit::{ModelConfig, Wire};
use serde_json::json;

use crate::support::{Folder, pair, request, user};

async fn found(folder: &Folder, query: &str) -> Vec<SearchHit> {
    let store = folder.open().await;
    let hits = store
        .search(&TenantId::local(), &SearchScope::Tenant, query, 9)
        .await
        .unwrap();
    store.close().await;
    hits
}

#[tokio::test]
async fn stored_messages_are_found_by_their_words() {
    let folder = Folder::new();
    let (_model, proxy) = pair(ModelConfig::default(), |config| {
        config.store = folder.location();
    })
    .await;
    let mut messages = vec![user("please read the migration of parse_http_header")];
    let call = json!({"id": "c1", "type": "function", "function": {
        "name": "read_file", "arguments": "{\"path\": \"src/net/tls.rs\\nzebra\"}"}});
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    messages.push(json!({"role": "tool", "tool_call_id": "c1", "content": "the port is 8443"}));
    let body = request(Wire::OpenaiChat, "m", messages);
    let answer = proxy.post(Wire::OpenaiChat, &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    proxy.stop().await;

    for (query, position) in [
        ("header migration", 0),
        ("tls.rs", 1),
        ("zebra", 1),
        ("read file", 1),
        ("PORT 8443", 2),
    ] {
        let hits = found(&folder, query).await;
        let positions: Vec<_> = hits.iter().map(|hit| hit.position).collect();
        assert_eq!(positions, [position], "{query}");
    }
    assert_eq!(found(&folder, "giraffe").await, []);
}

#[tokio::test]
async fn messages_of_an_earlier_version_are_indexed_when_the_proxy_starts() {
    let folder = Folder::new();
    let text = |word: &str| json!({"role": "user", "content": word}).to_string();
    let store = folder.open().await;
    let append = |position: u32, raw: String| {
        let key = epitome::Digest::of(raw.as_bytes());
        let conversation = epitome_store::ConversationId::from_number(position.into());
        epitome_store::Append {
            conversation: epitome_store::NewConversation {
                id: conversation.clone(),
                parent: None,
                label: None,
                created_ms: 1,
            },
            nodes: vec![epitome_store::NodeRow {
                digest: key,
                parent: None,
                entry: key,
                position: 0,
                conversation,
            }],
            entries: vec![epitome_store::EntryRow {
                key,
                raw: raw.into(),
                wire: "openai-chat".to_owned(),
                tokens: 1,
            }],
            words: Vec::new(),
            touched_ms: 1,
        }
    };
    let mut appends = vec![append(0, "no message".to_owned())];
    appends.extend((1..100).map(|number| append(number, text(&format!("word{number} zebra")))));
    let tenant = TenantId::local();
    store.append_all(&tenant, &appends).await.unwrap();
    assert_eq!(
        store.unindexed(&tenant, None, 200).await.unwrap().len(),
        100
    );

    let (_model, proxy) = pair(ModelConfig::default(), |config| {
        config.store = folder.location();
    })
    .await;
    for _ in 0..6_000 {
        if store.unindexed(&tenant, None, 1).await.unwrap().is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    proxy.stop().await;
    store.close().await;
    assert_eq!(found(&folder, "word77").await.len(), 1);
}
