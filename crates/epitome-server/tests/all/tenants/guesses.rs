//! Looking up, recalling and guessing what another tenant has: never a hit.
//!
//! 2,000 tries; `EPITOME_CASES=100000` makes as many. What is tried as the one is tried as the other too, so that a try which
//! could never find anything is found out.

use std::collections::BTreeMap;

use epitome_store::{
    AnyStore, Compactions, ConversationId, Conversations, Digest, Entries, EntryRow, Leases,
    NodeRow, Pins, Search, SearchScope, Store, TenantId, TurnRow, Turns,
};
use epitome_testkit::{ModelConfig, Random, Wire};
use http::Method;
use serde_json::json;

use super::{KEY_A, KEY_B, for_two, get_as, id, post_as};
use crate::support::{Folder, Proxy, history, number, pair, request, user};

const TRIES: u64 = 2_000;
/// So many conversations the tenant has that is looked for.
const CONVERSATIONS: u64 = 6;
/// How much of it goes over HTTP: that costs most.
const HTTP_PERCENT: usize = 20;

/// What a tenant has, as somebody might know it or guess it.
struct Known {
    conversations: Vec<ConversationId>,
    compactions: Vec<String>,
    nodes: Vec<NodeRow>,
    entries: Vec<EntryRow>,
    turns: Vec<String>,
    words: Vec<String>,
}

impl Known {
    async fn of(store: &AnyStore, tenant: &TenantId, turn: &str) -> Self {
        let mut known = Self {
            conversations: Vec::new(),
            compactions: Vec::new(),
            nodes: Vec::new(),
            entries: Vec::new(),
            turns: vec![turn.to_owned()],
            words: ["anchor", "lagoon", "harbor question", "Task"]
                .map(str::to_owned)
                .to_vec(),
        };
        for row in store.conversations(tenant, 100).await.unwrap() {
            let tip = store.tip(tenant, &row.id).await.unwrap().unwrap();
            known
                .nodes
                .extend(store.path(tenant, tip.digest).await.unwrap());
            known
                .entries
                .extend(store.history(tenant, tip.digest).await.unwrap());
            let made = store.compactions_of(tenant, &row.id).await.unwrap();
            known.compactions.extend(made.into_iter().map(|one| one.id));
            known.conversations.push(row.id);
        }
        known
    }
}

/// A name as it is, or as somebody would guess it.
fn guessed(random: &mut Random, name: &str) -> String {
    if random.chance(60) {
        return name.to_owned();
    }
    let mut letters: Vec<char> = name.chars().collect();
    for _ in 0..random.between(1, 4) {
        let at = random.below(letters.len());
        letters[at] = *random.pick(&['0', '1', '7', '9', 'a', 'c', 'f']);
    }
    letters.into_iter().collect()
}

fn guessed_digest(random: &mut Random, digest: &Digest) -> Digest {
    let mut bytes = *digest.as_bytes();
    if random.chance(40) {
        bytes[random.below(32)] ^= 1 << random.below(8);
    }
    Digest::from_slice(&bytes).unwrap()
}

