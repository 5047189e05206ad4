//! A3, A7, A8, A9: how large a request is, by whose count, and how large it may be.

use epitome_testkit::{Answer, Counts, ModelConfig, Refuses, Reply, Wire};
use serde_json::{Value, json};

use super::rig::{DENSE, Rig, Talk, WIDE, counts_by_first_words, server, tool};

/// A conversation of 62,000 in a window of 128,000 while another one is counted oddly.
async fn beside(model: ModelConfig, odd: impl AsyncFnOnce(&Rig) -> Talk) {
    let rig = Rig::of_window(model).await;
    let mut calm = Talk::of_size(Wire::Anthropic, "local", 1, 62_000, 3_000);
    rig.ask(&calm).await.assert_bare("62,000 of 128,000");
    let mut other = odd(&rig).await;
    for turn in 0..2 {
        calm.answered(300);
        let outcome = rig.ask(&calm).await;
        outcome.assert_bare(&format!("the calm one, turn {turn} after the odd count"));
        other.answered(300);
        let outcome = rig.ask(&other).await;
        outcome.assert_bare(&format!("the odd one, turn {turn}"));
    }
}

/// A3: a document that counts much says nothing about text.
pub(super) async fn a3_a_pdf_that_counts_much() {
    let model = ModelConfig {
        counts: Counts::by(|asked| {
            let document = if asked.has_block("document") {
                40_000
            } else {
                0
            };
            asked.plain_tokens + document
        }),
        ..server(128_000)
    };
    beside(model, async |rig| {
        let mut talk = Talk::of_size(Wire::Anthropic, "local", 2, 20_000, 2_000);
        let data = "JVBERi0xLjQKJcfsj6IKNSAwIG9iago8PC9MZW5n".repeat(100);
        talk.messages
            .push(json!({"role": "assistant", "content": "Yes?"}));
        talk.messages.push(json!({"role": "user", "content": [
            {"type": "document", "source": {
                "type": "base64", "media_type": "application/pdf", "data": data,
            }},
            {"type": "text", "text": "What does it say?"},
        ]}));
        let outcome = rig.ask(&talk).await;
        outcome.assert_bare("with the document");
        talk
    })
    .await;
}

/// A3: usage of a stream with searches is the sum of several readings of the same input.
pub(super) async fn a3_a_streamed_web_search() {
    let model = ModelConfig {
        refuses: Refuses::by(|asked| {
            let is_streamed = asked.request.get("stream") == Some(&json!(true));
            is_streamed.then(|| {
                Reply::answer(Answer {
                    text: Some("It is said on the page.".into()),
                    searches: 2,
                    ..Answer::default()
                })
            })
        }),
        ..server(128_000)
    };
    beside(model, async |rig| {
        let mut talk = Talk::of_size(Wire::Anthropic, "local", 2, 20_000, 2_000);
        talk.tools = vec![json!({"type": "web_search_20250305", "name": "web_search"})];
        let mut request = talk.request();
        request["stream"] = json!(true);
        let outcome = rig.post(Wire::Anthropic, request).await;
        outcome.assert_bare("with the searches");
        let answer = epitome_testkit::client::assistant_message(Wire::Anthropic, &outcome.received);
        talk.messages.push(answer.expect("an answer"));
        talk.messages.push(crate::support::user("And now?"));
        talk
    })
    .await;
}

/// A7: more than seven tenths of a window may be used before anything is taken away. The reserve is at most a quarter,
/// and the error bar covers no more than the 1,000 tokens that nobody counted.
pub(super) async fn a7_a_request_may_use_most_of_the_window() {
    for wire in Wire::ALL {
        let rig = Rig::of_window(server(60_000)).await;
        let mut talk = Talk::new(wire, "local", 1);
        let mut largest = 0;
        loop {
            talk.stepped(1_000);
            let outcome = rig.ask(&talk).await;
            outcome.assert_answered("on the way up");
            if !outcome.is_bare() {
                break;
            }
            largest = outcome.true_tokens();
        }
        assert!(
            largest > 42_000,
            "{wire:?}: compacted at {largest} of 60,000"
        );
    }
}

/// A7: of a fresh result that is too large, as much arrives as fits.
pub(super) async fn a7_a_fresh_result_is_not_cut_to_a_fraction() {
    for wire in [Wire::OpenaiChat, Wire::Anthropic] {
        let rig = Rig::of_window(server(60_000)).await;
        let mut talk = Talk::new(wire, "local", 1);
        talk.stepped(69_000);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered("a result of 69,000 in 60,000");
        let sent = outcome.true_tokens();
        assert!(
            sent >= 35_000,
            "{wire:?}: {sent} of a result of 69,000 arrived"
        );
    }
}

