use epitome::{
    CommitError, Decision, Message, Meter, Preset, PresetName, Reason, Session, ViewItem, Window,
    trimmed,
};

use crate::support::{assistant, autonomous, calls, result, user};

fn session(window: u64, messages: Vec<Message>) -> Session {
    let mut session = Session::new(Window::configured(window), Meter::Estimate).without_guard();
    for message in messages {
        session.push(message);
    }
    session
}

fn whole(session: &Session) -> Vec<ViewItem> {
    vec![ViewItem::Entries(0..session.messages().len())]
}

fn counted(session: &Session) -> u64 {
    let one = |message: &Message| Meter::Estimate.message(message);
    let messages = session.messages();
    session
        .view()
        .items
        .iter()
        .map(|item| match item {
            ViewItem::Entries(range) => messages[range.clone()].iter().map(|m| one(m)).sum(),
            ViewItem::Trimmed(at, trims) => one(&trimmed(&messages[*at], trims)),
            ViewItem::Summary => one(&user(session.compaction().unwrap().summary.text.clone())),
            other => panic!("not in the default layout: {other:?}"),
        })
        .sum()
}

#[test]
fn it_proceeds_prepares_and_compacts() {
    // 10,000 − 2,500 reserve − a tenth of what nobody counted, which is all of it (A9): the line is 6,818, preparation
    // starts at 85 % of it.
    let mut session = session(10_000, vec![]);
    let mut seen = Vec::new();
    for message in autonomous(100, 400) {
        session.push(message);
        let decision = session.decide();
        let expected = match session.view_tokens() {
            6_819.. => Decision::Compact(Reason::HardLine),
            5_876.. => Decision::Prepare,
            _ => Decision::Proceed,
        };
        assert_eq!(decision, expected);
        if seen.last() != Some(&decision) {
            seen.push(decision);
        }
    }
    let all = [
        Decision::Proceed,
        Decision::Prepare,
        Decision::Compact(Reason::HardLine),
    ];
    assert_eq!(seen, all);
}

#[test]
fn the_view_takes_what_it_says_and_nothing_is_lost() {
    let mut session = session(10_000, vec![]);
    let mut compactions = 0;
    let messages = autonomous(150, 300);
    for message in &messages {
        session.push(message.clone());
        if let Decision::Compact(reason) = session.decide() {
            let job = session.begin(reason).unwrap();
            session.commit(job.extract().unwrap()).unwrap();
            compactions += 1;
        }
        assert_eq!(counted(&session), session.view_tokens());
        assert!(session.view_tokens() <= 6_818);
    }
    assert!(compactions >= 2, "{compactions}");
    assert!(session.messages().iter().map(|m| &**m).eq(&messages));
}

#[test]
fn what_arrives_meanwhile_stays_as_it_is() {
    let mut session = session(10_000, autonomous(60, 400));
    let job = session.begin(Reason::Manual).unwrap();
    let end = job.plan().span.end;
    let before = session.messages().len();
    session.push(calls(&["new"]));
    session.push(result("new", "1"));
    session.commit(job.extract().unwrap()).unwrap();
    let last = session.view().items.last().unwrap().clone();
    assert_eq!(last, ViewItem::Entries(end..before + 2));
    assert_eq!(counted(&session), session.view_tokens());
}

#[test]
fn an_older_job_does_not_replace_a_newer_compaction() {
    let mut session = session(10_000, autonomous(60, 400));
    let older = session.begin(Reason::Manual).unwrap();
    for message in autonomous(40, 400).split_off(2) {
        session.push(message);
    }
    let newer = session.begin(Reason::Manual).unwrap();
    let newer = newer.extract().unwrap();
    session.commit(newer.clone()).unwrap();
    let before = (session.view(), session.view_tokens());
    let refused = session.commit(older.extract().unwrap());
    assert_eq!(refused, Err(CommitError::Superseded));
    assert_eq!(
        session.commit(newer),
        Err(CommitError::Superseded),
        "nor the same again"
    );
    assert_eq!((session.view(), session.view_tokens()), before);
}

