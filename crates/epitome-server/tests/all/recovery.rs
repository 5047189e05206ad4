//! What happens when a provider says no: one better try, or its own words.

use std::io::Write;

use epitome_store::CompactionState;
use epitome_testkit::{
    Chunking, Fault, Faults, ModelConfig, Reply, Script, ScriptedModel, Wire, client,
};
use serde_json::{Value, json};

use crate::support::{
    Folder, Proxy, action, assert_splice, assistant, history, last, pair, prose, request, summary,
    user,
};

fn short_answers(window_tokens: u64) -> ModelConfig {
    ModelConfig {
        window_tokens,
        script: Script::Agent {
            tool_every: 0,
            parallel_every: 0,
            words: 20,
        },
        ..ModelConfig::default()
    }
}

fn statuses(model: &ScriptedModel) -> Vec<u16> {
    let requests = model.requests();
    requests.iter().map(|sent| sent.status.unwrap()).collect()
}

fn streamed(wire: Wire, messages: Vec<Value>, is_streamed: bool) -> Value {
    let mut request = request(wire, "nobody-knows-me", messages);
    request["stream"] = json!(is_streamed);
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_overflow_is_compacted_retried_once_and_never_happens_again() {
    // Responses names no window in its refusal, so that there is nothing to learn for good.
    for wire in Wire::MESSAGES {
        for is_streamed in [false, true] {
            let folder = Folder::new();
            let model = ScriptedModel::start(short_answers(8_000)).await;
            let mut config = crate::support::config(model.address());
            config.store = folder.location();
            let proxy = Proxy::start(config.clone()).await;

            let body = streamed(wire, history(1, 16, 400), is_streamed);
            let received = proxy.post(wire, &body).await;
            assert_eq!(received.status, 200, "{received:?}");
            assert_eq!(action(&received), ("compacted", "overflow"));
            assert!(client::assistant_message(wire, &received).is_some());
            assert_eq!(statuses(&model), [400, 200], "exactly one retry");
            let sent = model.requests();
            assert_eq!(sent[0].body, body.to_string());
            assert_splice(&sent[0].body, &sent[1].body);
            assert_eq!(
                sent[0].headers.get("authorization"),
                sent[1].headers.get("authorization")
            );

            // The window is known now: another conversation does not have to find out.
            model.clear();
            let received = proxy
                .post(wire, &streamed(wire, history(2, 16, 400), is_streamed))
                .await;
            assert_eq!(action(&received), ("compacted", "hard_line"));
            assert_eq!(statuses(&model), [200]);
            proxy.stop().await;

            model.clear();
            let proxy = Proxy::start(config).await;
            let received = proxy
                .post(wire, &streamed(wire, history(3, 16, 400), is_streamed))
                .await;
            assert_eq!(
                action(&received),
                ("compacted", "hard_line"),
                "after a restart"
            );
            assert_eq!(statuses(&model), [200]);
            // A model of another name may have another window.
            let mut other = streamed(wire, history(4, 16, 400), is_streamed);
            other["model"] = json!("someone-else");
            model.clear();
            proxy.post(wire, &other).await;
            assert_eq!(statuses(&model), [400, 200]);
        }
    }
}

#[tokio::test]
async fn an_overflow_without_numbers_is_helped_all_the_same() {
    for wire in Wire::ALL {
        let refusal = Reply::error(
            400,
            "invalid_request_error",
            "Input is too long for requested model.",
        );
        let model = ModelConfig {
            script: Script::Fixed(vec![refusal, Reply::text("ok"), Reply::text("ok")]),
            ..ModelConfig::default()
        };
        let (model, proxy) = pair(model, |_| {}).await;
        let mut messages = history(1, 16, 400);
        let received = proxy
            .post(wire, &request(wire, "x", messages.clone()))
            .await;
        assert_eq!(received.status, 200, "{received:?}");
        assert_eq!(action(&received), ("compacted", "overflow"));
        let sent = model.requests();
        assert_eq!(statuses(&model), [400, 200]);
        assert!(sent[1].input_tokens.unwrap() * 10 < sent[0].input_tokens.unwrap() * 9);
        // The next turn stays below what was refused.
        messages.extend([assistant("ok"), user("next")]);
        let received = proxy.post(wire, &request(wire, "x", messages)).await;
        assert_eq!(action(&received), ("compacted", "epoch"));
        assert_eq!(model.requests().len(), 3);
    }
}

#[tokio::test]
async fn what_cannot_be_helped_gets_the_providers_own_words() {
    for wire in Wire::ALL {
        let (model, proxy) = pair(short_answers(8_000), |_| {}).await;
        // One message that is larger than the window: there is nothing to take away.
        let body = request(wire, "x", [user(prose(1, 20_000))]);
        let direct = client::post(model.address(), wire, &body).await.unwrap();
        model.clear();
        for _ in 0..2 {
            let received = proxy.post(wire, &body).await;
            assert_eq!(received.status, 400);
            assert_eq!(received.body, direct.body);
            assert_eq!(
                received.header("content-type"),
                direct.header("content-type")
            );
            assert_eq!(last(&model).body, body.to_string());
        }
        assert_eq!(statuses(&model), [400, 400], "not tried again by us");
        proxy.assert_works().await;
    }
}

#[tokio::test]
async fn an_overflow_after_the_retry_reaches_the_client() {
    let refusal = || {
        Reply::error(
            400,
            "invalid_request_error",
            "prompt is too long: 9 tokens > 8 maximum",
        )
        .with_header("x-request-id", "again")
    };
    let model = ModelConfig {
        script: Script::Fixed(vec![refusal(), refusal(), refusal(), refusal()]),
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |_| {}).await;
    let received = proxy
        .post(
            Wire::Anthropic,
            &request(Wire::Anthropic, "x", history(1, 16, 400)),
        )
        .await;
    assert_eq!(received.status, 400);
    assert_eq!(received.header("x-request-id"), "again");
    assert!(
        received.json()["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("prompt is too long")
    );
    assert!(model.requests().len() <= 2);
}

#[tokio::test]
async fn a_large_error_comes_back_whole() {
    let error = format!(r#"{{"error":{{"message":"{}"}}}}"#, "no ".repeat(200_000));
    for chunking in [Chunking::Whole, Chunking::Bytes(20_000)] {
        let model = ModelConfig {
            script: Script::Raw {
                status: 400,
                content_type: "application/json".into(),
                body: error.clone().into(),
            },
            chunking,
            ..ModelConfig::default()
        };
        let (_model, proxy) = pair(model, |_| {}).await;
        for wire in Wire::ALL {
            let received = proxy.post(wire, &request(wire, "x", [user("hi")])).await;
            assert_eq!(received.status, 400);
            assert!(received.is_complete);
            assert_eq!(received.body.len(), error.len(), "{chunking:?}");
            assert_eq!(received.body, error);
        }
    }
}

#[tokio::test]
async fn a_refused_rewrite_falls_back_to_the_original_once() {
    for wire in Wire::ALL {
        let refusal = Reply::error(
            400,
            "invalid_request_error",
            "messages.1: something is wrong",
        );
        // Answers that tell no usage, so that the second request is measured like the first.
        let answer = || Reply::raw(200, "application/json", "{}");
        let model = ModelConfig {
            script: Script::Fixed(vec![refusal, answer(), answer(), answer()]),
            ..ModelConfig::default()
        };
        let (model, proxy) = pair(model, |config| config.window_tokens = Some(6_000)).await;
        let body = request(wire, "x", history(1, 10, 265));
        let received = proxy.post(wire, &body).await;
        assert_eq!(received.status, 200, "{received:?}");
        assert_eq!(action(&received), ("passthrough", "rewrite_refused"));
        let sent = model.requests();
        assert_eq!(statuses(&model), [400, 200]);
        let refused = summary(&sent[0].body).unwrap();
        assert_eq!(sent[1].body, body.to_string(), "the client's own bytes");
        // The same request again: what was refused is not sent again.
        for _ in 0..2 {
            let received = proxy.post(wire, &body).await;
            assert_eq!(received.status, 200);
            let again = summary(&last(&model).body);
            assert_ne!(again.as_ref(), Some(&refused), "{:?}", action(&received));
        }
        assert_eq!(statuses(&model), [400, 200, 200, 200]);
    }
}

#[tokio::test]
async fn a_refused_rewrite_that_cannot_fall_back_gives_the_providers_error() {
    let refusal = Reply::error(
        422,
        "invalid_request_error",
        "messages.1: something is wrong",
    );
    let model = ModelConfig {
        script: Script::Fixed(vec![refusal.clone(), refusal]),
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |config| config.window_tokens = Some(6_000)).await;
    let wire = Wire::OpenaiChat;
    let received = proxy
        .post(wire, &request(wire, "x", history(1, 30, 400)))
        .await;
    assert_eq!(received.status, 422);
    assert_eq!(
        received.json()["error"]["message"],
        "messages.1: something is wrong"
    );
    // The original cannot fit, so the summary was tried in another form once (A4, B4).
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn other_errors_go_through_unchanged_and_are_not_retried() {
    for wire in Wire::ALL {
        for (fault, status) in [
            (
                Fault::RateLimited {
                    retry_after_seconds: 7,
                },
                429,
            ),
            (Fault::ServerError, 500),
            (Fault::Overloaded, 529),
        ] {
            let model = ModelConfig {
                faults: Faults::none().every(1, fault),
                ..short_answers(200_000)
            };
            let (model, proxy) = pair(model, |config| config.window_tokens = Some(6_000)).await;
            // Untouched and compacted requests alike.
            for messages in [vec![user("hi")], history(1, 16, 400)] {
                let body = request(wire, "x", messages);
                model.clear();
                let received = proxy.post(wire, &body).await;
                assert_eq!(model.requests().len(), 1, "not retried by us");
                let direct = client::post(model.address(), wire, &body).await.unwrap();
                assert_eq!(received.status, status);
                assert_eq!(received.body, direct.body);
                assert_eq!(
                    received.headers.get("retry-after"),
                    direct.headers.get("retry-after")
                );
                assert_eq!(received.headers.contains_key("retry-after"), status == 429);
            }
        }
    }
}

/// Law 4: nothing stands between a request above the line and its compacted form, least of all a model. How long it
/// takes is a matter of the benchmark `compact`.
#[tokio::test]
async fn the_built_in_compaction_asks_nobody() {
    let (model, proxy) = pair(short_answers(128_000), |_| {}).await;
    let body = request(Wire::Anthropic, "x", history(1, 170, 400));
    let received = proxy.post(Wire::Anthropic, &body).await;
    assert_eq!(action(&received), ("compacted", "hard_line"));
    assert_eq!(statuses(&model), [200], "the request itself and no other");
    assert!(summary(&last(&model).body).is_some());
}

/// Grows a conversation by small steps until `holds`; gives the last answer's action.
struct Slow {
    messages: Vec<Value>,
    turn: u64,
}

impl Slow {
    async fn step(&mut self, proxy: &Proxy, tokens: usize) -> (String, String) {
        let wire = Wire::OpenaiChat;
        self.messages
            .push(assistant(format!("Found {}", prose(self.turn, tokens))));
        self.messages.push(user(format!("Step {}.", self.turn)));
        self.turn += 1;
        let received = proxy
            .post(wire, &request(wire, "x", self.messages.clone()))
            .await;
        assert_eq!(received.status, 200);
        let (action, reason) = action(&received);
        (action.to_owned(), reason.to_owned())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compaction_is_prepared_before_it_is_needed_and_then_used() {
    let folder = Folder::new();
    let (model, proxy) = pair(short_answers(10_000), |config| {
        config.window_tokens = Some(10_000);
        config.store = folder.location();
    })
    .await;
    let mut slow = Slow {
        messages: vec![user("The task.")],
        turn: 0,
    };
    for round in 0..3 {
        // Below the hard line until one is there.
        let mut prepared = Vec::new();
        for _ in 0..60 {
            let (_, reason) = slow.step(&proxy, 150).await;
            assert!(
                reason == "below_line" || reason == "epoch",
                "{reason} in round {round}"
            );
            tokio::time::sleep(std::time::Duration::from_millis(60)).await;
            prepared = folder.compactions().await;
            prepared.retain(|row| row.state == CompactionState::Prepared);
            if !prepared.is_empty() {
                break;
            }
        }
        assert_eq!(prepared.len(), 1, "round {round}");
        // It waits until it is needed or pays (A5: showing it is arithmetic, wherever the line is), and then it is the one
        // that is used.
        let mut waited = 0;
        while !matches!(&*slow.step(&proxy, 150).await.1, "hard_line" | "pays") {
            waited += 1;
            assert!(waited < 60);
        }
        assert!(waited > 0, "round {round}: prepared at the last moment");
        let rows = folder.compactions().await;
        let used = rows.iter().find(|row| row.id == prepared[0].id).unwrap();
        assert_eq!(used.state, CompactionState::Published, "round {round}");
        let text = summary(&last(&model).body).unwrap();
        assert!(
            text.contains(&json!(used.summary).to_string()),
            "round {round}"
        );
    }
    let rows = folder.compactions().await;
    assert_eq!(rows.len(), 3, "one for each round");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prepared_compaction_that_came_too_late_does_not_stop_later_ones() {
    let folder = Folder::new();
    let (_model, proxy) = pair(short_answers(10_000), |config| {
        config.window_tokens = Some(10_000);
        config.store = folder.location();
    })
    .await;
    let mut slow = Slow {
        messages: vec![user("The task.")],
        turn: 0,
    };
    let prepared = async |slow: &mut Slow| {
        for _ in 0..60 {
            slow.step(&proxy, 150).await;
            tokio::time::sleep(std::time::Duration::from_millis(60)).await;
            let rows = folder.compactions().await;
            let state = |row: &epitome_store::CompactionRow| row.state == CompactionState::Prepared;
            if let Some(row) = rows.iter().rev().find(|row| state(row)) {
                return row.id.clone();
            }
        }
        panic!("nothing was prepared");
    };
    let first = prepared(&mut slow).await;
    // A jump that the prepared one cannot help with.
    assert_eq!(slow.step(&proxy, 7_000).await.1, "hard_line");
    let rows = folder.compactions().await;
    let stale = rows.iter().find(|row| row.id == first).unwrap();
    assert_eq!(stale.state, CompactionState::Prepared, "it was not used");
    for _ in 0..40 {
        slow.step(&proxy, 150).await;
        tokio::time::sleep(std::time::Duration::from_millis(60)).await;
        let rows = folder.compactions().await;
        let is_new = |row: &epitome_store::CompactionRow| {
            row.state == CompactionState::Prepared && row.id != first
        };
        if rows.iter().any(is_new) {
            return;
        }
    }
    panic!("nothing was prepared after the jump");
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Providers compress for clients that ask for it: the words are the same.
#[tokio::test]
async fn a_compressed_refusal_is_understood() {
    let refusal = json!({"error": {
        "message": "This model's maximum context length is 8000 tokens. However, your messages resulted in 9000 tokens.",
        "type": "invalid_request_error", "code": "context_length_exceeded",
    }});
    let refusal = Reply::raw(400, "application/json", gzipped(&refusal.to_string()))
        .with_header("content-encoding", "gzip");
    let model = ModelConfig {
        script: Script::Fixed(vec![refusal, Reply::text("ok")]),
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |_| {}).await;
    let wire = Wire::OpenaiChat;
    let received = proxy
        .post(wire, &request(wire, "nobody-knows-me", history(1, 16, 400)))
        .await;
    assert_eq!(action(&received), ("compacted", "overflow"));
    assert_eq!(statuses(&model), [400, 200]);
}

/// What was sent cannot be taken back, but the next request does not make the same mistake.
#[tokio::test]
async fn an_overflow_inside_a_stream_is_learned_from() {
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {
        "code": "context_length_exceeded",
        "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    }}});
    let events = format!("event: response.failed\ndata: {failed}\n\n");
    for (body, encoding) in [
        (events.clone().into_bytes(), "identity"),
        (gzipped(&events), "gzip"),
    ] {
        let reply =
            Reply::raw(200, "text/event-stream", body).with_header("content-encoding", encoding);
        let model = ModelConfig {
            script: Script::Fixed(vec![reply, Reply::text("ok")]),
            ..ModelConfig::default()
        };
        let (model, proxy) = pair(model, |_| {}).await;
        let wire = Wire::OpenaiResponses;
        let mut messages = history(1, 16, 400);
        let received = proxy
            .post(wire, &streamed(wire, messages.clone(), true))
            .await;
        assert_eq!(action(&received).0, "passthrough", "{encoding}");
        messages.extend([assistant("ok"), user("next")]);
        let received = proxy.post(wire, &streamed(wire, messages, true)).await;
        assert_eq!(action(&received).0, "compacted", "{encoding}");
        assert_eq!(statuses(&model), [200, 200], "{encoding}");
    }
}

/// Ollama cuts what does not fit to half its window and says nothing; its count gives it away.
#[tokio::test]
async fn a_server_that_silently_leaves_out_a_part_is_found_out() {
    let wire = Wire::OpenaiChat;
    let body = json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 4_096 / 2 + 2, "completion_tokens": 1},
    });
    let model = ModelConfig {
        script: Script::Fixed(vec![
            Reply::raw(200, "application/json", body.to_string()),
            Reply::text("ok"),
        ]),
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |_| {}).await;
    let mut messages = history(1, 16, 400);
    let received = proxy
        .post(wire, &request(wire, "nobody-knows-me", messages.clone()))
        .await;
    assert_eq!(action(&received).0, "passthrough");
    messages.extend([assistant("ok"), user("next")]);
    let received = proxy
        .post(wire, &request(wire, "nobody-knows-me", messages))
        .await;
    assert_eq!(action(&received), ("compacted", "hard_line"));
    let sent = model.requests();
    assert!(sent[1].input_tokens.unwrap() < 4_096);
}
