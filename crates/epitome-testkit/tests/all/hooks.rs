use epitome_testkit::{
    Answer, Counts, ModelConfig, Received, Refuses, Reply, Script, ScriptedModel, Wire, client,
};
use serde_json::{Value, json};

fn request(wire: Wire, roles: &[&str], max_tokens: u64) -> Value {
    let message = |role: &&str| json!({"role": role, "content": "word ".repeat(200)});
    let messages: Vec<Value> = roles.iter().map(message).collect();
    json!({"model": "m", wire.list_name(): messages, "max_tokens": max_tokens})
}

async fn post(model: &ScriptedModel, wire: Wire, request: &Value) -> Received {
    client::post(model.address(), wire, request).await.unwrap()
}

#[tokio::test]
async fn counts_are_what_the_script_says() {
    let wire = Wire::OpenaiChat;
    let model = ScriptedModel::start(ModelConfig {
        counts: Counts::percent(70),
        ..ModelConfig::default()
    })
    .await;
    let request = request(wire, &["user"], 100);
    let plain = epitome_testkit::tokens::count(wire, &request);
    let received = post(&model, wire, &request).await;
    assert_eq!(
        received.json()["usage"]["prompt_tokens"],
        json!(plain * 70 / 100)
    );
    assert_eq!(model.requests()[0].input_tokens, Some(plain * 70 / 100));
}

#[tokio::test]
async fn windows_go_by_name_and_may_grow() {
    let wire = Wire::Anthropic;
    let model = ScriptedModel::start(ModelConfig {
        windows: vec![("large".into(), 10_000)],
        ..ModelConfig {
            window_tokens: 300,
            ..ModelConfig::default()
        }
    })
    .await;
    let small = request(wire, &["user"], 100);
    let mut large = small.clone();
    large["model"] = json!("large");
    assert_eq!(post(&model, wire, &small).await.status, 400);
    assert_eq!(post(&model, wire, &large).await.status, 200);
    model.set_window(1_000);
    assert_eq!(post(&model, wire, &small).await.status, 200);
    model.set_window_of("large", 100);
    assert_eq!(post(&model, wire, &large).await.status, 400);
}

#[tokio::test]
async fn output_counts_where_it_is_counted() {
    let wire = Wire::Anthropic;
    for (counts_output, status) in [(true, 400), (false, 200)] {
        let model = ScriptedModel::start(ModelConfig {
            window_tokens: 1_000,
            counts_output,
            ..ModelConfig::default()
        })
        .await;
        let received = post(&model, wire, &request(wire, &["user"], 900)).await;
        assert_eq!(received.status, status, "{counts_output}");
    }
}

#[tokio::test]
async fn templates_want_roles_to_alternate() {
    let wire = Wire::OpenaiChat;
    let model = ScriptedModel::start(ModelConfig {
        refuses: Refuses::equal_neighbours(),
        ..ModelConfig::default()
    })
    .await;
    for (roles, status) in [
        (&["user", "assistant", "user"][..], 200),
        (&["system", "user"], 200),
        (&["user", "user"], 400),
        (&["system", "assistant", "user"], 400),
        (&["user", "assistant", "assistant", "user"], 400),
    ] {
        let received = post(&model, wire, &request(wire, roles, 100)).await;
        assert_eq!(received.status, status, "{roles:?}");
    }
}

#[tokio::test]
async fn counting_can_be_refused_apart() {
    let model = ScriptedModel::start(ModelConfig {
        refuses: Refuses::by(|asked| {
            let missing = || Reply::error(404, "not_found_error", "Not Found");
            asked.is_count().then(missing)
        }),
        ..ModelConfig::default()
    })
    .await;
    let body = request(Wire::Anthropic, &["user"], 100);
    let path = "/v1/messages/count_tokens";
    let sent = client::send(
        model.address(),
        &http::Method::POST,
        path,
        &[],
        body.to_string().into(),
    );
    assert_eq!(sent.await.unwrap().status, 404);
    assert_eq!(post(&model, Wire::Anthropic, &body).await.status, 200);
}

#[tokio::test]
async fn a_search_is_paid_for_at_the_end_of_the_stream() {
    let wire = Wire::Anthropic;
    let model = ScriptedModel::start(ModelConfig {
        script: Script::by(|_| {
            Reply::answer(Answer {
                text: Some("Found.".into()),
                searches: 2,
                ..Answer::default()
            })
        }),
        ..ModelConfig::default()
    })
    .await;
    let mut request = request(wire, &["user"], 100);
    request["stream"] = json!(true);
    let received = post(&model, wire, &request).await;
    let events = received.events();
    let once = model.requests()[0].input_tokens.unwrap();
    let usage = |name: &str, pointer: &str| {
        let event = events.iter().find(|event| event.name == name).unwrap();
        event.json().pointer(pointer).cloned().unwrap()
    };
    let start = usage("message_start", "/message/usage/input_tokens");
    let end = usage("message_delta", "/usage/input_tokens");
    assert_eq!((start, end), (json!(once), json!(once * 3)));
    let message = client::assistant_message(wire, &received).unwrap();
    let kinds: Vec<&str> = message["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|block| block["type"].as_str())
        .collect();
    let pair = ["server_tool_use", "web_search_tool_result"];
    assert_eq!(kinds, [&pair[..], &pair, &["text"]].concat());
    // What came back is valid in the next request.
    request["messages"]
        .as_array_mut()
        .unwrap()
        .extend([message, json!({"role": "user", "content": "And then?"})]);
    post(&model, wire, &request).await;
    assert_eq!(model.requests()[1].violations, []);
}
