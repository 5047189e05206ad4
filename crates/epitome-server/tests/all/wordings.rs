//! Whatever a provider says when it refuses, it is asked once more at most, and its own words reach the client where that
//! does not help. The rows are data: `vectors/refusals` of the testkit.

use epitome_testkit::refusals::{self, Refused};
use epitome_testkit::{ModelConfig, Received, Reply, Script, ScriptedModel, Wire};
use serde_json::Value;

use crate::support::{Proxy, history, pair, request, user};

/// So many answers lie ready: who asks more than twice is caught.
const ANSWERS: usize = 5;

fn answer(refused: &Refused) -> Reply {
    Reply::raw(refused.status, "application/json", refused.body.clone())
}

/// A provider that refuses the first `times` requests in these words.
async fn refusing(
    refused: &Refused,
    times: usize,
    window_tokens: Option<u64>,
) -> (ScriptedModel, Proxy) {
    let script = (0..ANSWERS).map(|at| match at < times {
        true => answer(refused),
        false => Reply::text("ok"),
    });
    let model = ModelConfig {
        script: Script::Fixed(script.collect()),
        ..ModelConfig::default()
    };
    pair(model, |config| config.window_tokens = window_tokens).await
}

/// The rows, each in one of the formats.
fn in_turn(rows: Vec<Refused>) -> impl Iterator<Item = (Wire, Refused)> {
    Wire::ALL.into_iter().cycle().zip(rows)
}

fn long(wire: Wire) -> Value {
    request(wire, "x", history(1, 16, 400))
}

fn assert_own_words(received: &Received, refused: &Refused) {
    let what = &refused.what;
    assert_eq!(received.status, refused.status, "{what}: {received:?}");
    assert_eq!(
        String::from_utf8_lossy(&received.body),
        refused.body,
        "{what}"
    );
}

#[tokio::test]
async fn an_overflow_in_any_words_costs_one_more_call() {
    let mut helped = 0;
    for (wire, row) in in_turn(refusals::overflows()) {
        let (model, proxy) = refusing(&row, 1, None).await;
        let received = proxy.post(wire, &long(wire)).await;
        let sent = model.requests();
        assert_eq!(sent.len(), 2, "{}: {received:?}", row.what);
        assert_eq!(received.status, 200, "{}: {received:?}", row.what);
        assert!(sent[1].body.len() < sent[0].body.len(), "{}", row.what);
        assert!(sent[1].violations.is_empty(), "{:?}", sent[1].violations);
        helped += 1;
    }
    assert!(helped >= 44, "{helped}");
}

#[tokio::test]
async fn a_provider_that_goes_on_refusing_is_not_asked_a_third_time() {
    for (wire, row) in in_turn(refusals::overflows()) {
        let (model, proxy) = refusing(&row, ANSWERS, None).await;
        let received = proxy.post(wire, &long(wire)).await;
        assert_eq!(model.requests().len(), 2, "{}: {received:?}", row.what);
        assert_own_words(&received, &row);
    }
}

#[tokio::test]
async fn what_is_no_overflow_costs_no_call_of_its_own() {
    let rows = refusals::others();
    assert!(rows.len() >= 60, "{}", rows.len());
    for (wire, row) in in_turn(rows) {
        let (model, proxy) = refusing(&row, ANSWERS, None).await;
        for asked in [request(wire, "x", [user("hi")]), long(wire)] {
            model.clear();
            let received = proxy.post(wire, &asked).await;
            assert_eq!(model.requests().len(), 1, "{}: {received:?}", row.what);
            assert_own_words(&received, &row);
        }
    }
}

/// What we made of a request may be what is refused: then the client's own bytes, or another form, are tried, once.
#[tokio::test]
async fn a_refused_rewrite_costs_one_more_call_at_most() {
    for (wire, row) in in_turn(refusals::others()) {
        let (model, proxy) = refusing(&row, ANSWERS, Some(6_000)).await;
        let received = proxy.post(wire, &long(wire)).await;
        let calls = model.requests().len();
        let may_be_ours = matches!(row.status, 400 | 413 | 422)
            || (row.status == 500 && row.what == "structural");
        let is_ours = may_be_ours && matches!(row.what.as_str(), "structural" | "other");
        assert!(
            calls == 1 || (calls == 2 && is_ours),
            "{calls} for {row:?}: {received:?}"
        );
        assert_own_words(&received, &row);
    }
}
