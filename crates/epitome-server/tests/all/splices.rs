//! What is forwarded after a compaction: the client's own bytes around one inserted message.

use epitome_testkit::generate::{self, Kind};
use epitome_testkit::{ModelConfig, Script, ScriptedModel, Wire};
use serde_json::json;

use crate::support::{
    Proxy, action, assert_splice, history, last, pair, raw_messages, request, summary, user,
};

async fn small_window(window_tokens: u64) -> (ScriptedModel, Proxy) {
    let model = ModelConfig {
        window_tokens,
        script: Script::Agent {
            tool_every: 0,
            parallel_every: 0,
            words: 20,
        },
        ..ModelConfig::default()
    };
    pair(model, |config| config.window_tokens = Some(window_tokens)).await
}

#[tokio::test]
async fn a_compacted_request_is_the_clients_bytes_around_one_message() {
    let (model, proxy) = small_window(6_000).await;
    for (seed, wire) in (3..).zip(Wire::MESSAGES) {
        // Odd spacing, unknown fields, big numbers and escapes, which only survive when nothing is re-serialised.
        let list: Vec<String> = history(seed, 12, 400)
            .iter()
            .enumerate()
            .map(|(at, message)| {
                let text = message.to_string();
                let inner = text.strip_suffix('}').unwrap();
                format!(
                    "{inner} ,\r\n\t\"x_{at}\" : 1234567890123456789012{at}E0 , \"\\u0079\":[ ]}}"
                )
            })
            .collect();
        let body = format!(
            "\n{{ \"x_before\" : 1E3 , \"model\":\"m\",\"max_tokens\":256, \"messages\" : [ {} ] , \"x_after\":\"\\ud83e\\udd80\" }}\r\n",
            list.join(" ,\n ")
        );
        let received = proxy.post_bytes(wire, body.clone()).await;
        assert_eq!(received.status, 200, "{received:?}");
        assert_eq!(action(&received), ("compacted", "hard_line"));
        let sent = last(&model);
        assert!(sent.violations.is_empty(), "{:?}", sent.violations);
        assert_eq!(sent.header("content-length"), sent.body.len().to_string());
        assert_splice(body.as_bytes(), &sent.body);
        let forwarded = raw_messages(&sent.body);
        assert_eq!(forwarded[0], list[0], "the task stays as it was sent");
        assert!(forwarded.contains(&list[list.len() - 2].as_str()));
        let (before, after) = received.header("x-epitome-tokens").split_once(';').unwrap();
        assert!(before.parse::<u64>().unwrap() > after.parse::<u64>().unwrap());
    }
}

#[tokio::test]
async fn an_epoch_is_the_same_bytes_in_every_later_request() {
    let (model, proxy) = small_window(8_000).await;
    for (seed, wire) in (5..).zip(Wire::ALL) {
        let mut messages = history(seed, 12, 400);
        let mut frozen = None;
        for turn in 0..6 {
            let body = request(wire, "m", messages.clone()).to_string();
            let received = proxy.post_bytes(wire, body.clone()).await;
            let expected = if turn == 0 { "hard_line" } else { "epoch" };
            assert_eq!(action(&received), ("compacted", expected), "turn {turn}");
            let sent = last(&model);
            assert_eq!(sent.status, Some(200));
            assert_splice(body.as_bytes(), &sent.body);
            let prefix: Vec<String> = raw_messages(&sent.body)
                .iter()
                .take(frozen.as_ref().map_or(usize::MAX, Vec::len))
                .map(ToString::to_string)
                .collect();
            // Everything that was sent before is a prefix of what is sent now: the provider's cache stays warm.
            assert_eq!(*frozen.get_or_insert_with(|| prefix.clone()), prefix);
            frozen = Some(
                raw_messages(&sent.body)
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
            );
            messages.push(crate::support::assistant(format!("Done {turn}.")));
            messages.push(user(format!("Then go on with {turn}.")));
        }
    }
}

#[tokio::test]
async fn the_cache_mark_of_a_removed_message_moves_to_the_summary() {
    let (model, proxy) = small_window(6_000).await;
    let mut messages = history(8, 12, 400);
    for at in [4, 6] {
        let text = messages[at]["content"].clone();
        messages[at]["content"] = json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]);
    }
    let received = proxy
        .post(Wire::Anthropic, &request(Wire::Anthropic, "m", messages))
        .await;
    assert_eq!(action(&received).0, "compacted");
    let sent = last(&model);
    assert!(sent.violations.is_empty(), "{:?}", sent.violations);
    let summary = summary(&sent.body).unwrap();
    assert!(summary.ends_with(r#","cache_control":{"ttl":"1h","type":"ephemeral"}}]}"#));
    let marks = String::from_utf8_lossy(&sent.body)
        .matches("cache_control")
        .count();
    assert_eq!(marks, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_conversations_of_all_kinds_are_spliced_and_stay_valid() {
    let (model, proxy) = small_window(24_000).await;
    let mut compacted = 0;
    for wire in Wire::ALL {
        for kind in Kind::ALL {
            let request = generate::request(wire, kind, 77, 120);
            let body = request.to_string();
            let received = proxy.post_bytes(wire, body.clone()).await;
            let sent = last(&model);
            assert_eq!(sent.status, Some(200), "{wire:?} {kind:?}: {received:?}");
            assert!(
                sent.violations.is_empty(),
                "{kind:?}: {:?}",
                sent.violations
            );
            if action(&received).0 == "compacted" {
                compacted += 1;
                assert_splice(body.as_bytes(), &sent.body);
            } else {
                assert_eq!(sent.body, body);
            }
        }
    }
    assert!(compacted >= 15, "{compacted}");
}
