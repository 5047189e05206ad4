//! A9 at length: steady growth for 200 turns, whatever the provider counts. The proxy summarises by itself and at
//! once, so there is no summary that could come late.

use epitome_testkit::{Counts, ModelConfig, Shares, Wire};

use super::rig::{Rig, Talk, server};

const TURNS: u64 = 200;
const LEAST_USE_PERCENT: u64 = 60;

/// Compactions are as rare as room for a quarter of the window each would make them, within a factor of two; the
/// window is used before each, and nothing is refused.
async fn is_compacted_rarely(window: u64, shares: Shares) {
    let model = ModelConfig {
        counts: Counts::by(move |asked| {
            let share = shares.at(asked.number as u64, TURNS);
            (asked.plain_tokens as f64 * share) as u64
        }),
        ..server(window)
    };
    let rig = Rig::of_window(model).await;
    let mut talk = Talk::new(Wire::OpenaiChat, "local", 1);
    let turn_tokens = window / 50;
    let (mut text, mut peak, mut peaks) = (None, 0, Vec::new());
    for turn in 0..TURNS {
        talk.answered(turn_tokens);
        let outcome = rig.ask(&talk).await;
        let what = format!("{window} {shares:?}, turn {turn}");
        outcome.assert_answered(&what);
        assert_eq!(outcome.sent.len(), 1, "{what}: sent more than once");
        let now = outcome.summary();
        if now.is_some() && now != text {
            peaks.push(std::mem::take(&mut peak));
            text = now;
        }
        peak = peak.max(outcome.true_tokens());
    }
    let what = format!(
        "{window} {shares:?}: {} compactions at {peaks:?}",
        peaks.len()
    );
    println!("{what}");
    let grown = shares.grown_tokens(turn_tokens, TURNS);
    let needed = (grown / (window as f64 / 4.0)).ceil() as usize;
    assert!(peaks.len() <= 2 * needed, "{needed} needed: {what}");
    assert!(!peaks.is_empty(), "{what}");
    for peak in &peaks {
        assert!(peak * 100 >= window * LEAST_USE_PERCENT, "{peak}: {what}");
    }
}

/// A9.
pub(super) async fn steady_growth_with_constant_counts() {
    for share in [0.4, 0.7, 1.0, 1.4, 1.8] {
        is_compacted_rarely(8_000, Shares::Constant(share)).await;
        is_compacted_rarely(40_000, Shares::Constant(share)).await;
    }
    is_compacted_rarely(200_000, Shares::Constant(0.4)).await;
}

/// A9.
pub(super) async fn steady_growth_with_drifting_counts() {
    for (from, to) in [(0.4, 1.8), (1.8, 0.4), (0.9, 1.2)] {
        is_compacted_rarely(8_000, Shares::Drifting(from, to)).await;
        is_compacted_rarely(40_000, Shares::Drifting(from, to)).await;
    }
    is_compacted_rarely(200_000, Shares::Drifting(0.4, 1.8)).await;
}

/// A9.
pub(super) async fn steady_growth_with_alternating_counts() {
    for (one, other) in [(0.4, 1.8), (0.4, 0.9)] {
        is_compacted_rarely(8_000, Shares::Alternating(one, other)).await;
        is_compacted_rarely(40_000, Shares::Alternating(one, other)).await;
    }
    is_compacted_rarely(200_000, Shares::Alternating(0.4, 1.8)).await;
}