#[test]
fn undo_restores_the_view() {
    let mut session = session(100_000, autonomous(60, 400));
    assert_eq!(session.undo(), Err(CommitError::NothingToUndo));
    let original = session.view_tokens();
    let job = session.begin(Reason::Manual).unwrap();
    let first = job.extract().unwrap();
    session.commit(first.clone()).unwrap();
    let after_first = (session.view(), session.view_tokens());
    assert!(session.view_tokens() < original);
    for message in autonomous(60, 400).split_off(2) {
        session.push(message);
    }
    let grown = session.view_tokens();
    let job = session.begin(Reason::Manual).unwrap();
    let second = job.extract().unwrap();
    session.commit(second.clone()).unwrap();
    assert!(session.view_tokens() < grown);

    assert_eq!(&session.undo().unwrap().compaction, second.compaction());
    assert_eq!(session.view_tokens(), grown);
    assert_eq!(session.view().items[..2], after_first.0.items[..2]);
    assert_eq!(&session.undo().unwrap().compaction, first.compaction());
    assert_eq!(session.view().items, whole(&session));
    assert_eq!(counted(&session), session.view_tokens());
    assert_eq!(session.undo(), Err(CommitError::NothingToUndo));
}

#[test]
fn undo_above_the_line_is_refused_with_the_size() {
    let mut session = session(10_000, autonomous(100, 400));
    let total = session.view_tokens();
    let job = session.begin(Reason::HardLine).unwrap();
    session.commit(job.extract().unwrap()).unwrap();
    let before = session.view();
    let refused = session.undo().unwrap_err();
    let expected = CommitError::UndoAboveHardLine {
        tokens: total,
        // 7,500 less a tenth of what nobody counted (A9).
        hard_tokens: 7_500 - total.div_ceil(10),
    };
    assert_eq!(refused, expected);
    assert!(refused.to_string().contains(&total.to_string()));
    assert_eq!(session.view(), before);
}

#[test]
fn what_cannot_be_helped_is_asked_once() {
    // One exchange that is larger than everything: there is nothing to remove.
    let mut session = session(10_000, vec![user("word ".repeat(8_000))]);
    let Decision::Compact(reason) = session.decide() else {
        panic!("{:?}", session.decide());
    };
    let no = session.begin(reason).unwrap_err();
    assert_eq!(no.reason, Reason::NothingToRemove);
    assert_eq!(
        session.decide(),
        Decision::Proceed,
        "not again before something changes"
    );
    session.push(assistant("ok"));
    assert_eq!(session.decide(), Decision::Compact(Reason::HardLine));
}

#[test]
fn a_window_without_room_decides_nothing() {
    assert_eq!(session(0, autonomous(10, 400)).decide(), Decision::Proceed);
}

#[test]
fn a_job_can_run_anywhere() {
    fn is_send<T: Send + 'static>(_: &T) {}
    let mut session = session(10_000, autonomous(60, 400));
    let job = session.begin(Reason::Manual).unwrap();
    is_send(&job);
    let compaction = std::thread::spawn(move || job.extract())
        .join()
        .unwrap()
        .unwrap();
    session.commit(compaction).unwrap();
}

/// Messages of a conversation with tool steps, as many as asked for or one more.
fn history(count: usize, from: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    while messages.len() < count {
        let at = from + messages.len();
        if at.is_multiple_of(7) {
            messages.push(user(format!("Go on with src/part_{at}.rs. ").repeat(8)));
        } else {
            messages.push(assistant(
                format!("Read src/part_{at}.rs, {at} lines. ").repeat(20),
            ));
        }
    }
    messages
}

#[test]
fn a_compaction_may_land_late_in_every_preset() {
    for name in PresetName::ALL.iter().copied() {
        for later in [0, 1, 7, 50] {
            let open = || {
                let preset = Preset::named(name);
                let window = Window::configured(200_000);
                let mut session = Session::new(window, Meter::Estimate).with_preset(preset);
                history(180, 0)
                    .into_iter()
                    .for_each(|message| session.push(message));
                session
            };
            let mut late = open();
            let job = late.begin(Reason::Manual).unwrap();
            history(later, 180)
                .into_iter()
                .for_each(|message| late.push(message));
            late.commit(job.extract().unwrap()).unwrap();

            let mut at_once = open();
            let job = at_once.begin(Reason::Manual).unwrap();
            at_once.commit(job.extract().unwrap()).unwrap();
            history(later, 180)
                .into_iter()
                .for_each(|message| at_once.push(message));

            assert_eq!(late.view(), at_once.view(), "{name}, {later} later");
            assert_eq!(
                late.view_tokens(),
                at_once.view_tokens(),
                "{name}, {later} later"
            );
            let undone = late.undo();
            assert!(undone.is_ok(), "{name}: {undone:?}");
            assert_eq!(
                late.view().items,
                whole(&late),
                "{name}: undo shows everything again"
            );
        }
    }
}

