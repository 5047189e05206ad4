//! What a tenant may use: beyond it requests go through, and nothing more is kept or paid.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome::PresetName;
use epitome::settings::Settings;
use epitome_engine::Clock;
use epitome_engine::model::{Caller, Endpoint, SpendLedger};
use epitome_engine::summarise::{Style, Templates};
use epitome_server::{Period, QuotaLimits, Summariser, Writes};
use epitome_store::{Conversations, Housekeeping, Store, Usage};
use epitome_testkit::client::Received;
use epitome_testkit::{ModelConfig, ScriptedModel, Wire};
use serde_json::{Value, json};

use super::{KEY_A, KEY_B, for_two, get_as, id, operator, post_as};
use crate::support::{
    Folder, Proxy, action, assistant, config, conversation, eventually_async, history, pair, prose,
    request, user,
};
use crate::traces::designs::writes;

async fn quota(proxy: &Proxy, key: &str) -> Value {
    let own = get_as(proxy, key, "/epitome/v1/tenants").await.json();
    own["tenants"][0].clone()
}

async fn ask(proxy: &Proxy, key: &str, seed: u64) -> Received {
    let body = request(Wire::OpenaiChat, "m", history(seed, 1, 30));
    let received = post_as(proxy, key, Wire::OpenaiChat, &body).await;
    assert_eq!(received.status, 200, "{received:?}");
    received
}

#[tokio::test]
async fn so_many_conversations_are_kept_and_others_go_through() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let mut config = config(model.address());
    for_two(&mut config, &folder);
    config.tenants.tenants[0].limits.conversations = Some(2);
    let proxy = Proxy::start(config.clone()).await;
    let first = ask(&proxy, KEY_A, 1).await;
    for seed in 2..6 {
        ask(&proxy, KEY_A, seed).await;
        ask(&proxy, KEY_B, seed).await;
    }
    // One that is not stored is compacted all the same, the same way each time; one that is goes on.
    let long = request(Wire::OpenaiChat, "m", history(9, 14, 400));
    let left_out = post_as(&proxy, KEY_A, Wire::OpenaiChat, &long).await;
    assert_eq!(action(&left_out), ("compacted", "hard_line"));
    let again = post_as(&proxy, KEY_A, Wire::OpenaiChat, &long).await;
    assert_eq!(action(&again), ("compacted", "epoch"));
    assert_eq!(
        conversation(&ask(&proxy, KEY_A, 1).await),
        conversation(&first)
    );
    let health = proxy.health().await;
    assert_eq!(health["quota_exceeded"]["conversations"], 5, "{health}");
    assert!(health["why"].to_string().contains("quota"), "{health}");
    let own = quota(&proxy, KEY_A).await;
    assert_eq!(own["used_up"], json!(["conversations"]), "{own}");
    assert_eq!(own["quota"]["conversations"]["used"], 2, "{own}");
    assert_eq!(quota(&proxy, KEY_B).await["used_up"], json!([]));
    proxy.stop().await;
    let store = folder.open().await;
    let kept = store.conversations(&id("alpha"), 9).await.unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(store.conversations(&id("beta"), 9).await.unwrap().len(), 4);
    // Another node counts the same rows.
    let proxy = Proxy::start(config).await;
    eventually_async("they are counted", async || {
        quota(&proxy, KEY_A).await["used_up"] == json!(["conversations"])
    })
    .await;
    ask(&proxy, KEY_A, 7).await;
    // What is deleted makes room, in a while.
    let gone = &kept[0].id;
    store
        .delete_conversation(&id("alpha"), gone, 1)
        .await
        .unwrap()
        .unwrap();
    eventually_async("there is room", async || {
        quota(&proxy, KEY_A).await["used_up"] == json!([])
    })
    .await;
    let late = ask(&proxy, KEY_A, 8).await;
    proxy.stop().await;
    let kept = store.conversations(&id("alpha"), 9).await.unwrap();
    let names: Vec<&str> = kept.iter().map(|row| row.id.as_str()).collect();
    assert!(
        names.len() == 2 && names.contains(&conversation(&late).as_str()),
        "{names:?}"
    );
    store.close().await;
}

