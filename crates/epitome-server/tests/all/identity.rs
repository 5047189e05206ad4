//! Which epoch a request gets: that of its own past, whatever the client changes around it, and no other.

use epitome_testkit::client::Received;
use epitome_testkit::{ModelConfig, Script, ScriptedModel, Wire};
use serde_json::{Value, json};

use crate::support::{
    Folder, Proxy, action, assistant, conversation, history, last, pair, prose, raw_messages,
    request, summary, user,
};

const WINDOW: u64 = 8_000;

async fn start() -> (ScriptedModel, Proxy) {
    let model = ModelConfig {
        window_tokens: WINDOW,
        script: Script::Agent {
            tool_every: 0,
            parallel_every: 0,
            words: 20,
        },
        ..ModelConfig::default()
    };
    pair(model, |config| config.window_tokens = Some(WINDOW)).await
}

/// A conversation just compacted, with what was sent.
struct Compacted {
    wire: Wire,
    messages: Vec<Value>,
    summary: String,
    conversation: String,
    /// How many messages of the client the summary stands for, the task in front of it included.
    covered: usize,
}

impl Compacted {
    async fn make(model: &ScriptedModel, proxy: &Proxy, wire: Wire, seed: u64) -> Self {
        let messages = history(seed, 12, 350);
        let received = proxy
            .post(wire, &request(wire, "m", messages.clone()))
            .await;
        assert_eq!(action(&received), ("compacted", "hard_line"));
        let sent = last(model).body;
        Self {
            wire,
            summary: summary(&sent).unwrap(),
            conversation: conversation(&received),
            covered: messages.len() + 2 - raw_messages(&sent).len(),
            messages,
        }
    }

    fn request(&self) -> Value {
        request(self.wire, "m", self.messages.clone())
    }

    fn go_on(&mut self, text: &str) {
        self.messages.push(assistant(format!("Done: {text}")));
        self.messages.push(user(text));
    }
}

async fn assert_kept(model: &ScriptedModel, before: &Compacted, received: &Received, what: &str) {
    assert_eq!(action(received), ("compacted", "epoch"), "{what}");
    assert_eq!(
        summary(&last(model).body).as_ref(),
        Some(&before.summary),
        "{what}"
    );
    assert_eq!(last(model).status, Some(200), "{what}");
}

#[tokio::test]
async fn the_epoch_survives_everything_ordinary() {
    let (model, proxy) = start().await;
    for (seed, wire) in (1..).zip(Wire::MESSAGES) {
        let mut talk = Compacted::make(&model, &proxy, wire, seed).await;
        talk.go_on("next");

        let mut switched = talk.request();
        switched["model"] = json!("another-model");
        let received = proxy.post(wire, &switched).await;
        assert_kept(&model, &talk, &received, "another model").await;
        assert_eq!(conversation(&received), talk.conversation);
        assert_eq!(last(&model).json()["model"], "another-model");

        let mut changed = talk.request();
        changed["temperature"] = json!(0.9);
        changed["tools"] = match wire {
            Wire::OpenaiChat => json!([{"type": "function", "function": {"name": "f"}}]),
            Wire::OpenaiResponses => json!([{"type": "function", "name": "f"}]),
            Wire::Anthropic => json!([{"name": "f", "input_schema": {"type": "object"}}]),
        };
        match wire {
            Wire::Anthropic => changed["system"] = json!("Today is another day."),
            Wire::OpenaiResponses => changed["instructions"] = json!("Today is another day."),
            Wire::OpenaiChat => changed["messages"].as_array_mut().unwrap().insert(
                0,
                json!({"role": "system", "content": "Today is another day."}),
            ),
        }
        let received = proxy.post(wire, &changed).await;
        assert_kept(&model, &talk, &received, "another system prompt and tools").await;
        assert!(String::from_utf8_lossy(&last(&model).body).contains("another day"));

        let mut reminded = talk.request();
        let reminder = "<system-reminder>You have 3 open to-dos.</system-reminder>";
        for at in [1, reminded["messages"].as_array().unwrap().len() - 1] {
            let list = reminded["messages"].as_array_mut().unwrap();
            let at = if at == 1 { 2 } else { at };
            let text = list[at]["content"].clone();
            list[at]["content"] =
                json!([{"type": "text", "text": text}, {"type": "text", "text": reminder}]);
        }
        let received = proxy.post(wire, &reminded).await;
        assert_kept(&model, &talk, &received, "reminders").await;
        assert_eq!(conversation(&received), talk.conversation);
    }
}

