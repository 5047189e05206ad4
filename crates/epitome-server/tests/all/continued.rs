//! Histories that the provider keeps, and refusals that come after a stream began.

use epitome_testkit::{ModelConfig, Refuses, Reply, Script, ScriptedModel, Wire, client};
use http::Method;
use serde_json::{Value, json};

use epitome_server::ConfiguredWindows;
use epitome_store::{Store, TenantId, Turns};

use crate::packed::packed;
use crate::support::{
    Folder, Proxy, action, config, eventually_async, history, last, pair, prose, request,
};

const WINDOW: u64 = 8_000;
const RULE: &str = "Never touch the file prod.env.";

fn keeping() -> ModelConfig {
    ModelConfig {
        window_tokens: WINDOW,
        keeps_answers: true,
        script: Script::Agent {
            tool_every: 0,
            parallel_every: 0,
            words: 60,
        },
        ..ModelConfig::default()
    }
}

/// The id of an answer, streamed or not.
fn id(received: &client::Received, is_streamed: bool) -> String {
    let answer = match is_streamed {
        true => {
            let events = received.events();
            let ends = |event: &&client::Event| event.json()["type"] == "response.completed";
            events.iter().find(ends).unwrap().json()["response"].clone()
        }
        false => received.json(),
    };
    answer["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_at_the_provider_stays_in_its_window() {
    for is_streamed in [false, true] {
        let (model, proxy) = pair(keeping(), |config| {
            config.window_tokens = Some(WINDOW);
        })
        .await;
        let mut previous = Value::Null;
        let mut untouched = 0;
        let mut compacted = 0;
        for turn in 0..60_u64 {
            let text = match turn {
                0 => format!("Let us begin. {RULE}"),
                _ => format!("Step {turn}: {}", prose(turn, 220)),
            };
            let body = json!({
                "model": "m", "stream": is_streamed, "previous_response_id": previous, "input": text,
            });
            let received = proxy.post(Wire::OpenaiResponses, &body).await;
            assert_eq!(received.status, 200, "turn {turn}: {received:?}");
            let sent = last(&model);
            assert_eq!(sent.violations, [], "turn {turn}");
            match action(&received) {
                ("compacted", _) => {
                    compacted += 1;
                    let sent: Value = serde_json::from_slice(&sent.body).unwrap();
                    assert!(sent.get("previous_response_id").is_none_or(Value::is_null));
                    assert!(
                        sent["input"].to_string().contains(RULE),
                        "turn {turn}: {sent}"
                    );
                }
                _ => {
                    untouched += 1;
                    assert_eq!(sent.body, body.to_string(), "turn {turn}");
                }
            }
            previous = json!(id(&received, is_streamed));
        }
        assert!(compacted >= 3, "{compacted} compacted");
        assert!(
            untouched > 3 * compacted,
            "{untouched} untouched, {compacted} compacted"
        );
        let statuses = model.requests();
        assert!(
            statuses.iter().all(|sent| sent.status == Some(200)),
            "nothing was refused"
        );
    }
}

/// A proxy that ends in the middle, once in order and twice without a word, takes no history with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_at_the_provider_survives_the_proxy() {
    let folder = Folder::new();
    let model = ScriptedModel::start(keeping()).await;
    let mut settings = config(model.address());
    settings.window_tokens = Some(WINDOW);
    settings.store = folder.location();
    let mut proxy = Proxy::start(settings.clone()).await;
    let mut previous = Value::Null;
    let mut compacted_after = 0;
    for turn in 0..60_u64 {
        match turn {
            20 | 41 => {
                // What was answered a moment ago is on its way to the store.
                let store = folder.open().await;
                let answer = previous.as_str().unwrap();
                eventually_async("the turn is stored", async || {
                    let turns = store.turns_to(&TenantId::local(), answer).await;
                    turns.unwrap().len() == turn as usize
                })
                .await;
                store.close().await;
                drop(proxy);
                proxy = Proxy::start(settings.clone()).await;
            }
            30 => {
                proxy.stop().await;
                proxy = Proxy::start(settings.clone()).await;
            }
            _ => {}
        }
        let text = match turn {
            0 => format!("Let us begin. {RULE}"),
            _ => format!("Step {turn}: {}", prose(turn, 220)),
        };
        let body = json!({"model": "m", "previous_response_id": previous, "input": text});
        let received = proxy.post(Wire::OpenaiResponses, &body).await;
        assert_eq!(received.status, 200, "turn {turn}: {received:?}");
        let sent = last(&model);
        assert_eq!(sent.violations, [], "turn {turn}");
        if action(&received).0 == "compacted" {
            compacted_after += u32::from(turn > 41);
            assert!(
                sent.json()["input"].to_string().contains(RULE),
                "turn {turn}"
            );
        }
        previous = json!(id(&received, false));
    }
    assert!(
        compacted_after > 0,
        "nothing was shortened after the last start"
    );
    let statuses = model.requests();
    assert!(statuses.iter().all(|sent| sent.status == Some(200)));
    proxy.stop().await;
}

