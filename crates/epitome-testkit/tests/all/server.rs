use bytes::Bytes;
use epitome_testkit::{
    Call, Echo, Kind, ModelConfig, Reply, Rule, Script, ScriptedModel, Wire, client, generate,
};
use http::Method;
use serde_json::{Value, json};

async fn scripted(script: Script) -> ScriptedModel {
    ScriptedModel::start(ModelConfig {
        script,
        ..ModelConfig::default()
    })
    .await
}

#[tokio::test]
async fn an_agent_can_be_driven_for_many_turns() {
    for wire in Wire::MESSAGES {
        let model = ScriptedModel::start(ModelConfig::default()).await;
        let mut request = generate::request(wire, Kind::ToolHeavy, 9, 2);
        let mut calls_seen = 0;
        for _ in 0..12 {
            let received = client::post(model.address(), wire, &request).await.unwrap();
            assert_eq!(received.status, 200, "{}", received.json());
            let message = client::assistant_message(wire, &received).unwrap();
            let results = results(wire, &message);
            calls_seen += results.len();
            let messages = request["messages"].as_array_mut().unwrap();
            messages.push(message);
            if results.is_empty() {
                messages.push(json!({"role": "user", "content": "Go on."}));
            } else if wire == Wire::Anthropic {
                messages.push(json!({"role": "user", "content": results}));
            } else {
                messages.extend(results);
            }
        }
        assert!(calls_seen > 6);
        assert!(
            model
                .requests()
                .iter()
                .all(|request| request.violations.is_empty())
        );
    }
}

