//! The hard line: with a known window no request above it goes out, whatever the conversation is made of.

use epitome_testkit::generate::{self, Kind};
use epitome_testkit::{ModelConfig, Wire, client};
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{action, assert_splice, last, pair};

const TURNS: usize = 30;
const WINDOWS: [u64; 4] = [6_000, 12_000, 24_000, 64_000];

#[derive(Default)]
struct Tally {
    requests: usize,
    compacted: usize,
    helpless: usize,
}

/// One conversation of `TURNS` requests in front of a model whose window is exactly the configured one.
async fn conversation(wire: Wire, kind: Kind, window: u64, seed: u64) -> Tally {
    let model = ModelConfig {
        window_tokens: window,
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |config| config.window_tokens = Some(window)).await;
    let mut tally = Tally::default();
    let output = window / 8;
    // More than a step at once, so that every window is crossed within the turns.
    let stride = usize::try_from(window / 12_000).unwrap().max(1);
    for mut request in generate::Growth::new(wire, kind, seed)
        .step_by(stride)
        .take(TURNS)
    {
        request["max_tokens"] = json!(output);
        if let Some(thinking) = request.get_mut("thinking") {
            *thinking = json!({"type": "enabled", "budget_tokens": 1024});
            request["max_tokens"] = json!(output.max(1_025));
        }
        // Tools alone take most of the smallest windows.
        if window < 12_000
            && let Some(tools) = request.get_mut("tools")
        {
            tools.as_array_mut().unwrap().truncate(2);
        }
        request["stream"] = json!(tally.requests % 2 == 0);
        let body = request.to_string();
        let what = format!("{wire:?} {kind:?} {window} turn {}", tally.requests);
        let received = proxy.post_bytes(wire, body.clone()).await;
        let sent = last(&model);
        assert!(sent.violations.is_empty(), "{what}: {:?}", sent.violations);
        tally.requests += 1;
        let (action, reason) = action(&received);
        if reason == "floor_above_window" || reason == "window_below_reserves" {
            tally.helpless += 1;
            continue;
        }
        if action == "compacted" {
            tally.compacted += 1;
            assert_splice(body.as_bytes(), &sent.body);
        } else {
            assert_eq!(sent.body, body, "{what}");
        }
        let reserve = (window / 4).max(output);
        let input = sent.input_tokens.unwrap();
        // What no provider counted is estimated, and may be off by a little more than its error bar (A9); in the smallest window
        // one step is an eighth of it.
        let slack = (window / 100).max(150);
        assert!(
            input + reserve <= window + slack,
            "{what}: {input} with {action} {reason}, taken for {:?}",
            received.header("x-epitome-tokens")
        );
        assert_eq!(received.status, 200, "{what}: {reason} {input}");
        assert!(
            client::assistant_message(wire, &received).is_some(),
            "{what}"
        );
    }
    assert_eq!(
        model.requests().len(),
        tally.requests,
        "nothing had to be sent twice"
    );
    tally
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_above_the_hard_line_goes_out() {
    let mut running = JoinSet::new();
    for (at, kind) in Kind::ALL.into_iter().enumerate() {
        for (shift, wire) in Wire::MESSAGES.into_iter().enumerate() {
            for round in 0..2 {
                let window = WINDOWS[(at + shift + 2 * round) % WINDOWS.len()];
                running.spawn(async move {
                    let tally = conversation(wire, kind, window, 40 + round as u64).await;
                    (wire, kind, window, tally)
                });
            }
        }
    }
    let mut sum = Tally::default();
    while let Some(done) = running.join_next().await {
        let (wire, kind, window, tally) = done.unwrap();
        assert_eq!(tally.requests, TURNS);
        let what = format!("{wire:?} {kind:?} {window}: {}", tally.helpless);
        assert!(tally.helpless == 0 || window < 12_000, "helpless: {what}");
        sum.requests += tally.requests;
        sum.compacted += tally.compacted;
        sum.helpless += tally.helpless;
    }
    assert!(
        sum.compacted * 3 > sum.requests,
        "{} compacted",
        sum.compacted
    );
    assert!(
        sum.helpless * 20 < sum.requests,
        "{} helpless",
        sum.helpless
    );
}
