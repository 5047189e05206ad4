use epitome_testkit::{ModelConfig, ScriptedModel, Wire, client};
use serde_json::{Value, json};

/// 99 tokens of text, four for the message, three for the request: 106.
fn request(max_tokens: Option<u64>) -> Value {
    let mut request =
        json!({"model": "m", "messages": [{"role": "user", "content": "x".repeat(356)}]});
    if let Some(limit) = max_tokens {
        request["max_tokens"] = json!(limit);
    }
    request
}

async fn error(wire: Wire, max_tokens: Option<u64>, window_tokens: u64) -> (u16, Value) {
    let model = ScriptedModel::start(ModelConfig {
        window_tokens,
        ..ModelConfig::default()
    })
    .await;
    let received = client::post(model.address(), wire, &request(max_tokens))
        .await
        .unwrap();
    let recorded = &model.requests()[0];
    assert_eq!(recorded.input_tokens, Some(106));
    assert_eq!(recorded.status, Some(received.status));
    (received.status, received.json())
}

#[tokio::test]
async fn openai_says_how_many_tokens_it_counted() {
    let (status, body) = error(Wire::OpenaiChat, None, 100).await;
    assert_eq!(status, 400);
    assert_eq!(body["error"]["code"], "context_length_exceeded");
    assert_eq!(body["error"]["param"], "messages");
    assert_eq!(
        body["error"]["message"],
        "This model's maximum context length is 100 tokens. However, your messages resulted in 106 tokens. Please reduce the length of the messages."
    );
    let (_, body) = error(Wire::OpenaiChat, Some(50), 120).await;
    assert_eq!(
        body["error"]["message"],
        "This model's maximum context length is 120 tokens. However, you requested 156 tokens (106 in the messages, 50 in the completion). Please reduce the length of the messages or completion."
    );
}

#[tokio::test]
async fn anthropic_tells_input_from_sum() {
    let (status, body) = error(Wire::Anthropic, Some(50), 100).await;
    assert_eq!(status, 400);
    assert_eq!(body["type"], "error");
    assert_eq!(body["error"]["type"], "invalid_request_error");
    assert_eq!(
        body["error"]["message"],
        "prompt is too long: 106 tokens > 100 maximum"
    );
    let (_, body) = error(Wire::Anthropic, Some(50), 120).await;
    assert_eq!(
        body["error"]["message"],
        "input length and `max_tokens` exceed context limit: 106 + 50 > 120, decrease input length or `max_tokens` and try again"
    );
}

#[tokio::test]
async fn what_just_fits_is_answered() {
    for wire in Wire::MESSAGES {
        assert_eq!(error(wire, Some(14), 120).await.0, 200);
    }
}