fn results(wire: Wire, message: &Value) -> Vec<Value> {
    match wire {
        Wire::OpenaiChat => message["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "done"}))
            .collect(),
        Wire::OpenaiResponses => unreachable!("its answers are items"),
        Wire::Anthropic => message["content"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| json!({"type": "tool_result", "tool_use_id": block["id"], "content": "done"}))
            .collect(),
    }
}

#[tokio::test]
async fn requests_are_recorded_as_they_came() {
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let body = generate::untidy(&generate::anthropic(Kind::Mixed, 3, 9), 1);
    let headers = [("x-custom", "yes")];
    let sent = Bytes::from(body);
    let path = "/v1/messages?beta=true";
    let received = client::send(model.address(), &Method::POST, path, &headers, sent.clone())
        .await
        .unwrap();
    assert_eq!(received.status, 200);
    let recorded = &model.requests()[0];
    assert_eq!(recorded.body, sent);
    assert_eq!(
        (recorded.path.as_str(), recorded.header("x-custom")),
        (path, "yes")
    );
    model.clear();
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn invalid_requests_are_refused_and_recorded() {
    for wire in Wire::MESSAGES {
        let model = ScriptedModel::start(ModelConfig::default()).await;
        let (broken, _) = generate::damage(&generate::request(wire, Kind::Parallel, 2, 12), 4);
        let received = client::post(model.address(), wire, &broken).await.unwrap();
        assert_eq!(received.status, 400);
        assert_eq!(received.json()["error"]["type"], "invalid_request_error");
        assert!(!model.requests()[0].violations.is_empty());
        let garbage = Bytes::from_static(b"{\"messages\":");
        let received = client::send(model.address(), &Method::POST, wire.path(), &[], garbage)
            .await
            .unwrap();
        assert_eq!(received.status, 400);
        assert_eq!(model.requests()[1].violations[0].rule, Rule::UnparsableBody);
    }
}

#[tokio::test]
async fn fixed_replies_come_in_order() {
    let model = scripted(Script::Fixed(vec![
        Reply::text("héllo").with_header("x-script", "1"),
        Reply::calls([Call::new("grep", json!({"pattern": "x"}))]),
        Reply::error(503, "api_error", "down"),
        Reply::raw(201, "text/plain", "as is"),
    ]))
    .await;
    let mut request = generate::openai_chat(Kind::Chat, 1, 3);
    request["stream"] = json!(false);
    let mut received = Vec::new();
    for _ in 0..5 {
        received.push(
            client::post(model.address(), Wire::OpenaiChat, &request)
                .await
                .unwrap(),
        );
    }
    assert_eq!(
        received[0].json()["choices"][0]["message"]["content"],
        "héllo"
    );
    assert_eq!(received[0].header("x-script"), "1");
    let call = received[1].json()["choices"][0]["message"]["tool_calls"][0].clone();
    assert_eq!(call["function"]["arguments"], "{\"pattern\":\"x\"}");
    assert!(call["id"].as_str().unwrap().starts_with("call_"));
    assert_eq!(
        (received[2].status, &received[2].json()["error"]["message"]),
        (503, &json!("down"))
    );
    assert_eq!(
        (received[3].status, &received[3].body[..]),
        (201, &b"as is"[..])
    );
    assert_eq!(received[4].status, 500);
}

#[tokio::test]
async fn raw_scripts_answer_anything() {
    let body = Bytes::from_static(b"\xff\x00");
    let model = scripted(Script::Raw {
        status: 200,
        content_type: "application/json".into(),
        body: body.clone(),
    })
    .await;
    let received = client::send(
        model.address(),
        &Method::POST,
        "/v1/messages",
        &[],
        Bytes::new(),
    )
    .await
    .unwrap();
    assert_eq!((received.status, received.body), (200, body));
}

#[tokio::test]
async fn echo_returns_the_bytes_of_any_request() {
    let model = ScriptedModel::start(ModelConfig {
        echo: Echo::Body,
        ..ModelConfig::default()
    })
    .await;
    let sent = Bytes::from_static(b" {\"a\": 1e400}\r\n\xff");
    let received = client::send(
        model.address(),
        &Method::PUT,
        "/any/path?x=1",
        &[],
        sent.clone(),
    )
    .await
    .unwrap();
    assert_eq!((received.status, &received.body), (200, &sent));
    assert_eq!(received.header("content-type"), "application/octet-stream");
    let model = ScriptedModel::start(ModelConfig {
        echo: Echo::Digest,
        ..ModelConfig::default()
    })
    .await;
    let received = client::send(
        model.address(),
        &Method::POST,
        "/v1/messages",
        &[],
        sent.clone(),
    )
    .await
    .unwrap();
    assert_eq!(received.json()["length"], sent.len());
    assert_eq!(
        received.json()["blake3"],
        blake3::hash(&sent).to_hex().as_str()
    );
}

#[tokio::test]
async fn other_endpoints() {
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let version = [("anthropic-version", "2023-06-01")];
    let get =
        |path, headers| client::send(model.address(), &Method::GET, path, headers, Bytes::new());
    assert_eq!(
        get("/v1/models", &[]).await.unwrap().json()["object"],
        "list"
    );
    assert_eq!(
        get("/v1/models", &version).await.unwrap().json()["has_more"],
        false
    );
    let missing = get("/v1/nothing", &[]).await.unwrap();
    assert_eq!(
        (missing.status, &missing.json()["error"]["type"]),
        (404, &json!("invalid_request_error"))
    );
    let missing = get("/v1/nothing", &version).await.unwrap();
    assert_eq!(
        (missing.status, &missing.json()["error"]["type"]),
        (404, &json!("not_found_error"))
    );
    let request = generate::anthropic(Kind::Images, 1, 5);
    let path = "/v1/messages/count_tokens";
    let counted = client::send(
        model.address(),
        &Method::POST,
        path,
        &version,
        request.to_string().into(),
    )
    .await
    .unwrap();
    assert_eq!(
        counted.json()["input_tokens"],
        epitome_testkit::tokens::count(Wire::Anthropic, &request)
    );
}

#[tokio::test]
async fn unchecked_servers_answer_at_once() {
    let model = ScriptedModel::start(ModelConfig {
        unchecked: true,
        ..ModelConfig::default()
    })
    .await;
    let received = client::send(
        model.address(),
        &Method::POST,
        "/v1/messages",
        &[],
        Bytes::from_static(b"?"),
    )
    .await
    .unwrap();
    assert_eq!(received.json()["content"][0]["text"], "ok");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn answers_end_at_the_output_limit() {
    let script = Script::Agent {
        tool_every: 0,
        parallel_every: 0,
        words: 200,
    };
    let model = scripted(script).await;
    for limit in [1, 5, 60, 150, 4_000] {
        let mut request = generate::anthropic(Kind::Thinking, limit, 3);
        request["stream"] = json!(false);
        request["max_tokens"] = json!(limit);
        let answer = client::post(model.address(), Wire::Anthropic, &request)
            .await
            .unwrap()
            .json();
        assert!(answer["usage"]["output_tokens"].as_u64().unwrap() <= limit);
        let expected = if limit == 4_000 {
            "end_turn"
        } else {
            "max_tokens"
        };
        assert_eq!(answer["stop_reason"], expected);
    }
}