#[tokio::test]
async fn beyond_its_bytes_nothing_more_is_kept() {
    let folder = Folder::new();
    let (_model, proxy) = pair(ModelConfig::default(), |config| {
        for_two(config, &folder);
        config.tenants.tenants[0].limits.bytes = Some(3_000);
    })
    .await;
    let mut messages = vec![user("Task."), assistant("Yes.")];
    for turn in 0..20 {
        messages.push(user(prose(turn, 100)));
        let body = request(Wire::OpenaiChat, "m", messages.clone());
        let received = post_as(&proxy, KEY_A, Wire::OpenaiChat, &body).await;
        assert_eq!(received.status, 200, "{received:?}");
        messages.push(assistant("Well."));
    }
    // A history that the provider keeps is no way around it.
    let turn = json!({"model": "m", "input": prose(99, 500)});
    let answer = post_as(&proxy, KEY_A, Wire::OpenaiResponses, &turn).await;
    assert_eq!(answer.status, 200);
    let own = quota(&proxy, KEY_A).await;
    assert_eq!(own["used_up"], json!(["bytes"]), "{own}");
    assert!(
        own["quota"]["exceeded"]["bytes"].as_u64().unwrap() > 5,
        "{own}"
    );
    proxy.stop().await;
    let store = folder.open().await;
    let kept = store.usage(&id("alpha")).await.unwrap();
    // The one that goes beyond it is the last.
    assert!((2_000..4_000).contains(&kept.bytes), "{kept:?}");
    store.close().await;
}

/// A model with a price that writes summaries.
fn paid(model: &ScriptedModel) -> Summariser {
    let url = format!("http://{}/v1", model.address());
    let endpoint = Endpoint::new(epitome_wire::Wire::OpenAiChat, &url, "gpt-4o").unwrap();
    Summariser {
        writes: Writes::Model(Caller::new(
            endpoint,
            Arc::new(SpendLedger::default()),
            Clock::default(),
        )),
        style: Style::of(&Settings::of(PresetName::Default)),
        templates: Templates::built_in(),
    }
}

/// Goes on until something was compacted.
async fn converse(proxy: &Proxy, key: &str) {
    let mut messages = vec![user("Keep the books of a harbour."), assistant("Yes.")];
    for turn in 0..40 {
        messages.push(user(prose(turn, 200)));
        messages.push(assistant(prose(turn + 100, 100)));
        messages.push(user(format!("And {turn}?")));
        let body = request(Wire::OpenaiChat, "m", messages.clone());
        let received = post_as(proxy, key, Wire::OpenaiChat, &body).await;
        assert_eq!(received.status, 200, "{received:?}");
        messages.push(assistant("Well."));
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_spent_enough_asks_no_model() {
    let folder = Folder::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let writer =
        "## Goal\nKeep the books of a harbour.\n## Done\nThe clerk walked through the parts.\n";
    let writer = ScriptedModel::start(writes(writer, &asked)).await;
    // Another node has spent it all.
    let today = Clock::default().now_ms() / 86_400_000;
    let store = folder.open().await;
    store
        .add_summary_spend(&id("alpha"), today, 2_000_000_000)
        .await
        .unwrap();
    let limits = QuotaLimits {
        summary_usd: Some(1.5),
        period: Period::Day,
        ..QuotaLimits::default()
    };
    let (_model, proxy) = pair(ModelConfig::default(), |config| {
        for_two(config, &folder);
        config.summariser = Some(paid(&writer));
        for tenant in &mut config.tenants.tenants {
            tenant.limits = limits;
        }
    })
    .await;
    eventually_async("it is known what was spent", async || {
        quota(&proxy, KEY_A).await["used_up"] == json!(["summary_spend"])
    })
    .await;
    converse(&proxy, KEY_A).await;
    assert_eq!(asked.load(Ordering::SeqCst), 0, "a model was asked");
    let own = quota(&proxy, KEY_A).await;
    assert!(own["shortened"].as_u64().unwrap() > 0, "{own}");
    assert!(
        own["quota"]["exceeded"]["summary_spend"].as_u64().unwrap() > 0,
        "{own}"
    );
    assert_eq!(own["quota"]["summary_usd"]["limit"], 1.5, "{own}");
    // All of it is kept, and the other one has its own purse.
    converse(&proxy, KEY_B).await;
    assert!(asked.load(Ordering::SeqCst) > 0, "nobody was asked");
    eventually_async("it is booked", async || {
        store.summary_spend(&id("beta"), today).await.unwrap() > 0
    })
    .await;
    let (spent, theirs) = (quota(&proxy, KEY_A).await, quota(&proxy, KEY_B).await);
    assert_eq!(spent["own_spend_usd"], 0.0, "{spent}");
    assert!(theirs["own_spend_usd"].as_f64().unwrap() > 0.0, "{theirs}");
    let all = operator(&proxy, "/epitome/v1/tenants").await.json();
    assert_eq!(all["tenants"], json!([spent, theirs]));
    proxy.stop().await;
    assert_eq!(store.conversations(&id("alpha"), 9).await.unwrap().len(), 1);
    store.close().await;
}
