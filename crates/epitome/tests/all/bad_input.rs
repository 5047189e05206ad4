//! Input that nobody should send: a typed error or a named no-op, never a panic, never a loss.

use epitome::settings::{Settings, Value};
use epitome::{Decision, Message, Meter, NoPlan, Preset, PresetName, Reason, Session, Window};

use crate::support::{assistant, calls, result, system, user};

fn open(name: PresetName, window: u64) -> Session {
    Session::new(Window::configured(window), Meter::Estimate)
        .with_preset(Preset::named(name))
        .without_guard()
}

/// What every preset says to a history that somebody asks to compact, in words.
fn answers(messages: &[Message]) -> Vec<Result<(), Reason>> {
    PresetName::ALL
        .iter()
        .map(|name| {
            let mut session = open(*name, 200_000);
            messages
                .iter()
                .cloned()
                .for_each(|message| session.push(message));
            let answer = session.compact(Reason::Manual).map(drop);
            assert!(
                session.messages().iter().map(|m| &**m).eq(messages),
                "{name}: nothing is lost"
            );
            answer.map_err(|no| no.reason)
        })
        .collect()
}

#[test]
fn nothing_at_all() {
    for answer in answers(&[]) {
        assert_eq!(answer, Err(Reason::NothingToRemove));
    }
    assert_eq!(
        open(PresetName::Default, 200_000).decide(),
        Decision::Proceed
    );
}

#[test]
fn only_a_system_prompt() {
    for answer in answers(&[system("word ".repeat(400_000))]) {
        assert_eq!(answer, Err(Reason::NothingToRemove));
    }
}

#[test]
fn one_message_of_fifty_megabytes() {
    let huge = user("All work and no play. ".repeat(50_000_000 / 22));
    let mut session = open(PresetName::Default, 200_000);
    session.push(huge);
    assert_eq!(session.decide(), Decision::Compact(Reason::HardLine));
    assert!(matches!(
        session.compact(Reason::HardLine),
        Err(NoPlan {
            reason: Reason::NothingToRemove,
            ..
        })
    ));
    assert_eq!(
        session.decide(),
        Decision::Proceed,
        "asked once, not for ever"
    );
    session.push(assistant("I see."));
    session.push(user("Go on."));
    let after = session.compact(Reason::HardLine).unwrap().tokens_after;
    assert!(after < 50_000, "{after}");
}

#[test]
fn a_hundred_thousand_messages_of_one_word() {
    let messages: Vec<Message> = (0..100_000)
        .map(|at| {
            if at % 2 == 0 {
                user("yes")
            } else {
                assistant("no")
            }
        })
        .collect();
    for (name, answer) in PresetName::ALL.iter().zip(answers(&messages)) {
        // Micro shows fifty of them whatever they take; the others summarise.
        assert_eq!(answer, Ok(()), "{name}");
    }
}

#[test]
fn results_without_calls_and_calls_without_results() {
    let mut messages = vec![user("Begin.")];
    for at in 0..200 {
        messages.push(result(&format!("nobody_{at}"), "word ".repeat(50)));
        messages.push(calls(&[&format!("lost_{at}")]));
        messages.push(assistant("word ".repeat(50)));
    }
    for (name, answer) in PresetName::ALL.iter().zip(answers(&messages)) {
        assert_eq!(answer, Ok(()), "{name}");
    }
    // Nothing but results: there is no place to cut.
    let orphans: Vec<Message> = (0..50)
        .map(|at| result(&format!("x{at}"), "word ".repeat(50)))
        .collect();
    for answer in answers(&orphans) {
        assert_eq!(answer, Err(Reason::NothingToRemove));
    }
}

#[test]
fn one_id_for_every_call() {
    let mut messages = vec![user("Begin.")];
    for _ in 0..100 {
        messages.push(calls(&["same", "same"]));
        messages.push(result("same", "word ".repeat(60)));
        messages.push(result("same", "word ".repeat(60)));
    }
    for (name, answer) in PresetName::ALL.iter().zip(answers(&messages)) {
        assert_eq!(answer, Ok(()), "{name}");
    }
}

#[test]
fn a_window_below_the_floor() {
    let mut session = open(PresetName::Default, 300);
    session.push(user("Begin."));
    session.push(calls(&["a"]));
    session.push(user("word ".repeat(2_000)));
    assert_eq!(session.decide(), Decision::Compact(Reason::HardLine));
    let no = session.compact(Reason::HardLine).unwrap_err();
    assert_eq!(no.reason, Reason::FloorAboveWindow);
    assert!(no.floor_tokens > 2_000, "the floor is named: {no}");
    assert_eq!(session.decide(), Decision::Proceed);
}

#[test]
fn a_window_too_small_to_work_in() {
    let mut session = Session::new(Window::configured(8_192), Meter::Estimate);
    for at in 0..400 {
        session.push(user(format!("Question {at}: {}", "word ".repeat(40))));
        session.push(assistant("word ".repeat(40)));
    }
    assert_eq!(session.due(), Err(Reason::WindowTooSmall));
    assert_eq!(
        session.compact(Reason::HardLine).unwrap_err().reason,
        Reason::WindowTooSmall
    );
    assert!(
        session.compact(Reason::Manual).is_ok(),
        "who asks for it gets it"
    );
}

fn set(preset: PresetName, key: &str, value: Value) -> Settings {
    let mut settings = Settings::of(preset);
    settings
        .apply(&Value::Table(vec![(key.to_owned(), value)]))
        .unwrap();
    settings
}

#[test]
fn settings_that_contradict_each_other() {
    let reserves = set(
        PresetName::Openclaw,
        "reserve_tokens",
        Value::Whole(300_000),
    );
    let session = Session::from_settings(&reserves, Window::configured(200_000), Meter::Estimate);
    assert_eq!(session.due(), Err(Reason::WindowBelowReserves));
    let reserves = set(PresetName::Layer, "output_reserve", Value::Whole(300_000));
    let session = Session::from_settings(&reserves, Window::configured(128_000), Meter::Estimate);
    assert_eq!(session.due(), Err(Reason::WindowBelowReserves));
    for (preset, key) in [
        (PresetName::Vibe, "auto_compact_threshold"),
        (PresetName::Micro, "compaction_threshold_tokens"),
    ] {
        for off in [0, -1] {
            let settings = set(preset, key, Value::Whole(off));
            let session =
                Session::from_settings(&settings, Window::configured(200_000), Meter::Estimate);
            assert_eq!(session.due(), Err(Reason::SwitchedOff), "{key} = {off}");
        }
    }
}
