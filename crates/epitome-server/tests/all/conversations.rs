//! Many conversations at once: none ever sees a word of another, and none outgrows its window.

use std::collections::HashSet;
use std::sync::Arc;

use epitome_server::StoreLocation;
use epitome_store::CompactionState;
use epitome_testkit::client::assistant_message;
use epitome_testkit::{ModelConfig, Script, ScriptedModel, Wire};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{
    Folder, Proxy, action, conversation, last, pair, prose, raw_messages, request, summary, user,
};

const WINDOW: u64 = 6_000;
const CONVERSATIONS: usize = 20;
const TURNS: usize = 26;

fn model() -> ModelConfig {
    ModelConfig {
        window_tokens: WINDOW,
        script: Script::Agent {
            tool_every: 0,
            parallel_every: 0,
            words: 90,
        },
        ..ModelConfig::default()
    }
}

fn secret(who: usize, turn: usize) -> String {
    format!("secret-{who:02}-{turn:02}-word")
}

/// One conversation of many: the same first message and system prompt, then words of its own.
async fn talk(proxy: Arc<Proxy>, wire: Wire, who: usize) -> Vec<String> {
    let mut messages = vec![user("Help me with my project, please.")];
    let mut ids = Vec::new();
    for turn in 0..TURNS {
        let mut body = request(wire, "m", messages.clone());
        match wire {
            Wire::Anthropic => body["system"] = json!("You are a helpful assistant."),
            Wire::OpenaiResponses => body["instructions"] = json!("You are a helpful assistant."),
            Wire::OpenaiChat => {
                let system = json!({"role": "system", "content": "You are a helpful assistant."});
                body["messages"].as_array_mut().unwrap().insert(0, system);
            }
        }
        body["stream"] = json!(turn % 2 == 0);
        let received = proxy.post(wire, &body).await;
        assert_eq!(received.status, 200, "{who} {turn}: {received:?}");
        ids.push(conversation(&received));
        messages.push(assistant_message(wire, &received).unwrap());
        let filler = prose((who * 100 + turn) as u64, 150);
        let word = secret(who, turn);
        messages.push(user(format!("Remember {word}. {filler} Use {word}.")));
    }
    ids
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_conversations_with_equal_beginnings_never_mix() {
    let folder = Folder::new();
    let (model, proxy) = pair(model(), |config| {
        config.window_tokens = Some(WINDOW);
        config.store = folder.location();
    })
    .await;
    let proxy = Arc::new(proxy);
    let mut talks = JoinSet::new();
    for who in 0..CONVERSATIONS {
        let wire = Wire::MESSAGES[who % 2];
        talks.spawn(talk(Arc::clone(&proxy), wire, who));
    }
    let mut final_ids = HashSet::new();
    while let Some(ids) = talks.join_next().await {
        let ids = ids.unwrap();
        // One conversation from the moment that it differs from the others.
        let own: HashSet<_> = ids.iter().skip(1).collect();
        assert_eq!(own.len(), 1, "{ids:?}");
        final_ids.insert(ids[TURNS - 1].clone());
    }
    assert_eq!(final_ids.len(), CONVERSATIONS);

    let requests = model.requests();
    assert_eq!(
        requests.len(),
        CONVERSATIONS * TURNS,
        "no retries, no losses"
    );
    let mut compacted = 0;
    for sent in &requests {
        let text = String::from_utf8_lossy(&sent.body);
        let owners: HashSet<&str> = text
            .match_indices("secret-")
            .map(|(at, _)| &text[at + 7..at + 9])
            .collect();
        assert!(owners.len() <= 1, "mixed: {owners:?}");
        assert!(sent.violations.is_empty(), "{:?}", sent.violations);
        assert_eq!(sent.status, Some(200));
        let input = sent.input_tokens.unwrap();
        assert!(input + WINDOW / 4 <= WINDOW, "{input} above the hard line");
        if let Some(summary) = summary(&sent.body) {
            compacted += 1;
            // The summary comes from this conversation and from nowhere else.
            for (at, _) in summary.match_indices("secret-") {
                assert_eq!(Some(&&summary[at + 7..at + 9]), owners.iter().next());
            }
        }
    }
    assert!(compacted > CONVERSATIONS * TURNS / 3, "{compacted}");
    let rows = folder.compactions().await;
    let owners: HashSet<_> = rows.iter().map(|row| row.conversation.as_str()).collect();
    assert_eq!(
        owners.len(),
        CONVERSATIONS,
        "each has its compactions in the store"
    );
}

/// A conversation driven turn by turn.
struct Talk {
    wire: Wire,
    messages: Vec<Value>,
    turn: u64,
    seed: u64,
}

impl Talk {
    fn new(wire: Wire, seed: u64) -> Self {
        Self {
            wire,
            messages: vec![user(format!("The task of {seed}: keep the numbers."))],
            turn: 0,
            seed,
        }
    }

    fn request(&self) -> Value {
        request(self.wire, "m", self.messages.clone())
    }

    fn grow(&mut self, tokens: usize) {
        let seed = self.seed * 1_000 + self.turn;
        self.turn += 1;
        self.messages.push(crate::support::assistant(format!(
            "Noted {}.",
            prose(seed, tokens)
        )));
        self.messages.push(user(format!(
            "Number {seed}, {}.",
            prose(seed + 500, tokens)
        )));
    }

    /// Grows until the proxy compacts; gives the summary and the conversation.
    async fn until_compacted(&mut self, proxy: &Proxy, model: &ScriptedModel) -> (String, String) {
        for _ in 0..40 {
            let received = proxy.post(self.wire, &self.request()).await;
            assert_eq!(received.status, 200);
            if action(&received).0 == "compacted" {
                return (summary(&last(model).body).unwrap(), conversation(&received));
            }
            self.grow(200);
        }
        panic!("never compacted");
    }
}

#[tokio::test]
async fn retries_keep_the_conversation_and_the_bytes() {
    let (model, proxy) = pair(model(), |config| config.window_tokens = Some(WINDOW)).await;
    for (seed, wire) in (1..).zip(Wire::MESSAGES) {
        let mut talk = Talk::new(wire, seed);
        for turn in 0..16 {
            let body = talk.request();
            let first = proxy.post(wire, &body).await;
            let sent = last(&model).body;
            for _ in 0..2 {
                let again = proxy.post(wire, &body).await;
                assert_eq!(conversation(&again), conversation(&first), "turn {turn}");
                assert_eq!(last(&model).body, sent, "turn {turn}");
            }
            talk.grow(200);
        }
        assert!(summary(&last(&model).body).is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_goes_on_with_the_same_epoch_and_conversation() {
    for (seed, wire) in (1..).zip(Wire::MESSAGES) {
        let folder = Folder::new();
        let model = ScriptedModel::start(model()).await;
        let mut config = crate::support::config(model.address());
        config.window_tokens = Some(WINDOW);
        config.store = folder.location();
        let proxy = Proxy::start(config.clone()).await;
        let mut talk = Talk::new(wire, seed);
        let (frozen, id) = talk.until_compacted(&proxy, &model).await;
        let sent = last(&model).body;
        proxy.stop().await;

        let proxy = Proxy::start(config.clone()).await;
        let received = proxy.post(wire, &talk.request()).await;
        assert_eq!(action(&received), ("compacted", "epoch"));
        assert_eq!(last(&model).body, sent, "the same request, the same bytes");
        assert_eq!(conversation(&received), id);
        proxy.stop().await;

        talk.grow(50);
        let proxy = Proxy::start(config).await;
        let received = proxy.post(wire, &talk.request()).await;
        assert_eq!(action(&received), ("compacted", "epoch"));
        assert_eq!(summary(&last(&model).body).unwrap(), frozen);
        assert_eq!(conversation(&received), id);
        let mut rows = folder.compactions().await;
        rows.retain(|row| row.state == CompactionState::Published);
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert!(frozen.contains(&json!(rows[0].summary).to_string()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_knows_a_conversation_of_three_large_messages() {
    let folder = Folder::new();
    let model = ScriptedModel::start(model()).await;
    let mut config = crate::support::config(model.address());
    config.window_tokens = Some(WINDOW);
    config.store = folder.location();
    let messages = [
        user("Short task."),
        crate::support::assistant(prose(1, 5_400)),
        user("And now?"),
    ];
    let body = request(Wire::OpenaiChat, "m", messages);
    let proxy = Proxy::start(config.clone()).await;
    let first = proxy.post(Wire::OpenaiChat, &body).await;
    assert_eq!(action(&first), ("compacted", "hard_line"));
    let sent = last(&model).body;
    proxy.stop().await;
    let proxy = Proxy::start(config).await;
    let second = proxy.post(Wire::OpenaiChat, &body).await;
    assert_eq!(last(&model).body, sent);
    assert_eq!(conversation(&second), conversation(&first));
    assert_eq!(action(&second), ("compacted", "epoch"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_proxies_on_one_store_forward_the_same_bytes() {
    for (seed, wire) in (1..).zip(Wire::MESSAGES) {
        let folder = Folder::new();
        two_proxies_forward_the_same_bytes(seed, wire, folder.location()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_proxies_on_one_postgres_forward_the_same_bytes() {
    for (seed, wire) in (1..).zip(Wire::MESSAGES) {
        let Some(database) = epitome_testkit::postgres::database().await else {
            return;
        };
        let location = StoreLocation::Url(database.url().to_owned());
        two_proxies_forward_the_same_bytes(seed, wire, location).await;
    }
}

async fn two_proxies_forward_the_same_bytes(seed: u64, wire: Wire, location: StoreLocation) {
    let model = ScriptedModel::start(model()).await;
    let mut config = crate::support::config(model.address());
    config.window_tokens = Some(WINDOW);
    config.store = location;
    let proxies = [
        Proxy::start(config.clone()).await,
        Proxy::start(config).await,
    ];
    let mut random = epitome_testkit::Random::new(seed);
    let mut talk = Talk::new(wire, seed);
    let mut frozen: Option<String> = None;
    let mut swaps = 0;
    for turn in 0..30 {
        // Either node gets a request first, and a client repeats it at the other one. Both see every count: what one
        // alone has seen counted is not known to the other before it starts again.
        let first = random.between(0, 1);
        let mut bodies = Vec::new();
        let mut ids = Vec::new();
        let mut said = Vec::new();
        for at in [first, 1 - first] {
            let received = proxies[at].post(wire, &talk.request()).await;
            assert_eq!(received.status, 200);
            bodies.push(last(&model).body);
            ids.push(conversation(&received));
            said.push(format!("{:?}", action(&received)));
        }
        if let [one, other] = &bodies[..] {
            assert_eq!(
                summary(one),
                summary(other),
                "{wire:?} turn {turn}: {said:?}"
            );
            assert_eq!(raw_messages(one), raw_messages(other));
        }
        let now = summary(&bodies[0]);
        if now != frozen {
            assert!(now.is_some(), "an epoch is not given up");
            frozen = now;
            swaps += 1;
        }
        talk.grow(120);
    }
    assert!((2..=6).contains(&swaps), "{swaps}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_knows_nearly_all_of_a_conversation_still_takes_the_epoch_of_another() {
    for (seed, wire) in (1..).zip(Wire::MESSAGES) {
        let folder = Folder::new();
        let model = ScriptedModel::start(model()).await;
        let mut config = crate::support::config(model.address());
        config.window_tokens = Some(WINDOW);
        config.store = folder.location();
        let [one, other] = [
            Proxy::start(config.clone()).await,
            Proxy::start(config).await,
        ];
        let mut talk = Talk::new(wire, seed);
        for _ in 0..4 {
            talk.grow(200);
        }
        for proxy in [&one, &other] {
            let received = proxy.post(wire, &talk.request()).await;
            assert_eq!(action(&received), ("passthrough", "below_line"));
            // Entry writes trail the answer; a node only knows what another has written.
            folder.wait_for_conversation().await;
        }
        talk.grow(1_600);
        let received = one.post(wire, &talk.request()).await;
        assert_eq!(action(&received), ("compacted", "hard_line"));
        let frozen = summary(&last(&model).body);
        let id = conversation(&received);
        // It is published once the provider took it, just behind the answer.
        folder.wait_for_publication().await;
        // A little more than the first node compacted, and only a little that the second has not seen.
        talk.messages.push(user(prose(77, 300)));
        let received = other.post(wire, &talk.request()).await;
        assert_eq!(action(&received), ("compacted", "epoch"));
        assert_eq!(summary(&last(&model).body), frozen);
        assert_eq!(conversation(&received), id);
    }
}