/// A8: a program with other tools that begins with the same words is another one.
pub(super) async fn a8_the_same_first_words_of_another_program() {
    for wire in Wire::ALL {
        let rig = Rig::start(server(200_000), |_| {}).await;
        let mut agent = Talk::new(wire, "local", 1);
        agent.messages = vec![crate::support::user("hello")];
        let mut plain = agent.clone();
        agent.tools = (0..60)
            .map(|number| {
                let mut tool = tool(wire, &format!("tool_{number}"));
                let about = format!("Does the work number {number}. {}", agent.words(400));
                match wire {
                    Wire::OpenaiChat => tool["function"]["description"] = json!(about),
                    _ => tool["description"] = json!(about),
                }
                tool
            })
            .collect();
        let large = rig.ask(&agent).await;
        large.assert_bare("with 60 tools");
        assert!(large.true_tokens() > 24_000);
        plain.max_tokens = 500;
        let small = rig.ask(&plain).await;
        small.assert_bare("without tools");
        let said = small.received.header("x-epitome-tokens").to_owned();
        let before: u64 = said.split(';').next().unwrap().parse().unwrap();
        assert!(
            before < 100,
            "{wire:?}: `hello` is said to be {said} tokens"
        );
        assert_ne!(large.conversation(), small.conversation(), "{wire:?}");
    }
}

/// What a conversation that grows by tool results went through.
struct Growth {
    compactions: u64,
    grown_tokens: u64,
    /// The largest request before each compaction, by the server's count.
    peaks: Vec<u64>,
}

async fn grow(rig: &Rig, window: u64, turns: u64, words: impl Fn(u64) -> &'static str) -> Growth {
    let mut talk = Talk::new(Wire::OpenaiChat, "local", 1);
    let mut growth = Growth {
        compactions: 0,
        grown_tokens: 0,
        peaks: Vec::new(),
    };
    let (mut text, mut peak) = (None, 0);
    for turn in 0..turns {
        let result = format!("{}{}", words(turn), talk.words(window / 25));
        talk.stepped_with(&result);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered(&format!("turn {turn}"));
        let now = outcome.summary();
        if now.is_some() && now != text {
            growth.compactions += 1;
            growth.peaks.push(peak);
            peak = 0;
            text = now;
        }
        peak = peak.max(outcome.true_tokens());
    }
    growth.grown_tokens = true_size(&talk);
    growth
}

/// The whole conversation as [`counts_by_first_words`] counts it, closely enough.
fn true_size(talk: &Talk) -> u64 {
    let by_words = |message: &Value| {
        let text = message["content"].as_str().unwrap_or("");
        let plain = epitome_testkit::tokens::of_bytes(text.len() as u64);
        let percent = [WIDE, DENSE]
            .into_iter()
            .find(|(words, _)| text.starts_with(words))
            .map_or(100, |(_, percent)| percent);
        plain * percent / 100
    };
    talk.messages.iter().map(by_words).sum()
}

/// A9: the lines stay where they are, whatever the provider makes of our estimate.
async fn no_spiral(window: u64, turns: u64, counts: Counts, words: impl Fn(u64) -> &'static str) {
    let model = ModelConfig {
        counts,
        ..server(window)
    };
    let rig = Rig::of_window(model).await;
    let growth = grow(&rig, window, turns, words).await;
    let Growth {
        compactions,
        grown_tokens,
        peaks,
    } = growth;
    assert!(
        compactions > 0,
        "{grown_tokens} of {window} and no compaction"
    );
    let allowed = (2 * grown_tokens).div_ceil(window / 4);
    assert!(
        compactions <= allowed,
        "{compactions} compactions over {grown_tokens} tokens, {allowed} allowed; peaks {peaks:?}"
    );
    let lowest = peaks.iter().min().copied().unwrap_or(0);
    assert!(
        lowest * 10 >= window * 6,
        "compacted below six tenths of {window}: {peaks:?}"
    );
}

const fn wide(_: u64) -> &'static str {
    WIDE.0
}

const fn by_turns(turn: u64) -> &'static str {
    if turn.is_multiple_of(2) {
        WIDE.0
    } else {
        DENSE.0
    }
}

/// A gateway in front of two models that count otherwise.
fn by_requests() -> Counts {
    Counts::by(|asked| {
        let percent = if asked.number % 2 == 0 { 75 } else { 125 };
        asked.plain_tokens * percent / 100
    })
}

/// A9: results that count seven tenths of what they look like.
pub(super) async fn a9_counts_below_the_estimate_in_16_000() {
    no_spiral(16_000, 120, counts_by_first_words(), wide).await;
}

/// A9.
pub(super) async fn a9_counts_below_the_estimate_in_100_000() {
    no_spiral(100_000, 80, counts_by_first_words(), wide).await;
}

/// A9: results that count by turns less and more.
pub(super) async fn a9_results_above_and_below_the_estimate_in_16_000() {
    no_spiral(16_000, 100, counts_by_first_words(), by_turns).await;
}

/// A9.
pub(super) async fn a9_results_above_and_below_the_estimate_in_100_000() {
    no_spiral(100_000, 60, counts_by_first_words(), by_turns).await;
}

/// A9: requests that count by turns less and more.
pub(super) async fn a9_requests_above_and_below_the_estimate_in_16_000() {
    no_spiral(16_000, 100, by_requests(), |_| "").await;
}

/// A9.
pub(super) async fn a9_requests_above_and_below_the_estimate_in_100_000() {
    no_spiral(100_000, 60, by_requests(), |_| "").await;
}
