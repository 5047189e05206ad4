use epitome_testkit::{
    Answer, Call, Chunking, Kind, ModelConfig, Received, Reply, Script, ScriptedModel, Wire,
    client, generate, strict,
};
use serde_json::{Value, json};

const ALL_CHUNKING: [Chunking; 4] = [
    Chunking::Whole,
    Chunking::Events,
    Chunking::Bytes(1),
    Chunking::Bytes(7),
];

async fn answer(chunking: Chunking, wire: Wire, request: &Value) -> Received {
    let script = Script::Agent {
        tool_every: 1,
        parallel_every: 1,
        words: 30,
    };
    let model = ScriptedModel::start(ModelConfig {
        chunking,
        script,
        ..ModelConfig::default()
    })
    .await;
    client::post(model.address(), wire, request).await.unwrap()
}

#[tokio::test]
async fn every_chunking_gives_the_same_body() {
    for wire in Wire::MESSAGES {
        for streams in [true, false] {
            let mut request = generate::request(wire, Kind::ToolHeavy, 4, 6);
            request["stream"] = json!(streams);
            let whole = answer(Chunking::Whole, wire, &request).await;
            assert_eq!(whole.status, 200);
            for chunking in ALL_CHUNKING {
                let received = answer(chunking, wire, &request).await;
                assert!(received.is_complete);
                assert_eq!(received.body, whole.body, "{chunking:?}");
                if let Chunking::Bytes(length) = chunking {
                    // The client's own buffer may end inside a piece, so pieces can only get smaller.
                    assert!(received.pieces.iter().all(|piece| *piece <= length));
                    assert!(received.pieces.len() >= whole.body.len() / length);
                }
            }
        }
    }
}

#[tokio::test]
async fn streamed_messages_are_valid_in_the_next_request() {
    for wire in Wire::MESSAGES {
        for kind in [Kind::ToolHeavy, Kind::Thinking, Kind::Chat] {
            for seed in 0..8 {
                let mut request = generate::request(wire, kind, seed, 6);
                let streamed = answer(Chunking::Events, wire, &request).await;
                let message = client::assistant_message(wire, &streamed).unwrap();
                request["messages"].as_array_mut().unwrap().push(message);
                let violations = strict::check(wire, &request);
                // The new calls wait for their results; anything else would be the server's own mistake.
                assert!(
                    violations
                        .iter()
                        .all(|violation| violation.rule == strict::Rule::UnansweredCall),
                    "{violations:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn streams_hold_the_same_message_as_whole_answers() {
    for wire in Wire::MESSAGES {
        let mut call = Call::new(
            "grep",
            json!({"pattern": "ß\\w+", "深い": [1, {"x": null}]}),
        );
        call.id = Some(String::from("id_1"));
        let reply = Reply::answer(Answer {
            thinking: (wire == Wire::Anthropic)
                .then(|| String::from("Let me see 👀 what is there.")),
            text: Some("Ich prüfe das. \"Zitat\"\n".repeat(9)),
            calls: vec![
                call.clone(),
                Call {
                    id: Some(String::from("id_2")),
                    ..call
                },
            ],
            searches: 0,
            stop_reason: None,
        });
        let script = Script::Fixed(vec![reply.clone(), reply]);
        let model = ScriptedModel::start(ModelConfig {
            script,
            ..ModelConfig::default()
        })
        .await;
        let mut messages = Vec::new();
        for streams in [true, false] {
            let mut request = generate::request(wire, Kind::Chat, 1, 3);
            request["stream"] = json!(streams);
            let received = client::post(model.address(), wire, &request).await.unwrap();
            let mut message = client::assistant_message(wire, &received).unwrap();
            message.as_object_mut().unwrap().remove("refusal");
            messages.push(message);
        }
        assert_eq!(messages[0], messages[1]);
        assert!(messages[0].to_string().contains("深い"));
    }
}

#[tokio::test]
async fn openai_sends_usage_only_when_asked() {
    let mut request = generate::openai_chat(Kind::Chat, 1, 4);
    let with = answer(Chunking::Whole, Wire::OpenaiChat, &request)
        .await
        .events();
    let usage = &with[with.len() - 2].json();
    assert_eq!(usage["choices"], json!([]));
    assert!(usage["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
    assert_eq!(with.last().unwrap().data, "[DONE]");
    request.as_object_mut().unwrap().remove("stream_options");
    let without = answer(Chunking::Whole, Wire::OpenaiChat, &request)
        .await
        .events();
    assert!(
        without
            .iter()
            .all(|event| event.json().get("usage").is_none())
    );
    assert_eq!(
        without[without.len() - 2].json()["choices"][0]["finish_reason"],
        "stop"
    );
}

#[tokio::test]
async fn anthropic_events_come_in_order() {
    let request = generate::anthropic(Kind::Thinking, 2, 4);
    let received = answer(Chunking::Bytes(1), Wire::Anthropic, &request).await;
    let events = received.events();
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names[..3], ["message_start", "content_block_start", "ping"]);
    assert_eq!(names[names.len() - 2..], ["message_delta", "message_stop"]);
    assert!(
        events
            .iter()
            .all(|event| event.json()["type"] == event.name.as_str())
    );
    let message = client::assistant_message(Wire::Anthropic, &received).unwrap();
    assert_eq!(message["content"][0]["type"], "thinking");
}

#[tokio::test]
async fn anthropic_usage_adds_up() {
    for count in [1, 9] {
        let mut request = generate::anthropic(Kind::Mixed, 2, count);
        request["stream"] = json!(false);
        let body = answer(Chunking::Whole, Wire::Anthropic, &request)
            .await
            .json();
        let parts = [
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
        ];
        let sum: u64 = parts
            .iter()
            .map(|part| body["usage"][part].as_u64().unwrap())
            .sum();
        assert_eq!(
            sum,
            epitome_testkit::tokens::count(Wire::Anthropic, &request)
        );
    }
}

#[tokio::test]
async fn a_simulated_cache_reads_what_an_earlier_request_stored() {
    for wire in Wire::MESSAGES {
        let model = ScriptedModel::start(ModelConfig {
            simulates_cache: true,
            ..ModelConfig::default()
        })
        .await;
        let mut reads = Vec::new();
        let mut requests = generate::grow(wire, Kind::Mixed, 3, 3);
        let mut changed = requests[2].clone();
        changed["messages"][1]["content"] = json!("something else");
        requests.push(changed);
        for mut request in requests {
            request["stream"] = json!(false);
            let received = client::post(model.address(), wire, &request).await.unwrap();
            let usage = received.json()["usage"].clone();
            let read = match wire {
                Wire::OpenaiChat => &usage["prompt_tokens_details"]["cached_tokens"],
                Wire::OpenaiResponses => &usage["input_tokens_details"]["cached_tokens"],
                Wire::Anthropic => &usage["cache_read_input_tokens"],
            };
            reads.push(read.as_u64().unwrap_or(0));
        }
        assert_eq!(reads[0], 0);
        assert!(0 < reads[1] && reads[1] < reads[2], "{reads:?}");
        assert!(reads[3] < reads[2], "{reads:?}");
    }
}