/// Tries one way into the store; says which, and how much it found.
async fn look(
    store: &AnyStore,
    tenant: &TenantId,
    known: &Known,
    random: &mut Random,
) -> (&'static str, usize) {
    let conversation = random.pick(&known.conversations).as_str();
    let conversation = ConversationId::new(&guessed(random, conversation)).unwrap();
    let node = random.pick(&known.nodes).digest;
    let node = guessed_digest(random, &node);
    let entry = random.pick(&known.entries).key;
    let entry = guessed_digest(random, &entry);
    let compaction = random.pick(&known.compactions);
    let compaction = guessed(random, compaction);
    let turn = random.pick(&known.turns);
    let turn = guessed(random, turn);
    let word = random.pick(&known.words).clone();
    match random.below(15) {
        0 => (
            "find_nodes",
            store.find_nodes(tenant, &[node]).await.unwrap().len(),
        ),
        1 => ("history", store.history(tenant, node).await.unwrap().len()),
        2 => ("path", store.path(tenant, node).await.unwrap().len()),
        3 => (
            "entry",
            store.entry(tenant, entry).await.unwrap().iter().count(),
        ),
        4 => (
            "compactions_at",
            store.compactions_at(tenant, &[node]).await.unwrap().len(),
        ),
        5 => (
            "compaction",
            store
                .compaction(tenant, &compaction)
                .await
                .unwrap()
                .iter()
                .count(),
        ),
        6 => (
            "compaction_state",
            store
                .compaction_state(tenant, &compaction)
                .await
                .unwrap()
                .iter()
                .count(),
        ),
        7 => (
            "compactions_of",
            store
                .compactions_of(tenant, &conversation)
                .await
                .unwrap()
                .len(),
        ),
        8 => (
            "compactions_along",
            store
                .compactions_along(tenant, &conversation, 9)
                .await
                .unwrap()
                .len(),
        ),
        9 => (
            "conversation",
            store
                .conversation(tenant, &conversation)
                .await
                .unwrap()
                .iter()
                .count(),
        ),
        10 => (
            "tip",
            store
                .tip(tenant, &conversation)
                .await
                .unwrap()
                .iter()
                .count(),
        ),
        11 => {
            let scope = SearchScope::Tenant;
            (
                "search",
                store.search(tenant, &scope, &word, 9).await.unwrap().len(),
            )
        }
        12 => {
            let scope = SearchScope::Conversation(conversation);
            (
                "search within",
                store.search(tenant, &scope, &word, 9).await.unwrap().len(),
            )
        }
        13 => (
            "turns_to",
            store.turns_to(tenant, &turn).await.unwrap().len(),
        ),
        _ => (
            "marked_pins",
            store
                .marked_pins(tenant, &conversation)
                .await
                .unwrap()
                .len(),
        ),
    }
}