/// What a small model's window forced is not what a larger model goes on from: the history is said in full once, and the
/// provider's own from then on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_larger_model_gets_what_was_left_out_for_a_smaller_one() {
    let large = ModelConfig {
        window_tokens: 200_000,
        ..keeping()
    };
    let (model, proxy) = pair(large, |config| {
        config.windows = ConfiguredWindows::by(|model| match model {
            "small" => Some(WINDOW),
            _ => Some(200_000),
        });
    })
    .await;
    let mut previous = Value::Null;
    let mut said = Vec::new();
    let mut ask = async |name: &str, turn: u64| {
        let text = format!("Step {turn}: {}", prose(turn, 220));
        let body = json!({"model": name, "previous_response_id": previous, "input": text});
        said.push(text);
        let received = proxy.post(Wire::OpenaiResponses, &body).await;
        assert_eq!(received.status, 200, "turn {turn}: {received:?}");
        previous = json!(id(&received, false));
        let (action, reason) = action(&received);
        let as_it_came = last(&model).body == body.to_string();
        (action.to_owned(), reason.to_owned(), as_it_came, said.len())
    };
    let mut turn = 0;
    while ask("small", turn).await.0 != "compacted" {
        turn += 1;
        assert!(turn < 60, "it is never too long");
    }
    let (action, reason, as_it_came, count) = ask("large", turn + 1).await;
    assert_eq!(
        (action.as_str(), reason.as_str()),
        ("passthrough", "server_side_history")
    );
    assert!(!as_it_came);
    let sent = last(&model).json();
    assert!(sent.get("previous_response_id").is_none_or(Value::is_null));
    let input = sent["input"].to_string();
    for at in 0..count {
        assert!(
            input.contains(&format!("Step {at}: ")),
            "step {at} is missing"
        );
    }
    assert_eq!(last(&model).violations, []);
    let (action, _, as_it_came, _) = ask("large", turn + 2).await;
    assert_eq!(action, "passthrough");
    assert!(as_it_came, "the provider has all of it now");
}

/// A conversation that a small model's window has shortened, with a model that has room for all of it.
struct Shortened {
    model: ScriptedModel,
    proxy: Proxy,
    previous: Value,
    turn: u64,
}

impl Shortened {
    async fn new(refuses: Refuses) -> Self {
        let large = ModelConfig {
            window_tokens: 200_000,
            refuses,
            ..keeping()
        };
        let (model, proxy) = pair(large, |config| {
            config.windows = ConfiguredWindows::by(|model| match model {
                "small" => Some(WINDOW),
                _ => Some(200_000),
            });
        })
        .await;
        let mut shortened = Self {
            model,
            proxy,
            previous: Value::Null,
            turn: 0,
        };
        loop {
            let body = shortened.body("small");
            let wire = Wire::OpenaiResponses;
            let received = shortened.proxy.post(wire, &body).await;
            shortened.goes_on(&received);
            if action(&received).0 == "compacted" {
                return shortened;
            }
            assert!(shortened.turn < 60, "it is never too long");
        }
    }

    fn body(&self, model: &str) -> Value {
        let text = format!("Step {}: {}", self.turn, prose(self.turn, 220));
        json!({"model": model, "previous_response_id": self.previous, "input": text})
    }

    async fn post_packed(&self) -> (client::Received, Vec<u8>) {
        let body = packed("gzip", self.body("large").to_string().as_bytes());
        let headers = [("content-encoding", "gzip")];
        let path = Wire::OpenaiResponses.path();
        let received = self
            .proxy
            .send(&Method::POST, path, &headers, body.clone())
            .await;
        (received, body)
    }

    fn goes_on(&mut self, received: &client::Received) {
        assert_eq!(received.status, 200, "turn {}: {received:?}", self.turn);
        self.previous = json!(id(received, false));
        self.turn += 1;
    }
}

/// What the provider keeps may be more than it told: then the history cannot be said in full, and is not said so again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_that_is_refused_in_full_goes_on_at_the_provider() {
    for why in [
        "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item.",
        "Bad request.",
    ] {
        let refuses = Refuses::by(move |asked| {
            let is_full = asked.request["previous_response_id"].is_null();
            let is_long = asked.model() == "large" && is_full;
            is_long.then(|| Reply::error(400, "invalid_request_error", why))
        });
        let mut shortened = Shortened::new(refuses).await;
        for expected in ["rewrite_refused", "below_line", "below_line"] {
            let before = shortened.model.requests().len();
            let body = shortened.body("large");
            let received = shortened.proxy.post(Wire::OpenaiResponses, &body).await;
            shortened.goes_on(&received);
            assert_eq!(action(&received), ("passthrough", expected), "{why}");
            let calls = shortened.model.requests().len() - before;
            assert_eq!(calls, 1 + usize::from(expected == "rewrite_refused"));
            assert_eq!(last(&shortened.model).body, body.to_string());
        }
    }
}

