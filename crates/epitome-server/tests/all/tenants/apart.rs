//! Two tenants that say the same share nothing.

use std::collections::{BTreeMap, BTreeSet};

use epitome_store::{Cell, Compactions, Conversations, SnapshotRow, Store};
use epitome_testkit::client::Received;
use epitome_testkit::{ModelConfig, ScriptedModel, Wire};
use serde_json::{Value, json};

use super::{KEY_A, KEY_B, for_two, get_as, id, post_as, rows, text};
use crate::support::{
    Folder, Proxy, action, config, conversation, history, last, pair, request, summary, user,
};

/// A long conversation and what follows on it, as both tenants say it.
async fn say(proxy: &Proxy, key: &str, wire: Wire) -> Vec<Received> {
    let mut messages = history(1, 14, 400);
    let mut answers = Vec::new();
    for turn in 0..3 {
        let body = request(wire, "m", messages.clone());
        answers.push(post_as(proxy, key, wire, &body).await);
        messages.push(json!({"role": "assistant", "content": "Well."}));
        messages.push(user(format!("And then, {turn}?")));
    }
    answers
}

/// What names something in a store: 32 bytes, or 32 or more letters and digits.
fn names(rows: &[SnapshotRow], tenant: &str) -> BTreeSet<String> {
    let own = rows
        .iter()
        .filter(|row| row.cells.first() == Some(&Cell::Text(tenant.to_owned())));
    let cells = own.flat_map(|row| &row.cells);
    let named = cells.filter_map(|cell| match cell {
        Cell::Bytes(bytes) if bytes.len() == 32 => {
            Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
        }
        Cell::Text(text) if text.len() >= 32 && text.chars().all(char::is_alphanumeric) => {
            Some(text.clone())
        }
        _ => None,
    });
    named.collect()
}

#[tokio::test]
async fn the_same_words_of_two_tenants_have_nothing_in_common() {
    let folder = Folder::new();
    let (model, proxy) = pair(ModelConfig::default(), |config| for_two(config, &folder)).await;
    for wire in Wire::MESSAGES {
        let ours = say(&proxy, KEY_A, wire).await;
        let theirs = say(&proxy, KEY_B, wire).await;
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(action(ours), action(theirs));
            assert_ne!(conversation(ours), conversation(theirs));
        }
        assert_eq!(action(&theirs[0]).0, "compacted");
        assert!(summary(&last(&model).body).is_some());
    }
    proxy.stop().await;
    let store = folder.open().await;
    let mut compactions = BTreeMap::new();
    for name in ["alpha", "beta"] {
        let listed = store.conversations(&id(name), 9).await.unwrap();
        // The same words over two APIs are one conversation.
        assert_eq!(listed.len(), 1, "{name}");
        for row in listed {
            let made = store.compactions_of(&id(name), &row.id).await.unwrap();
            assert!(!made.is_empty(), "each made its own");
            for compaction in made {
                compactions.insert(compaction.id, name);
            }
        }
    }
    store.close().await;
    let kept = rows(&folder).await;
    let (ours, theirs) = (names(&kept, "alpha"), names(&kept, "beta"));
    assert!(ours.len() > 60 && theirs.len() > 60, "{}", ours.len());
    let shared: Vec<_> = ours.intersection(&theirs).collect();
    assert_eq!(shared, Vec::<&String>::new());
    // Nor does what is kept of the one name anything of the other.
    let is_of =
        |row: &&SnapshotRow, name: &str| row.cells.first().map(text).as_deref() == Some(name);
    for row in kept.iter().filter(|row| is_of(row, "beta")) {
        let said: String = row.cells.iter().map(text).collect();
        let foreign = ours.iter().find(|name| said.contains(*name));
        assert_eq!(foreign, None, "{row:?}");
    }
}

