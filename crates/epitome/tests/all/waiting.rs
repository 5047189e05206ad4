//! What waits for an answer stays in view, also where the client's own notes stand behind it: the model never saw it.

use std::sync::Arc;

use epitome::{
    Message, Meter, Plan, Preset, PresetName, Reason, ResultPart, Role, Session, Window,
};
use proptest::prelude::Strategy;
use proptest::sample::select;

use crate::support::{assistant, calls, log_of, property, result, system, user};

/// What stands last but for notes.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    Question,
    Results,
    LateWords,
}

const QUESTION: &str = "Which of the seventeen ledgers is out of balance, and since when?";

fn talk(waiting: Waiting, turns: usize, notes: usize) -> Vec<Message> {
    let mut messages = vec![
        system("You are careful."),
        user("Go through the ledgers, one by one."),
    ];
    for turn in 0..turns {
        messages.push(assistant(format!(
            "Ledger {turn} of src/ledger_{turn}.rs has {turn} rows. {}",
            "Nothing else stands out in it. ".repeat(30)
        )));
        messages.push(user(format!("Go on with number {}.", turn + 1)));
        if turn % 4 == 3 {
            messages.push(system(format!("It is day {turn}.")));
        }
    }
    messages.push(assistant("That was the last of them."));
    match waiting {
        Waiting::Question => messages.push(user(QUESTION)),
        Waiting::Results => messages.extend([
            user("Count them."),
            calls(&["a", "b"]),
            result("a", QUESTION),
            result("b", "17"),
        ]),
        Waiting::LateWords => messages.extend([
            calls(&["a"]),
            result("a", "17"),
            user("Wait."),
            user(QUESTION),
        ]),
    }
    for note in 0..notes {
        messages.push(system(format!("Answer in {note} short sentences.")));
    }
    messages
}

fn cases() -> impl Strategy<Value = (Waiting, usize, usize)> {
    let waiting = select(vec![
        Waiting::Question,
        Waiting::Results,
        Waiting::LateWords,
    ]);
    (waiting, 4_usize..60, 0_usize..5)
}

fn is_asked(messages: &[Arc<Message>]) -> bool {
    let said = |message: &Arc<Message>| {
        let in_results = message.results().any(|result| {
            let asks = |part: &ResultPart| matches!(part, ResultPart::Text(text) if text.contains(QUESTION));
            result.parts.iter().any(asks)
        });
        message.role != Role::System
            && (message.spoken().any(|text| text == QUESTION) || in_results)
    };
    messages.iter().any(said)
}

#[test]
fn a_budget_never_takes_what_waits() {
    let cases = (cases(), 500_u64..9_000);
    property(1, &cases, |((waiting, turns, notes), budget)| {
        let messages = talk(waiting, turns, notes);
        let log = log_of(&messages);
        let newest = messages
            .iter()
            .rposition(|message| message.role != Role::System)
            .unwrap();
        for name in PresetName::ALL {
            let preset = Preset::named(name);
            let room = epitome::Room::of(budget);
            for budget in [Some(budget), None] {
                let Ok(plan) = Plan::with(&preset, &log, budget, room, Reason::Manual) else {
                    continue;
                };
                // `vibe` repeats the last request behind its summary.
                let is_kept = plan.span.end <= newest || name == PresetName::Vibe;
                assert!(is_kept, "{name} {waiting:?} {budget:?}: {plan:?}");
                assert!(log.is_cut(plan.span.end), "{name}: {plan:?}");
            }
        }
        for most in 1..messages.len() {
            if let Ok(plan) = Plan::at_most(&log, most, Reason::TooManyMessages) {
                assert!(plan.span.end <= newest, "at most {most}: {plan:?}");
            }
        }
    });
}

#[test]
fn a_session_never_takes_what_waits() {
    let cases = (cases(), 1_usize..4);
    property(4, &cases, |((waiting, turns, notes), rounds)| {
        let messages = talk(waiting, turns, notes);
        for name in PresetName::ALL {
            let mut session = Session::new(Window::configured(6_000), Meter::Estimate)
                .with_preset(Preset::named(name))
                .without_guard();
            let last = messages.len() - notes;
            for message in &messages[..last] {
                session.push(message.clone());
            }
            // Notes arrive one by one, and each time somebody may compact.
            for note in &messages[last..] {
                session.push(note.clone());
                for _ in 0..rounds {
                    let _ = session.compact(Reason::Manual);
                    let _ = session.compact(Reason::HardLine);
                }
            }
            let shown = session.view_messages();
            let is_told = name == PresetName::Vibe
                && shown
                    .iter()
                    .any(|message| message.spoken().any(|text| text.contains(QUESTION)));
            let is_result = matches!(waiting, Waiting::Results) && name == PresetName::Vibe;
            assert!(
                is_asked(&shown) || is_told || is_result,
                "{name} {waiting:?}: {shown:#?}"
            );
        }
    });
}

#[test]
fn a_note_behind_an_answer_holds_nothing_back() {
    let mut messages = talk(Waiting::Question, 20, 0);
    messages.push(assistant("Number nine, since Monday."));
    messages.push(system("The user is away."));
    let log = log_of(&messages);
    assert_eq!(log.last_removal(), Some(messages.len() - 1));
    assert_eq!(log.last_removal(), log.last_cut());
}