/// Tries one way through the control API; says which, and whether anything was found.
async fn ask(
    proxy: &Proxy,
    key: &str,
    known: &Known,
    random: &mut Random,
) -> (&'static str, usize) {
    let conversation = random.pick(&known.conversations).as_str();
    let conversation = guessed(random, conversation);
    let compaction = random.pick(&known.compactions);
    let compaction = guessed(random, compaction);
    let word = random.pick(&known.words).replace(' ', "+");
    let (way, path) = match random.below(7) {
        0 => ("GET conversation", format!("conversations/{conversation}")),
        1 => (
            "GET compactions",
            format!("conversations/{conversation}/compactions"),
        ),
        2 => (
            "GET message",
            format!("conversations/{conversation}/messages/1"),
        ),
        3 => ("GET pins", format!("conversations/{conversation}/pins")),
        4 => (
            "GET recall within",
            format!("conversations/{conversation}/recall?q={word}"),
        ),
        5 => ("GET compaction", format!("compactions/{compaction}")),
        _ => ("GET recall", format!("recall?q={word}")),
    };
    let received = get_as(proxy, key, &format!("/epitome/v1/{path}")).await;
    let body = received.json();
    let hits = body["hits"].as_array().map(Vec::len);
    match received.status {
        404 => (way, 0),
        200 => (way, hits.unwrap_or(1)),
        other => panic!("{way}: {other} {body}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_another_tenant_is_ever_found() {
    let folder = Folder::new();
    let keeping = ModelConfig {
        keeps_answers: true,
        keeps_records: false,
        ..ModelConfig::default()
    };
    let (_model, proxy) = pair(keeping, |config| for_two(config, &folder)).await;
    for seed in 0..CONVERSATIONS {
        let body = request(Wire::OpenaiChat, "m", history(seed, 14, 400));
        let received = post_as(&proxy, KEY_A, Wire::OpenaiChat, &body).await;
        assert_eq!(received.header("x-epitome-action"), "compacted");
    }
    let kept = json!({"model": "m", "input": "Let us begin."});
    let answer = post_as(&proxy, KEY_A, Wire::OpenaiResponses, &kept)
        .await
        .json();
    let turn = answer["id"].as_str().unwrap().to_owned();
    let hello = request(Wire::OpenaiChat, "m", [user("a giraffe of my own")]);
    post_as(&proxy, KEY_B, Wire::OpenaiChat, &hello).await;
    // What the one has is written and indexed before it is looked for.
    let store = folder.open().await;
    let (alpha, beta) = (id("alpha"), id("beta"));
    for _ in 0..6_000 {
        let found = store
            .search(&alpha, &SearchScope::Tenant, "lagoon", 9)
            .await
            .unwrap();
        let turns = store.turns_to(&alpha, &turn).await.unwrap();
        let rows = store.conversations(&alpha, 100).await.unwrap().len() as u64;
        let is_behind = store.unindexed(&alpha, None, 1).await.unwrap().len();
        let own = store
            .search(&beta, &SearchScope::Tenant, "giraffe", 9)
            .await
            .unwrap();
        if !found.is_empty()
            && !turns.is_empty()
            && rows == CONVERSATIONS
            && is_behind == 0
            && !own.is_empty()
        {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let known = Known::of(&store, &alpha, &turn).await;
    assert!(known.compactions.len() as u64 >= CONVERSATIONS && known.nodes.len() > 100);

    let tries = number("EPITOME_CASES").unwrap_or(TRIES);
    let seed = number("EPITOME_SEED").unwrap_or(2_026);
    let mut random = Random::new(seed);
    let mut found: BTreeMap<&str, (u64, usize)> = BTreeMap::new();
    let mut hits = Vec::new();
    for _ in 0..tries {
        let over_http = random.chance(HTTP_PERCENT);
        let (way, count) = match over_http {
            true => ask(&proxy, KEY_B, &known, &mut random).await,
            false => look(&store, &beta, &known, &mut random).await,
        };
        if count > 0 {
            hits.push(way);
        }
        // A tenth as much by the one whose it is: there is something to find in every way.
        if random.chance(10) {
            let (way, count) = match over_http {
                true => ask(&proxy, KEY_A, &known, &mut random).await,
                false => look(&store, &alpha, &known, &mut random).await,
            };
            let (tried, sum) = found.entry(way).or_default();
            *tried += 1;
            *sum += count;
        }
    }
    println!(
        "{tries} tries of another tenant, {} hits; by the one whose it is: {found:?}",
        hits.len()
    );
    assert_eq!(hits, Vec::<&str>::new());
    for (way, (tried, sum)) in &found {
        // Nobody dropped a pin, and what is said a few times only may have been guessed wrong each time.
        assert!(
            *sum > 0 || *tried < 12 || *way == "marked_pins",
            "{way} never finds anything"
        );
    }

    // What names a lease or a turn of another is none of one's own either.
    let conversation = &known.conversations[0];
    let fence = store
        .acquire_lease(&alpha, conversation, "x", 0, i64::MAX)
        .await
        .unwrap();
    assert!(fence.is_some());
    let own = store
        .acquire_lease(&beta, conversation, "y", 0, i64::MAX)
        .await
        .unwrap();
    assert_eq!(own, Some(1), "another's lease keeps nobody away");
    let mine = TurnRow {
        id: "mine".to_owned(),
        previous: Some(turn),
        items: "[]".into(),
        compaction: None,
        at_ms: 1,
    };
    store.keep_turns(&beta, &[mine]).await.unwrap();
    assert_eq!(
        store.turns_to(&beta, "mine").await.unwrap(),
        [],
        "no history through another's"
    );
    store.close().await;
}

/// A turn of another tenant's history is known to nobody else, in memory as little as in the store.
#[tokio::test]
async fn a_history_at_the_provider_is_of_one_tenant() {
    let folder = Folder::new();
    let keeping = ModelConfig {
        keeps_answers: true,
        ..ModelConfig::default()
    };
    let (_model, proxy) = pair(keeping, |config| for_two(config, &folder)).await;
    let ask = async |key: &str, body: serde_json::Value| {
        let path = Wire::OpenaiResponses.path();
        let headers = [("x-epitome-key", key)];
        let body = body.to_string();
        proxy.send(&Method::POST, path, &headers, body).await
    };
    let first = ask(KEY_A, json!({"model": "m", "input": "Remember the heron."})).await;
    let turn = first.json()["id"].clone();
    let next = json!({"model": "m", "previous_response_id": turn, "input": "And now?"});
    let ours = ask(KEY_A, next.clone()).await;
    assert_eq!(ours.header("x-epitome-reason"), "below_line");
    // The provider knows it, and that is between the two of them; here nothing is known.
    let theirs = ask(KEY_B, next).await;
    assert_ne!(
        theirs.header("x-epitome-conversation"),
        ours.header("x-epitome-conversation")
    );
    let size = |received: &epitome_testkit::client::Received| {
        received.header("x-epitome-tokens").to_owned()
    };
    assert_ne!(size(&theirs), size(&ours));
}
