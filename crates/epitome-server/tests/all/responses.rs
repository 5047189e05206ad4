//! OpenAI Responses through the proxy: histories that the provider keeps, counts, and the way out of an overflow.

use epitome_testkit::generate::{self, Kind};
use epitome_testkit::{ModelConfig, Wire, tokens};
use http::Method;
use serde_json::json;

use crate::support::{action, assert_splice, last, pair, request, user};

const WIRE: Wire = Wire::OpenaiResponses;

#[tokio::test]
async fn a_history_that_the_provider_keeps_goes_through_untouched() {
    let model = ModelConfig {
        rejects_violations: false,
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |config| config.window_tokens = Some(6_000)).await;
    let whole = generate::openai_responses(Kind::ToolHeavy, 5, 80);
    for (name, member, expected) in [
        (
            "previous_response_id",
            json!("resp_1"),
            "server_side_history",
        ),
        (
            "conversation",
            json!({"id": "conv_1"}),
            "server_side_history",
        ),
        (
            "context_management",
            json!([{"type": "compaction", "compact_threshold": 1_000}]),
            "provider_managed",
        ),
    ] {
        let mut request = whole.clone();
        request[name] = member;
        let received = proxy.post(WIRE, &request).await;
        assert_eq!(action(&received), ("passthrough", expected));
        assert_eq!(last(&model).body, request.to_string());
    }
    for (item, expected) in [
        (
            json!({"type": "compaction", "encrypted_content": "x"}),
            "provider_managed",
        ),
        (json!({"type": "compaction_trigger"}), "provider_managed"),
    ] {
        let mut request = whole.clone();
        request["input"].as_array_mut().unwrap().push(item);
        let received = proxy.post(WIRE, &request).await;
        assert_eq!(action(&received), ("passthrough", expected));
        assert_eq!(last(&model).body, request.to_string());
    }
    let received = proxy
        .post(WIRE, &json!({"model": "m", "input": "hi"}))
        .await;
    assert_eq!(action(&received), ("passthrough", "no_messages"));
}

/// The table says more than the provider has: its refusal is the first sign, and names no number.
#[tokio::test]
async fn an_overflow_is_answered_with_a_shorter_request() {
    let model = ModelConfig {
        window_tokens: 20_000,
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |config| config.window_tokens = Some(60_000)).await;
    for streams in [true, false] {
        let mut request = generate::openai_responses(Kind::Thinking, 31, 120);
        request["stream"] = json!(streams);
        let sent_tokens = tokens::count(WIRE, &request);
        assert!((20_001..60_000).contains(&sent_tokens), "{sent_tokens}");
        let received = proxy.post(WIRE, &request).await;
        assert_eq!(received.status, 200, "{}", received.json());
        assert_eq!(action(&received).0, "compacted");
        let sent = last(&model);
        assert!(sent.violations.is_empty(), "{:?}", sent.violations);
        assert_splice(request.to_string().as_bytes(), &sent.body);
    }
}

#[tokio::test]
async fn counting_starts_nothing_and_small_talk_passes() {
    let (model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    let request = request(WIRE, "gpt-5", [user("hello")]);
    let received = proxy
        .send(
            &Method::POST,
            "/v1/responses/input_tokens",
            &[],
            request.to_string(),
        )
        .await;
    assert_eq!(
        received.json()["input_tokens"],
        tokens::count(WIRE, &request)
    );
    assert_eq!(action(&received), ("passthrough", "below_line"));
    let received = proxy.post(WIRE, &request).await;
    assert_eq!(action(&received), ("passthrough", "below_line"));
    assert_eq!(last(&model).body, request.to_string());
    // What is not the endpoint itself is not looked into.
    let received = proxy
        .send(&Method::POST, "/v1/responses/compact", &[], "{}")
        .await;
    assert_eq!(action(&received), ("passthrough", "not_a_conversation"));
}