/// A refusal that the client's own request gets too is about the client.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_is_said_in_full_again_where_that_was_not_what_was_refused() {
    let refuses = Refuses::by(|asked| {
        let is_odd = asked.request["temperature"] == 9;
        is_odd.then(|| Reply::error(400, "invalid_request_error", "Bad request."))
    });
    let mut shortened = Shortened::new(refuses).await;
    let mut body = shortened.body("large");
    body["temperature"] = json!(9);
    let received = shortened.proxy.post(Wire::OpenaiResponses, &body).await;
    assert_eq!(received.status, 400);
    body["temperature"] = json!(1);
    let received = shortened.proxy.post(Wire::OpenaiResponses, &body).await;
    assert_eq!(action(&received).1, "server_side_history");
    shortened.goes_on(&received);
}

/// What came packed and is said in full goes out plain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packed_request_is_said_in_full_too() {
    let mut shortened = Shortened::new(Refuses::default()).await;
    let (received, _) = shortened.post_packed().await;
    assert_eq!(action(&received), ("passthrough", "server_side_history"));
    let sent = last(&shortened.model);
    assert_eq!(sent.header("content-encoding"), "");
    assert_eq!(sent.header("content-length"), sent.body.len().to_string());
    let input = sent.json()["input"].to_string();
    let is_said = |at: u64| input.contains(&format!("Step {at}: "));
    assert!((0..=shortened.turn).all(is_said), "{input}");
    shortened.goes_on(&received);
    // The provider has all of it now. This one does not unpack.
    let (received, body) = shortened.post_packed().await;
    assert_eq!(action(&received), ("passthrough", "below_line"));
    assert_eq!(last(&shortened.model).body, body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_went_by_elsewhere_is_the_providers() {
    let (model, proxy) = pair(keeping(), |config| {
        config.window_tokens = Some(WINDOW);
    })
    .await;
    let body = json!({"model": "m", "previous_response_id": "resp_elsewhere", "input": "Go on."});
    let received = proxy.post(Wire::OpenaiResponses, &body).await;
    assert_eq!(action(&received).0, "passthrough");
    assert_eq!(last(&model).body, body.to_string());
    let health = proxy.health().await;
    assert!(
        health["unhelped"]
            .as_object()
            .is_some_and(|unhelped| !unhelped.is_empty())
    );
}

/// A stream that begins like any other and then says that the request was too long.
fn too_long(wire: Wire) -> Reply {
    let events: &[&str] = match wire {
        Wire::OpenaiChat => &[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
            r#"{"error":{"message":"This model's maximum context length is 8000 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        ],
        Wire::OpenaiResponses => &[
            r#"{"type":"response.created","response":{"id":"resp_0","status":"in_progress","output":[]}}"#,
            r#"{"type":"response.in_progress","response":{"id":"resp_0","status":"in_progress","output":[]}}"#,
            r#"{"type":"response.failed","response":{"id":"resp_0","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again."}}}"#,
        ],
        Wire::Anthropic => &[
            r#"{"type":"message_start","message":{"id":"msg_0","type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 8000 maximum"}}"#,
        ],
    };
    let body: String = events
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect();
    Reply::raw(200, "text/event-stream", body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_before_the_first_word_is_not_seen_by_the_client() {
    for (seed, wire) in (1..).zip(Wire::ALL) {
        let model = ModelConfig {
            window_tokens: 100_000,
            script: Script::Fixed(vec![too_long(wire), Reply::text("All is well.")]),
            ..ModelConfig::default()
        };
        let (model, proxy) = pair(model, |config| {
            config.window_tokens = Some(12_000);
        })
        .await;
        let mut body = request(wire, "m", history(seed, 12, 330));
        body["stream"] = json!(true);
        let received = proxy.post(wire, &body).await;
        assert_eq!(received.status, 200);
        assert_eq!(action(&received).0, "compacted", "{wire:?}");
        let text = String::from_utf8_lossy(&received.body).into_owned();
        assert!(
            !text.contains("too long") && !text.contains("exceed"),
            "{text}"
        );
        assert!(
            client::assistant_message(wire, &received).is_some(),
            "{text}"
        );
        assert_eq!(model.requests().len(), 2, "one more call, no more");
    }
}
