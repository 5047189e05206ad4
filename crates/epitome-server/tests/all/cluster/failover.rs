//! The primary dies, its synchronous standby takes over, and the address leads there.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use epitome_server::StoreLocation;
use epitome_store::{
    AnyStore, Append, Claimed, CompactionState, ConversationId, Digest, Entries, EntryRow,
    JobClaim, Jobs, NewConversation, NodeRow, Store, TenantId,
};
use epitome_testkit::client::assistant_message;
use epitome_testkit::postgres::{self, Relay};
use epitome_testkit::{ScriptedModel, Wire};
use serde_json::Value;

use super::{jobs, model, stored_compactions, stored_messages};
use crate::support::{
    Proxy, action, config, eventually_async, last, prose, raw_messages, request, summary, user,
};

const WINDOW: u64 = 6_000;
const HOUR_MS: i64 = 3_600_000;

/// One message more in a log of its own.
fn link(at: u32) -> Append {
    let digest = |at: u32| Digest::of(format!("link {at}").as_bytes());
    let raw = Bytes::from(format!("{{\"content\":\"message {at} \\u0000 ü\"}}"));
    let id = ConversationId::new("written-beside").unwrap();
    Append {
        conversation: NewConversation {
            id: id.clone(),
            parent: None,
            label: None,
            created_ms: 1,
        },
        entries: vec![EntryRow {
            key: Digest::of(&raw),
            raw,
            wire: "openai-chat".to_owned(),
            tokens: 1,
        }],
        nodes: vec![NodeRow {
            digest: digest(at),
            parent: at.checked_sub(1).map(digest),
            entry: Digest::of(format!("{{\"content\":\"message {at} \\u0000 ü\"}}").as_bytes()),
            position: at,
            conversation: id,
        }],
        words: Vec::new(),
        touched_ms: 1,
    }
}