#[test]
fn an_abandoned_call_gets_a_response_where_asked_and_one_in_flight_is_left_alone() {
    let mut session = Session::new(Window::configured(200_000), Meter::Estimate)
        .with_preset(Preset::named(PresetName::Vibe))
        .answering_abandoned_calls();
    session.push(user("Look around."));
    session.push(calls(&["a", "b"]));
    session.push(result("a", "fine"));
    assert_eq!(session.view().items, whole(&session), "still in flight");
    session.push(user("Never mind."));
    let missing = ViewItem::Answer {
        call_id: "b".into(),
        text: "Tool no response",
    };
    let expected = [ViewItem::Entries(0..3), missing, ViewItem::Entries(3..4)];
    assert_eq!(session.view().items, expected);
    assert_eq!(session.view_messages().len(), 5);
    assert_eq!(session.messages().len(), 4, "what was sent is as it was");
}

#[test]
fn a_compaction_is_kept_with_the_report_of_its_verification() {
    for name in PresetName::ALL.iter().copied() {
        let mut session = Session::new(Window::configured(200_000), Meter::Estimate)
            .with_preset(Preset::named(name));
        history(180, 0)
            .into_iter()
            .for_each(|message| session.push(message));
        session.compact(Reason::Manual).unwrap();
        let report = session.compaction().unwrap().report.as_deref();
        let total = report.map(epitome::verify::VerifyReport::total).unwrap();
        assert!(total.anchors > 0, "{name}: {total:?}");
        assert_eq!((total.missing, total.invented), (0, 0), "{name}: {total:?}");
        assert_eq!(total.retained + total.recoverable, total.anchors, "{name}");
    }
}

/// A sentence that the user dropped is no pin in any round, and takes nothing back; what it was is told.
#[test]
fn a_dropped_pin_is_carried_by_no_round() {
    const WRONG: &str = "Never trust the old map.";
    const RIGHT: &str = "Always answer in short sentences.";
    let carried = |session: &Session| -> Vec<String> {
        let pins = session.compaction().unwrap().pins.iter();
        pins.map(|pin| pin.text.clone()).collect()
    };
    for preset in PresetName::ALL {
        let mut session = session(12_000, vec![]).with_preset(Preset::named(preset));
        session.set_dropped_pins([format!(" {WRONG} ")]);
        session.push(user("Count the herons."));
        session.push(assistant("I begin."));
        session.push(user(format!("{WRONG} {RIGHT}")));
        for round in 0..4 {
            for step in 0..40 {
                session.push(assistant(
                    format!("Buoy {step} of round {round}. ").repeat(20),
                ));
                session.push(user("Go on."));
            }
            session.compact(Reason::Manual).unwrap();
            let text = session.compaction().unwrap().summary.text.clone();
            let dropped = session.dropped_pins().to_vec();
            assert!(
                !carried(&session).contains(&WRONG.to_owned()),
                "{preset}: {text}"
            );
            let made = session.compaction().unwrap();
            assert!(made.heeds(&dropped), "{preset}, round {round}");
            assert!(
                !made.heeds(&[RIGHT.to_owned()]) || !carried(&session).contains(&RIGHT.to_owned())
            );
            let report = made.report.as_deref();
            let alarms = format!("{:?}", report.map(|report| &report.alarms));
            assert!(!alarms.contains("old map"), "{preset}: {alarms}");
        }
        let first = &session.records()[0].compaction;
        assert_eq!(first.unpinned[0].text, WRONG, "{preset}");
        assert!(!first.heeds(&[]), "{preset}: it is dropped no longer");
    }
}