#[tokio::test]
async fn moving_cache_marks_keep_the_epoch() {
    let (model, proxy) = start().await;
    let mut talk = Compacted::make(&model, &proxy, Wire::Anthropic, 3).await;
    for turn in 0..4 {
        let mut marked = talk.request();
        let list = marked["messages"].as_array_mut().unwrap();
        for at in [list.len() - 1, list.len() - 3, 5] {
            let text = list[at]["content"].clone();
            list[at]["content"] = json!([
                {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
            ]);
        }
        let received = proxy.post(Wire::Anthropic, &marked).await;
        assert_eq!(action(&received), ("compacted", "epoch"), "turn {turn}");
        assert_eq!(conversation(&received), talk.conversation);
        let sent = last(&model);
        assert!(sent.violations.is_empty(), "{:?}", sent.violations);
        // The mark of the removed message sits on the summary; its text is the frozen one.
        let frozen = talk.summary.strip_suffix("}]}").unwrap();
        assert!(summary(&sent.body).unwrap().starts_with(frozen));
        assert_eq!(
            String::from_utf8_lossy(&sent.body)
                .matches("cache_control")
                .count(),
            3
        );
        talk.go_on(&format!("turn {turn}"));
    }
}

#[tokio::test]
async fn a_fork_from_the_middle_keeps_the_epoch_before_it_and_gets_its_own_name() {
    let (model, proxy) = start().await;
    for (seed, wire) in (10..).zip(Wire::MESSAGES) {
        let mut talk = Compacted::make(&model, &proxy, wire, seed).await;
        let fork_at = talk.messages.len();
        for turn in 0..5 {
            talk.go_on(&format!("main line {turn}"));
            let received = proxy.post(wire, &talk.request()).await;
            assert_eq!(conversation(&received), talk.conversation);
        }
        let mut fork = talk.messages[..fork_at].to_vec();
        fork.push(assistant("Something else."));
        fork.push(user("A branch."));
        let received = proxy.post(wire, &request(wire, "m", fork.clone())).await;
        assert_kept(&model, &talk, &received, "fork").await;
        let name = conversation(&received);
        assert_ne!(name, talk.conversation, "a fork has its own name");
        assert!(!String::from_utf8_lossy(&last(&model).body).contains("main line"));

        // Both go on, each under its own name.
        for turn in 0..3 {
            fork.push(assistant("Fine."));
            fork.push(user(format!("Branch {turn}.")));
            let received = proxy.post(wire, &request(wire, "m", fork.clone())).await;
            assert_eq!(conversation(&received), name, "branch, turn {turn}");
            talk.go_on(&format!("main line again {turn}"));
            let received = proxy.post(wire, &talk.request()).await;
            assert_eq!(
                conversation(&received),
                talk.conversation,
                "main, turn {turn}"
            );
            assert_kept(&model, &talk, &received, "main line").await;
        }
    }
}

#[tokio::test]
async fn a_fork_inside_the_covered_span_gets_no_epoch() {
    let (model, proxy) = start().await;
    for (seed, wire) in (20..).zip(Wire::MESSAGES) {
        let talk = Compacted::make(&model, &proxy, wire, seed).await;
        let mut fork = talk.messages[..talk.covered / 2 / 2 * 2 + 1].to_vec();
        fork.push(assistant("Something else."));
        fork.push(user("A branch."));
        let body = request(wire, "m", fork).to_string();
        let received = proxy.post_bytes(wire, body.clone()).await;
        assert_eq!(action(&received), ("passthrough", "below_line"));
        assert_eq!(last(&model).body, body);
        assert_ne!(conversation(&received), talk.conversation);
    }
}

#[tokio::test]
async fn an_edit_inside_the_covered_span_is_a_miss() {
    let (model, proxy) = start().await;
    for (seed, wire) in (30..).zip(Wire::MESSAGES) {
        let talk = Compacted::make(&model, &proxy, wire, seed).await;
        for at in [0, 3, talk.covered - 1] {
            let mut edited = talk.messages.clone();
            let role = edited[at]["role"].clone();
            edited[at] = json!({"role": role, "content": format!("edited {}", prose(99, 300))});
            let received = proxy.post(wire, &request(wire, "m", edited)).await;
            // Still too large, so it is compacted, but from what it says now.
            assert_eq!(
                action(&received),
                ("compacted", "hard_line"),
                "edit at {at}"
            );
            let sent = last(&model);
            assert_eq!(sent.status, Some(200));
            assert_ne!(conversation(&received), talk.conversation, "edit at {at}");
            if at == 0 {
                assert!(raw_messages(&sent.body)[0].contains("edited"));
            }
        }
        // The old branch is as it was.
        let received = proxy.post(wire, &talk.request()).await;
        assert_kept(&model, &talk, &received, "old branch").await;
    }
}

#[tokio::test]
async fn an_edit_behind_the_covered_span_keeps_the_epoch() {
    let (model, proxy) = start().await;
    for (seed, wire) in (40..).zip(Wire::MESSAGES) {
        let talk = Compacted::make(&model, &proxy, wire, seed).await;
        let mut edited = talk.messages.clone();
        let at = edited.len() - 1;
        edited[at] = user("Another last question.");
        let received = proxy.post(wire, &request(wire, "m", edited)).await;
        assert_kept(&model, &talk, &received, "edit behind").await;
        assert!(String::from_utf8_lossy(&last(&model).body).contains("Another last question."));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_secret_means_another_identity() {
    // Two stores: what one knows means nothing to the other, and nothing is shared by accident.
    let folders = [Folder::new(), Folder::new()];
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let body = request(Wire::OpenaiChat, "m", history(50, 3, 50));
    let mut ids = Vec::new();
    for folder in &folders {
        let mut config = crate::support::config(model.address());
        config.store = folder.location();
        let proxy = Proxy::start(config).await;
        ids.push(conversation(&proxy.post(Wire::OpenaiChat, &body).await));
        proxy.stop().await;
    }
    assert_ne!(ids[0], ids[1]);
}
