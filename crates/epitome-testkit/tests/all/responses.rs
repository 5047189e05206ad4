use epitome_testkit::{
    Answer, Call, Chunking, Fault, Faults, Kind, ModelConfig, Reply, Rule, Script, ScriptedModel,
    Wire, client, generate, shape, strict, tokens,
};
use http::Method;
use serde_json::{Value, json};

const WIRE: Wire = Wire::OpenaiResponses;

#[tokio::test]
async fn an_agent_can_be_driven_for_many_turns() {
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let mut request = generate::openai_responses(Kind::ToolHeavy, 9, 2);
    let mut calls_seen = 0;
    for turn in 0..12 {
        request["stream"] = json!(turn % 2 == 0);
        let received = client::post(model.address(), WIRE, &request).await.unwrap();
        assert_eq!(received.status, 200, "{}", received.json());
        let items = client::answer_items(&received).unwrap();
        let outputs: Vec<Value> = items
            .iter()
            .filter(|item| item["type"] == "function_call")
            .map(|call| {
                json!({"type": "function_call_output", "call_id": call["call_id"], "output": "done"})
            })
            .collect();
        calls_seen += outputs.len();
        let list = request["input"].as_array_mut().unwrap();
        list.extend(items);
        if outputs.is_empty() {
            list.push(json!({"role": "user", "content": "Go on."}));
        }
        list.extend(outputs);
    }
    assert!(calls_seen > 6);
    let requests = model.requests();
    assert!(requests.iter().all(|request| request.violations.is_empty()));
}

#[tokio::test]
async fn streams_hold_the_same_items_as_whole_answers() {
    let reply = Reply::answer(Answer {
        thinking: Some(String::from("Let me see.")),
        text: Some("Ich prüfe das. \"Zitat\"\n".repeat(9)),
        calls: vec![
            Call::new("grep", json!({"pattern": "ß\\w+"})),
            Call::new("read_file", json!({"path": "深い"})),
        ],
        searches: 0,
        stop_reason: None,
    });
    let mut request = generate::openai_responses(Kind::Chat, 1, 3);
    let mut found = Vec::new();
    for streams in [true, false] {
        let model = ScriptedModel::start(ModelConfig {
            script: Script::Fixed(vec![reply.clone()]),
            chunking: Chunking::Bytes(7),
            ..ModelConfig::default()
        })
        .await;
        request["stream"] = json!(streams);
        let received = client::post(model.address(), WIRE, &request).await.unwrap();
        let usage = match streams {
            true => received.events().last().unwrap().json()["response"]["usage"].clone(),
            false => received.json()["usage"].clone(),
        };
        assert_eq!(usage["input_tokens"], tokens::count(WIRE, &request));
        let items = client::answer_items(&received).unwrap();
        found.push(
            items
                .iter()
                .map(|item| {
                    let mut item = item.clone();
                    // Identifiers come from the bytes of the request.
                    for name in ["id", "call_id"] {
                        item.as_object_mut().unwrap().remove(name);
                    }
                    item
                })
                .collect::<Vec<_>>(),
        );
        let mut next = request.clone();
        next["input"].as_array_mut().unwrap().extend(items);
        let violations = strict::check(WIRE, &next);
        assert!(
            violations
                .iter()
                .all(|violation| violation.rule == Rule::UnansweredCall),
            "{violations:?}"
        );
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0].len(), 4);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_in_the_providers_words() {
    let model = ScriptedModel::start(ModelConfig {
        window_tokens: 100,
        ..ModelConfig::default()
    })
    .await;
    let request = generate::openai_responses(Kind::ToolHeavy, 1, 20);
    let received = client::post(model.address(), WIRE, &request).await.unwrap();
    let error = received.json()["error"].clone();
    assert_eq!(received.status, 400);
    assert_eq!(
        (&error["code"], &error["param"]),
        (&json!("context_length_exceeded"), &json!("input"))
    );
    let body = request.to_string();
    let counted = client::send(
        model.address(),
        &Method::POST,
        "/v1/responses/input_tokens",
        &[],
        body.into(),
    )
    .await
    .unwrap();
    assert_eq!(
        counted.json()["input_tokens"],
        tokens::count(WIRE, &request)
    );
}

#[tokio::test]
async fn damage_is_refused_and_a_broken_stream_gives_no_items() {
    let model = ScriptedModel::start(ModelConfig {
        faults: Faults::none().on(1, Fault::ErrorInStream),
        ..ModelConfig::default()
    })
    .await;
    let request = generate::openai_responses(Kind::Parallel, 2, 12);
    let (broken, _) = generate::damage(&request, 4);
    let received = client::post(model.address(), WIRE, &broken).await.unwrap();
    assert_eq!(received.status, 400);
    assert!(!model.requests()[0].violations.is_empty());
    let received = client::post(model.address(), WIRE, &request).await.unwrap();
    assert_eq!(received.status, 200);
    assert_eq!(client::answer_items(&received), None);
}

#[test]
fn shapes_are_one_line_for_each_item() {
    let request = json!({"instructions": "i", "input": [
        {"role": "user", "content": "a"},
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
        {"type": "function_call", "call_id": "c", "name": "grep", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ]});
    assert_eq!(
        shape::of(WIRE, &request),
        "-- instructions text\n00 user text\n01 assistant reasoning\n02 assistant text\n\
         03 assistant function call grep\n04 tool result"
    );
}
