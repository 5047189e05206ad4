//! A1, A4, A5: whom a compaction serves, what it survives, and how long it lasts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use epitome_testkit::{ModelConfig, Refuses, Reply, ScriptedModel, Wire};
use http::Method;

use super::rig::{Outcome, Rig, Talk, server};
use crate::support::{Folder, Proxy, config};

const LARGE: &str = "claude-opus-4-6";
const SMALL: &str = "claude-haiku-4-5";

fn two_models() -> ModelConfig {
    ModelConfig {
        windows: vec![(LARGE.into(), 1_000_000), (SMALL.into(), 200_000)],
        ..server(200_000)
    }
}

async fn large_then_small(rig: &Rig) -> Talk {
    let mut talk = Talk::of_size(Wire::Anthropic, LARGE, 1, 306_000, 9_000);
    rig.ask(&talk).await.assert_bare("306,000 of 1,000,000");
    talk.answered(500);
    talk.model = SMALL.to_owned();
    let outcome = rig.ask(&talk).await;
    outcome.assert_compacted("306,000 in a window of 200,000");
    talk.answered(500);
    talk.model = LARGE.to_owned();
    talk
}

/// A1: what was made for a window of 200,000 does not serve one of 1,000,000 that the bare request fits.
pub(super) async fn a1_back_on_the_larger_model() {
    let rig = Rig::start(two_models(), |_| {}).await;
    let mut talk = large_then_small(&rig).await;
    for turn in 0..3 {
        let outcome = rig.ask(&talk).await;
        outcome.assert_bare(&format!("back on the large model, turn {turn}"));
        talk.answered(500);
    }
}

/// A1, after a restart of the proxy.
pub(super) async fn a1_back_on_the_larger_model_after_a_restart() {
    let folder = Folder::new();
    let model = ScriptedModel::start(two_models()).await;
    let mut config = config(model.address());
    config.store = folder.location();
    let proxy = Proxy::start(config.clone()).await;
    let rig = Rig { model, proxy };
    let talk = large_then_small(&rig).await;
    let Rig { model, proxy } = rig;
    proxy.stop().await;
    let proxy = Proxy::start(config).await;
    let rig = Rig { model, proxy };
    rig.ask(&talk).await.assert_bare("back on the large model");
}

/// A1: a compaction that `max_tokens` alone forced serves that request only.
pub(super) async fn a1_after_one_large_max_tokens() {
    let rig = Rig::start(two_models(), |_| {}).await;
    let mut talk = Talk::of_size(Wire::Anthropic, SMALL, 1, 120_000, 6_000);
    rig.ask(&talk).await.assert_bare("120,000 of 200,000");
    talk.answered(500);
    talk.max_tokens = 100_000;
    let outcome = rig.ask(&talk).await;
    outcome.assert_answered("120,000 with an output of 100,000 in 200,000");
    talk.answered(500);
    talk.max_tokens = 1_000;
    rig.ask(&talk)
        .await
        .assert_bare("with a small output again");
}

/// A4: credit that runs out says nothing about what we made of a request.
pub(super) async fn a4_credit_runs_out_four_times() {
    let is_broke = Arc::new(AtomicBool::new(false));
    let broke = Arc::clone(&is_broke);
    let words = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.";
    let rig = Rig::of_window(ModelConfig {
        refuses: Refuses::by(move |_| {
            broke
                .load(Ordering::Relaxed)
                .then(|| Reply::error(400, "invalid_request_error", words))
        }),
        ..server(20_000)
    })
    .await;
    let mut talk = Talk::of_size(Wire::Anthropic, "local", 1, 32_000, 800);
    let first = rig.ask(&talk).await;
    first.assert_compacted("32,000 in 20,000");
    is_broke.store(true, Ordering::Relaxed);
    talk.answered(100);
    for attempt in 0..4 {
        let outcome = rig.ask(&talk).await;
        assert_eq!(outcome.received.status, 400, "attempt {attempt}");
        let text = String::from_utf8_lossy(&outcome.received.body).into_owned();
        assert!(text.contains(words), "the provider's own words: {text}");
        assert_eq!(outcome.sent.len(), 1, "nothing else is tried: {attempt}");
    }
    is_broke.store(false, Ordering::Relaxed);
    for turn in 0..3 {
        let outcome = rig.ask(&talk).await;
        outcome.assert_compacted("the credit is back");
        let same = outcome.summary() == first.summary();
        assert!(same, "the same summary, byte for byte, in turn {turn}");
        talk.answered(100);
    }
}

