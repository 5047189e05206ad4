//! A question that nobody answered yet goes out word for word, also where the client's own notes stand behind it.

use epitome_testkit::{ModelConfig, Wire};
use serde_json::{Value, json};

use crate::support::{history, last, pair, raw_messages, request};

/// A note of the client, as each format has it.
fn note(wire: Wire, number: usize) -> Value {
    let text = format!("Answer in {number} short sentences.");
    match wire {
        Wire::OpenaiChat => json!({"role": "system", "content": text}),
        Wire::OpenaiResponses => json!({
            "type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}],
        }),
        Wire::Anthropic => json!({"role": "system", "content": [{"type": "text", "text": text}]}),
    }
}

#[tokio::test]
async fn a_question_with_notes_behind_it_goes_out() {
    for wire in Wire::ALL {
        for notes in [1, 2, 5] {
            let (model, proxy) = pair(ModelConfig::default(), |config| {
                config.window_tokens = Some(6_000);
            })
            .await;
            let mut messages = history(1, 20, 400);
            let question = messages[messages.len() - 1].to_string();
            messages.extend((0..notes).map(|number| note(wire, number)));
            // Twice: the second time what was made for the first is in force.
            for _ in 0..2 {
                let received = proxy
                    .post(wire, &request(wire, "x", messages.clone()))
                    .await;
                assert_eq!(received.status, 200, "{received:?}");
                let sent = last(&model);
                assert!(sent.violations.is_empty(), "{:?}", sent.violations);
                let shown = raw_messages(&sent.body);
                assert!(shown.len() < messages.len(), "{wire:?}: not compacted");
                let at = shown.iter().position(|message| *message == question);
                let behind = shown.len() - 1 - at.expect("the question is shown");
                assert!(behind >= notes, "{wire:?}: {behind} behind it");
            }
        }
    }
}
