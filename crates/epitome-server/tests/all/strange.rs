//! Requests with something in them that no format knows, and items that are only named, through the proxy.

use std::sync::{Arc, Mutex};

use epitome_testkit::strange::{strange, torn};
use epitome_testkit::{
    Answer, Call, Counts, Kind, ModelConfig, Random, Reply, Script, Wire, client, generate,
};
use serde_json::{Value, json};

use crate::support::{
    action, assert_splice, last, number, pair, prose, raw_messages, summary, user,
};

fn lenient() -> ModelConfig {
    ModelConfig {
        rejects_violations: false,
        ..ModelConfig::default()
    }
}

/// Unknown roles, blocks and items and calls without ids are no reason to give up on a request: it is compacted, what stays
/// is as it was, and what may belong together stays together.
#[tokio::test]
async fn strangers_are_no_reason_to_give_up() {
    let (model, proxy) = pair(lenient(), |config| config.window_tokens = Some(9_000)).await;
    let cases = number("EPITOME_CASES").unwrap_or(8).clamp(1, 400);
    let random = &mut Random::new(number("EPITOME_SEED").unwrap_or(16));
    let mut compacted = 0;
    for _ in 0..cases {
        for wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let (seed, odd) = (random.bits(), random.bits());
            let what = format!("{wire:?} {kind:?} {seed} {odd}");
            let plain = generate::request(wire, kind, seed, 90);
            let request = strange(wire, &plain, odd);
            let got = proxy.post(wire, &request).await;
            assert_eq!(got.status, 200, "{what}: {got:?}");
            assert_ne!(action(&got).1, "unreadable_message", "{what}");
            let sent = last(&model);
            assert_eq!(torn(wire, &request, &sent.json()), [""; 0], "{what}");
            let rules = |request: &Value| epitome_testkit::strict::check(wire, request).len();
            assert!(
                rules(&sent.json()) <= rules(&request),
                "{what}: {:?}",
                sent.violations
            );
            if action(&got).0 == "compacted" {
                compacted += 1;
                assert_splice(request.to_string().as_bytes(), &sent.body);
            }
        }
    }
    assert!(compacted > cases, "{compacted}");
}

/// A provider that keeps its answers: whatever is named here was put out before.
fn keeping() -> Script {
    Script::by(|request| {
        let turn = request["input"].as_array().map_or(0, Vec::len);
        let text: String = (0..20)
            .map(|n| format!("The zeppelin {turn}-{n} carries crate {n} to harbour {turn}. "))
            .collect();
        Reply::answer(Answer {
            text: Some(text),
            calls: vec![Call::new(
                "read",
                json!({"path": format!("src/part_{turn}.rs")}),
            )],
            ..Answer::default()
        })
    })
}

/// A client that names what the provider keeps instead of sending it, as the AI SDK does: far beyond the window, streamed
/// and whole; every pair goes or stays together.
#[tokio::test]
async fn items_that_are_only_named_are_measured_and_go_with_their_pairs() {
    for streams in [false, true] {
        let spelled: Arc<Mutex<Vec<Value>>> = Arc::default();
        let known = Arc::clone(&spelled);
        let model = ModelConfig {
            script: keeping(),
            counts: Counts::by(move |asked| real_tokens(asked.body, &known.lock().unwrap())),
            ..lenient()
        };
        let (model, proxy) = pair(model, |config| config.window_tokens = Some(8_000)).await;
        let mut input = vec![user("Read all parts of the project and keep notes.")];
        let mut compacted = 0;
        for turn in 0..40 {
            let request = json!({"model": "m", "stream": streams, "input": input,
                "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}}]});
            let got = proxy.post(Wire::OpenaiResponses, &request).await;
            assert_eq!(got.status, 200, "turn {turn}: {got:?}");
            assert_ne!(action(&got).1, "server_side_history");
            let sent = last(&model);
            if action(&got).0 == "compacted" {
                compacted += 1;
                assert_splice(request.to_string().as_bytes(), &sent.body);
                assert_pairs(&sent.body, &spelled.lock().unwrap());
                let summary = summary(&sent.body).unwrap();
                assert!(
                    summary.contains("zeppelin"),
                    "what was named is told: {summary}"
                );
            }
            let real = real_tokens(&sent.body, &spelled.lock().unwrap());
            assert!(real <= 8_000, "turn {turn}: {real}");
            for item in client::answer_items(&got).unwrap() {
                input.push(json!({"type": "item_reference", "id": item["id"]}));
                if item["type"] == "function_call" {
                    input.push(
                        json!({"type": "function_call_output", "call_id": item["call_id"],
                        "output": prose(turn, 60)}),
                    );
                }
                spelled.lock().unwrap().push(item);
            }
        }
        assert!(compacted > 10, "{compacted}");
    }
}

/// What a request is as the model reads it.
fn real_tokens(body: &[u8], spelled: &[Value]) -> u64 {
    let mut request: Value = serde_json::from_slice(body).unwrap();
    for item in request["input"].as_array_mut().unwrap() {
        if item["type"] == "item_reference" {
            let own = spelled.iter().find(|own| own["id"] == item["id"]);
            *item = own.unwrap().clone();
        }
    }
    epitome_testkit::tokens::count(Wire::OpenaiResponses, &request)
}

/// Every output has its call, named or spelled, and every call its output.
fn assert_pairs(body: &[u8], spelled: &[Value]) {
    let items: Vec<Value> = raw_messages(body)
        .into_iter()
        .map(|item| serde_json::from_str(item).unwrap())
        .collect();
    let outputs: Vec<&Value> = items
        .iter()
        .filter(|item| item["type"] == "function_call_output")
        .map(|item| &item["call_id"])
        .collect();
    let calls: Vec<&Value> = items
        .iter()
        .filter(|item| item["type"] == "item_reference")
        .filter_map(|item| spelled.iter().find(|own| own["id"] == item["id"]))
        .filter(|own| own["type"] == "function_call")
        .map(|own| &own["call_id"])
        .collect();
    assert_eq!(calls, outputs);
}

/// What went by before this process was there is opaque: it stays with what it may belong to.
#[tokio::test]
async fn names_of_items_that_nobody_saw_stay_with_their_outputs() {
    let (model, proxy) = pair(lenient(), |config| config.window_tokens = Some(8_000)).await;
    let mut input = vec![user("Read all parts of the project and keep notes.")];
    let mut spelled = Vec::new();
    for step in 0..60 {
        let call_id = format!("call_{step}");
        for id in [format!("rs_{step}"), format!("fc_{step}")] {
            input.push(json!({"type": "item_reference", "id": id}));
        }
        spelled
            .push(json!({"type": "function_call", "id": format!("fc_{step}"), "call_id": call_id}));
        input.push(
            json!({"type": "function_call_output", "call_id": call_id, "output": prose(step, 200)}),
        );
    }
    let request = json!({"model": "m", "input": input});
    let got = proxy.post(Wire::OpenaiResponses, &request).await;
    assert_eq!((got.status, action(&got).0), (200, "compacted"), "{got:?}");
    let sent = last(&model);
    assert_splice(request.to_string().as_bytes(), &sent.body);
    assert_pairs(&sent.body, &spelled);
    let text = String::from_utf8(sent.body.to_vec()).unwrap();
    for step in 0..60 {
        let has = |id: String| text.contains(&format!("\"{id}\""));
        assert_eq!(
            has(format!("rs_{step}")),
            has(format!("fc_{step}")),
            "{step}"
        );
    }
}
