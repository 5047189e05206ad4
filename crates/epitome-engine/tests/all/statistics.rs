//! What a conversation took: tokens as `vibe` counts them, and money.

use epitome::Prices;
use epitome_engine::{Statistics, cost_nanodollars};
use serde_json::Value;

use super::pipeline::{PRICES, usage};

#[test]
fn a_call_costs_what_its_parts_cost() {
    let cases = [
        (usage(0, 0, 0, 0), PRICES, Some(0)),
        (usage(10, 0, 0, 0), PRICES, Some(30_000)),
        (
            usage(10, 20, 30, 40),
            PRICES,
            Some(30_000 + 6_000 + 112_500 + 600_000),
        ),
        (usage(200_000, 0, 0, 0), PRICES, Some(600_000_000)),
        (usage(200_001, 0, 0, 0), PRICES, Some(1_200_006_000)),
        (
            usage(0, 10, 10, 0),
            Prices {
                input: Some(5),
                ..Prices::default()
            },
            Some(100),
        ),
        (
            usage(10, 0, 0, 1),
            Prices {
                input: Some(5),
                ..Prices::default()
            },
            None,
        ),
        (usage(0, 0, 0, 0), Prices::default(), Some(0)),
        (
            usage(u64::MAX, u64::MAX, 1, u64::MAX),
            PRICES,
            Some(u64::MAX),
        ),
    ];
    for (usage, prices, expect) in cases {
        assert_eq!(cost_nanodollars(usage, &prices), expect, "{usage:?}");
    }
}

/// The cases that define the statistics of `vibe`.
const VECTORS: &str = include_str!("../../../epitome/tests/vectors/vibe.stats.json");

#[test]
fn statistics_conform() {
    let suite: Value = serde_json::from_str(VECTORS).unwrap();
    let cases = suite["cases"].as_array().unwrap();
    assert!(cases.len() > 10);
    for case in cases {
        let mut statistics = Statistics::default();
        for turn in case["input"]["turns"].as_array().unwrap() {
            let number = |key: &str| turn[key].as_u64().unwrap();
            let usage = usage(number("prompt"), 0, 0, number("completion"));
            statistics.update(usage, turn["seconds"].as_f64().unwrap(), &Prices::default());
        }
        let (tokens, expect) = (statistics.tokens, &case["expect"]);
        let counts = [
            ("steps", tokens.steps),
            ("session_prompt_tokens", tokens.session_prompt_tokens),
            (
                "session_completion_tokens",
                tokens.session_completion_tokens,
            ),
            ("context_tokens", tokens.context_tokens),
            ("last_turn_prompt_tokens", tokens.last_turn_prompt_tokens),
            (
                "last_turn_completion_tokens",
                tokens.last_turn_completion_tokens,
            ),
        ];
        for (name, count) in counts {
            assert_eq!(Some(count), expect[name].as_u64(), "{name}: {case}");
        }
        let speed = expect["tokens_per_second"].as_f64().unwrap();
        assert!(
            (tokens.tokens_per_second - speed).abs() <= speed * 1e-9,
            "{case}"
        );
    }
}

#[test]
fn a_summary_is_a_step_and_no_turn() {
    let mut statistics = Statistics::default();
    statistics.update(usage(90_000, 10_000, 0, 500), 10.0, &PRICES);
    statistics.summary_call(usage(100_000, 0, 0, 2_000), &PRICES);
    statistics.compacted(15_000);
    let tokens = statistics.tokens;
    assert_eq!(
        (tokens.steps, statistics.turns(), statistics.compactions),
        (2, 1, 1)
    );
    assert_eq!(
        (
            tokens.session_prompt_tokens,
            tokens.session_completion_tokens
        ),
        (200_000, 2_500)
    );
    assert_eq!(
        (tokens.context_tokens, tokens.last_turn_prompt_tokens),
        (15_000, 100_000)
    );
    assert!((tokens.tokens_per_second - 50.0).abs() < 1e-9);

    // Nonsense of a provider is not summed up beyond what numbers hold.
    for _ in 0..3 {
        let nonsense = usage(u64::MAX, u64::MAX, 0, u64::MAX);
        statistics.update(nonsense, f64::NAN, &PRICES);
        statistics.summary_call(nonsense, &PRICES);
    }
    assert_eq!(statistics.spent_nanodollars(), u64::MAX);
}