/// Writes one message after the other until it is told to stop; how many were acknowledged.
async fn write(store: AnyStore, stop: Arc<AtomicBool>) -> u32 {
    let tenant = TenantId::new("beside").unwrap();
    let mut acknowledged = 0;
    while !stop.load(Ordering::SeqCst) {
        match store.append(&tenant, &link(acknowledged)).await {
            Ok(()) => acknowledged += 1,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    acknowledged
}

struct Talk {
    messages: Vec<Value>,
    turn: u64,
    /// How often both nodes knew what they asked for, and said the same.
    alike: u64,
    /// How often each node had asked in vain by then.
    excused: BTreeMap<SocketAddr, u64>,
}

/// How often each node asked in vain.
async fn missed(proxies: [&Proxy; 2]) -> BTreeMap<SocketAddr, u64> {
    let mut missed = BTreeMap::new();
    for proxy in proxies {
        let health = proxy.health().await;
        let counted = |what: &str| health[what].as_u64().unwrap();
        let all = counted("store_deadlines") + counted("store_failures");
        missed.insert(proxy.address, all);
    }
    missed
}

impl Talk {
    /// The next request, sent to one proxy and then to the other: the same bytes reach the model.
    async fn turn(&mut self, model: &ScriptedModel, proxies: [&Proxy; 2]) -> Option<String> {
        self.turn += 1;
        let words = format!("Turn {}. {}", self.turn, prose(self.turn, 300));
        self.messages.push(user(words));
        let body = request(Wire::OpenaiChat, "m", self.messages.clone());
        let before = missed(proxies).await;
        let mut bodies = Vec::new();
        let mut answers = Vec::new();
        for proxy in proxies {
            let received = proxy.post(Wire::OpenaiChat, &body).await;
            assert_eq!(received.status, 200, "turn {}: {received:?}", self.turn);
            let sent = last(model);
            assert!(sent.violations.is_empty(), "{:?}", sent.violations);
            assert!(sent.input_tokens.unwrap() <= WINDOW, "turn {}", self.turn);
            bodies.push((sent.body, format!("{:?}", action(&received))));
            answers.push(assistant_message(Wire::OpenaiChat, &received).unwrap());
        }
        // Who asked in vain goes on with what it knows, and counts it. Until the two say the same again they may differ: what one
        // of them did not learn then, nobody tells it later.
        let now = missed(proxies).await;
        let (one, other) = (raw_messages(&bodies[0].0), raw_messages(&bodies[1].0));
        if one == other {
            self.alike += u64::from(now == before);
            self.excused.extend(now);
        } else {
            let then = |proxy| self.excused.get(proxy).copied().unwrap_or_default();
            let in_vain = now.iter().any(|(proxy, now)| *now > then(proxy));
            let said = (&bodies[0].1, &bodies[1].1);
            assert!(in_vain, "turn {}: {said:?}: {one:?} {other:?}", self.turn);
        }
        self.messages.push(answers.swap_remove(0));
        summary(&bodies[0].0)
    }
}

async fn claim(store: &AnyStore, name: &str, holder: &str, lasts_ms: i64) -> Claimed {
    let id = ConversationId::new(name).unwrap();
    let claim = JobClaim {
        conversation: &id,
        reason: "near_line",
        holder,
        now_ms: 0,
        until_ms: lasts_ms,
        most_running: 9,
    };
    store.claim_job(&TenantId::local(), &claim).await.unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test owns its runtime")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_takes_over_and_nothing_is_lost() {
    let Some(mut primary) = postgres::own_cluster() else {
        return;
    };
    let relay = Relay::to_cluster(&primary);
    let standby = primary.synchronous_standby();
    let model = ScriptedModel::start(model(WINDOW)).await;
    let mut config = config(model.address());
    config.window_tokens = Some(WINDOW);
    config.store = StoreLocation::Url(relay.url().to_owned());
    let one = Proxy::start(config.clone()).await;
    let other = Proxy::start(config.clone()).await;
    let mut talk = Talk {
        messages: Vec::new(),
        turn: 0,
        alike: 0,
        excused: BTreeMap::new(),
    };
    let mut frozen = None;
    while frozen.is_none() {
        frozen = talk.turn(&model, [&one, &other]).await;
        assert!(talk.turn < 40, "nothing was compacted");
    }
    let store = AnyStore::open(relay.url()).await.unwrap();
    eventually_async("what was shown is published", async || {
        let rows = stored_compactions(&store).await;
        rows.iter()
            .any(|row| row.state == CompactionState::Published)
    })
    .await;
    let held = claim(&store, "held", "one", HOUR_MS).await;
    let lapsed = claim(&store, "lapsed", "dead", 0).await;
    let granted = |claimed| matches!(claimed, Claimed::Granted { tries: 1, .. });
    assert!(granted(held) && granted(lapsed));
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn(write(store.clone(), Arc::clone(&stop)));
    tokio::time::sleep(Duration::from_millis(300)).await;

    let before = stored_messages(&store).await;
    primary.kill();
    // In between there is no server at all, and requests go through.
    let shown = talk.turn(&model, [&one, &one]).await;
    assert!(shown.is_some(), "an epoch is not given up");
    standby.promote();
    relay.switch_to(&standby);
    for _ in 0..6 {
        let now = talk.turn(&model, [&one, &other]).await;
        assert!(now.is_some(), "an epoch is not given up");
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.store(true, Ordering::SeqCst);
    let acknowledged = writer.await.unwrap();
    assert!(acknowledged > 20, "{acknowledged}");

    // Every acknowledged message, byte for byte.
    let tenant = TenantId::new("beside").unwrap();
    let tip = link(acknowledged - 1).nodes[0].digest;
    let history = store.history(&tenant, tip).await.unwrap();
    let expected: Vec<EntryRow> = (0..acknowledged).flat_map(|at| link(at).entries).collect();
    assert_eq!(history, expected);
    for proxy in [&one, &other] {
        eventually_async("it is well again", async || {
            proxy.health().await["status"] == "ok"
        })
        .await;
    }
    // What is asked by a node that was not there before.
    let third = Proxy::start(config).await;
    let fresh = talk.turn(&model, [&third, &one]).await;
    assert!(fresh.is_some());
    // No job is stuck: one goes on with what it holds, the other is taken over.
    let Claimed::Granted { fence, .. } = held else {
        unreachable!();
    };
    let id = ConversationId::new("held").unwrap();
    let tenant = TenantId::local();
    assert_eq!(claim(&store, "held", "two", HOUR_MS).await, Claimed::Taken);
    assert!(store.finish_job(&tenant, &id, fence).await.unwrap());
    let taken = claim(&store, "lapsed", "two", HOUR_MS).await;
    let Claimed::Granted { fence, tries: 2 } = taken else {
        panic!("{taken:?}");
    };
    let id = ConversationId::new("lapsed").unwrap();
    assert!(store.finish_job(&tenant, &id, fence).await.unwrap());
    assert_eq!(jobs(&third).await, Vec::<Value>::new());
    for proxy in [one, other, third] {
        proxy.stop().await;
    }
    let after: BTreeSet<Vec<String>> = stored_messages(&store).await.into_iter().collect();
    for conversation in before {
        let is_there = |whole: &Vec<String>| whole.starts_with(&conversation);
        assert!(after.iter().any(is_there), "a conversation is not whole");
    }
    let rows = stored_compactions(&store).await;
    assert!(
        rows.iter()
            .any(|row| row.state == CompactionState::Published)
    );
    assert!(talk.alike * 2 > talk.turn, "too slow to prove anything");
    println!(
        "{acknowledged} messages were acknowledged around the failover, {} of {} turns compared, {} compactions",
        talk.alike,
        talk.turn,
        rows.len()
    );
    store.close().await;
}
