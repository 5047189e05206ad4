//! Properties with a seed and a number of cases, and short ways to write messages.

use epitome::{Block, Call, Facts, Log, Message, Meter, ResultPart, Role, ToolResult};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let value = std::env::var(name).ok()?;
    let parsed = value.parse().ok();
    Some(parsed.unwrap_or_else(|| panic!("{name}={value} is not a number")))
}

/// The seed of everything random.
pub(crate) fn seed() -> u64 {
    number("EPITOME_SEED").unwrap_or(2_026)
}

/// Runs `test` on `EPITOME_CASES` (1,000) values, or on fewer where a case costs more.
pub(crate) fn property<S: Strategy>(cost: u32, strategy: &S, test: impl Fn(S::Value))
where
    S::Value: std::fmt::Debug,
{
    let config = Config {
        cases: (number("EPITOME_CASES").unwrap_or(1_000) / cost).max(1),
        rng_seed: RngSeed::Fixed(seed()),
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(strategy, |value| {
        test(value);
        Ok::<(), TestCaseError>(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// Text of all scripts, with runs of encoded data now and then.
pub(crate) fn text(longest: usize) -> impl Strategy<Value = String> {
    let letters: Vec<char> = "abc XYZ/_-.:\n\"\\019éßñ漢字あ한😀𝔘\u{301}"
        .chars()
        .collect();
    let piece = prop_oneof![
        12 => vec(select(letters), 0..12).prop_map(|letters| letters.into_iter().collect()),
        1 => (100_usize..200).prop_map(|length| "Zm9v".chars().cycle().take(length).collect()),
        1 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..longest.div_ceil(10) + 1).prop_map(|pieces: Vec<String>| pieces.concat())
}

pub(crate) fn user(text: impl Into<String>) -> Message {
    Message::text(Role::User, text)
}

pub(crate) fn assistant(text: impl Into<String>) -> Message {
    Message::text(Role::Assistant, text)
}

pub(crate) fn system(text: impl Into<String>) -> Message {
    Message::text(Role::System, text)
}

/// An assistant message with calls of these ids.
pub(crate) fn calls(ids: &[&str]) -> Message {
    let call = |id: &&str| {
        Block::Call(Call::new(
            *id,
            "read_file",
            format!("{{\"path\":\"src/{id}.rs\"}}"),
        ))
    };
    Message {
        role: Role::Assistant,
        blocks: ids.iter().map(call).collect(),
    }
}

/// The result of one call.
pub(crate) fn result(id: &str, text: impl Into<String>) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: id.into(),
            parts: vec![ResultPart::Text(text.into())],
            is_error: false,
        })],
    }
}

pub(crate) fn log_of(messages: &[Message]) -> Log {
    let mut log = Log::new();
    for message in messages {
        log.push(&Facts::of(message, Meter::Estimate));
    }
    log
}

/// A request, and then steps of one call each, with results of about `chars` characters.
pub(crate) fn autonomous(steps: usize, chars: usize) -> Vec<Message> {
    let mut messages = vec![
        system("You are careful."),
        user("Find out why the build of src/main.rs fails. Never touch the lock file."),
    ];
    for step in 0..steps {
        let id = format!("call_{step}");
        messages.push(calls(&[&id]));
        let line = format!(
            "step {step}: src/part_{step}.rs:{} checked in {step} ms\n",
            step * 3
        );
        messages.push(result(&id, line.repeat(chars / line.len() + 1)));
    }
    messages
}