#[tokio::test]
async fn what_one_tenant_made_is_found_by_itself_alone() {
    let folder = Folder::new();
    let (_model, proxy) = pair(ModelConfig::default(), |config| for_two(config, &folder)).await;
    let ours = say(&proxy, KEY_A, Wire::OpenaiChat).await;
    let name = conversation(&ours[0]);
    proxy.stop().await;
    // A restart: whatever is known now comes from the store.
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let mut config = config(model.address());
    for_two(&mut config, &folder);
    let proxy = Proxy::start(config).await;
    let listed = get_as(&proxy, KEY_A, &format!("/epitome/v1/conversations/{name}")).await;
    let compaction = listed.json()["compactions_made"][0]["id"].clone();
    let compaction = compaction.as_str().unwrap();
    let paths = [
        format!("/epitome/v1/conversations/{name}"),
        format!("/epitome/v1/conversations/{name}/compactions"),
        format!("/epitome/v1/conversations/{name}/recall?q=anchor"),
        format!("/epitome/v1/conversations/{name}/messages/1"),
        format!("/epitome/v1/conversations/{name}/pins"),
        format!("/epitome/v1/compactions/{compaction}"),
        format!("/epitome/conversations/{name}"),
        format!("/epitome/compactions/{compaction}"),
    ];
    for path in &paths {
        assert_eq!(get_as(&proxy, KEY_A, path).await.status, 200, "{path}");
        assert_eq!(get_as(&proxy, KEY_B, path).await.status, 404, "{path}");
    }
    for path in ["undo", "pins/drop?text=x", "pins/restore?text=x"] {
        let path = format!("/epitome/v1/conversations/{name}/{path}");
        let headers = [("x-epitome-key", KEY_B)];
        let received = proxy.send(&http::Method::POST, &path, &headers, "").await;
        assert_eq!(received.status, 404, "{path}");
    }
    for path in ["/epitome/v1/recall?q=anchor", "/epitome/v1/conversations"] {
        let found = |received: Received| {
            let list = received.json();
            let list = list
                .get("hits")
                .or_else(|| list.get("conversations"))
                .cloned();
            list.and_then(|list| list.as_array().map(Vec::len)).unwrap()
        };
        assert!(found(get_as(&proxy, KEY_A, path).await) > 0, "{path}");
        assert_eq!(found(get_as(&proxy, KEY_B, path).await), 0, "{path}");
    }
    // The same messages again: the one goes on with what it had, the other begins.
    let again = say(&proxy, KEY_A, Wire::OpenaiChat).await;
    assert_eq!(
        (conversation(&again[0]), action(&again[0]).1),
        (name.clone(), "epoch")
    );
    let theirs = say(&proxy, KEY_B, Wire::OpenaiChat).await;
    assert_ne!(conversation(&theirs[0]), name);
    assert_eq!(action(&theirs[0]), ("compacted", "hard_line"));
}

#[tokio::test]
async fn what_is_believed_of_models_is_each_tenants_own() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ModelConfig {
        window_tokens: 6_000,
        ..ModelConfig::default()
    })
    .await;
    let mut config = config(model.address());
    for_two(&mut config, &folder);
    config.window_tokens = None;
    let proxy = Proxy::start(config.clone()).await;
    let long = request(Wire::OpenaiChat, "nobody-knows-it", history(3, 14, 250));
    let received = post_as(&proxy, KEY_A, Wire::OpenaiChat, &long).await;
    assert_eq!(received.status, 200, "{received:?}");
    proxy.stop().await;
    let proxy = Proxy::start(config).await;
    let believed = async |key: &str| -> Vec<Value> {
        let models = get_as(&proxy, key, "/epitome/v1/models").await.json();
        models["models"].as_array().unwrap().clone()
    };
    let ours = believed(KEY_A).await;
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert_eq!(ours[0]["window_tokens"], 6_000);
    assert_eq!(ours[0]["endpoint"], model.address().to_string());
    assert_eq!(believed(KEY_B).await, Vec::<Value>::new());
}