/// A4: a gateway that does not know `count_tokens` has refused nothing.
pub(super) async fn a4_a_gateway_without_count_tokens() {
    let asked = AtomicUsize::new(0);
    let rig = Rig::of_window(ModelConfig {
        refuses: Refuses::by(move |request| {
            request.is_count().then(|| {
                let status = [404, 400, 422][asked.fetch_add(1, Ordering::Relaxed) % 3];
                let words = "Unknown request URL: POST /v1/messages/count_tokens";
                Reply::error(status, "invalid_request_error", words)
            })
        }),
        ..server(60_000)
    })
    .await;
    let mut talk = Talk::of_size(Wire::Anthropic, "local", 1, 64_000, 1_600);
    let first = rig.ask(&talk).await;
    first.assert_compacted("64,000 in 60,000");
    let mut changes = 0;
    for _ in 0..40 {
        talk.answered(40);
        let headers = [
            ("x-api-key", "test-key"),
            ("anthropic-version", "2023-06-01"),
        ];
        let path = "/v1/messages/count_tokens";
        let body = talk.request().to_string();
        let counted = rig.proxy.send(&Method::POST, path, &headers, body).await;
        assert!(matches!(counted.status, 400 | 404 | 422), "{counted:?}");
        let outcome = rig.ask(&talk).await;
        outcome.assert_compacted("after a count that was refused");
        changes += usize::from(outcome.summary() != first.summary());
    }
    assert_eq!(changes, 0, "turns with other summary bytes, of 40");
}

/// Grows until a summary goes out; gives the size that was sent then.
async fn first_compaction(rig: &Rig, talk: &mut Talk, pause: Duration) -> Outcome {
    for _ in 0..80 {
        talk.stepped(6_000);
        let outcome = rig.ask(talk).await;
        outcome.assert_answered("on the way to the line");
        if outcome.summary().is_some() {
            return outcome;
        }
        if outcome.true_tokens() > 80_000 {
            // Time for what is prepared in the background; the laws below hold with and without it.
            tokio::time::sleep(pause).await;
        }
    }
    panic!("480,000 tokens were not compacted in a window of 200,000");
}

/// A5: a compaction that was prepared leaves no more than one made on the spot, and lasts as long.
pub(super) async fn a5_a_prepared_compaction_lasts_as_long_as_a_fresh_one() {
    let rig = Rig::of_window(server(200_000)).await;
    let mut talk = Talk::new(Wire::OpenaiChat, "local", 1);
    let pause = Duration::from_millis(250);
    let prepared = first_compaction(&rig, &mut talk, pause).await;
    // The same conversation comes to a proxy that saw its first half only: nothing can have been prepared.
    let other = Rig::of_window(server(200_000)).await;
    let mut half = talk.clone();
    half.messages.truncate(talk.messages.len() / 4 * 2 + 1);
    other.ask(&half).await.assert_bare("the first half");
    let fresh = other.ask(&talk).await;
    fresh.assert_compacted("the same conversation at once");
    let (prepared, fresh) = (prepared.true_tokens(), fresh.true_tokens());
    assert!(
        prepared * 4 <= fresh * 5,
        "prepared leaves {prepared}, fresh {fresh} of 200,000"
    );
    // The next one may come when a quarter of the window has been filled, not sooner.
    let before = talk.plain_tokens();
    let text = rig.ask(&talk).await.summary();
    loop {
        talk.stepped(6_000);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered("after the compaction");
        let grown = talk.plain_tokens() - before;
        if outcome.summary() != text {
            assert!(grown >= 50_000, "the next one came {grown} tokens later");
            return;
        }
        if grown >= 50_000 {
            return;
        }
        tokio::time::sleep(pause).await;
    }
}
