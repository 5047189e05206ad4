//! The laws on the wire: a session of any preset over any conversation, whole or damaged, in every format. However
//! often it is compacted, what goes out has no problem that the client's own request does not have.

use bytes::Bytes;
use epitome::{
    Meter, Preset, PresetName, PruneSettings, Reason, Session, Usage, Window, leading_system,
};
use epitome_testkit::cases::property;
use epitome_testkit::{Kind, Random, generate};
use epitome_wire::{Body, Wire};
use serde_json::Value;

use crate::cuts::rescan;
use crate::fixtures::{Judge, assert_no_new_problems, bytes, decoded, generated};

/// The first `len` messages of a request, as the client sent it when there were no more.
fn prefix(request: &Value, wire: Wire, len: usize) -> Body {
    let mut request = request.clone();
    let list = request[wire.list_name()].as_array_mut().unwrap();
    list.truncate(len);
    Body::scan(Bytes::from(serde_json::to_vec(&request).unwrap()), wire).unwrap()
}

fn random_request(random: &mut Random, wire: Wire, size: usize) -> Value {
    let kind = *random.pick(&Kind::ALL);
    let request = generated(wire, kind, random.bits(), 8 + size);
    if random.chance(40) {
        generate::damage(&request, random.bits()).0
    } else {
        request
    }
}

/// Every law about one moment of a session: what it would send now, beside what the client has.
fn check(session: &Session, body: &Body, judge: &mut Judge, name: PresetName) {
    let summary = session.compaction().map(|c| c.summary.text.clone());
    let out = body
        .render(&session.view(), summary.as_deref().unwrap_or_default())
        .unwrap()
        .into_bytes();
    if summary.is_none() && session.view().items.len() <= 1 {
        assert_eq!(out, body.bytes(), "{name}: untouched is untouched");
    }
    let shown = rescan(body, &out);
    assert_no_new_problems(
        name.as_str(),
        &judge.problems(body),
        &judge.problems(&shown),
    );
    // What goes out is what the session says it shows, and as large.
    let messages = decoded(&shown);
    let expected = session.view_messages();
    let counted: u64 = expected.iter().map(|m| Meter::Estimate.message(m)).sum();
    assert_eq!(
        counted,
        session.view_tokens(),
        "{name}: counted once, counted right"
    );
    let opening = messages.len() - expected.len();
    assert!(opening <= 1, "{name}: at most a stub of the user in front");
    for (sent, shown) in messages.iter().skip(opening).zip(&expected) {
        let sizes = [sent, &**shown].map(|message| Meter::Estimate.message(message));
        assert!(
            sizes[0] <= sizes[1],
            "{name}, {}: {sizes:?} for\n{sent:?}\nshown as\n{shown:?}",
            body.wire()
        );
    }
}

fn story(random: &mut Random, size: usize) {
    let wire = *random.pick(Wire::ALL);
    let name = *random.pick(&PresetName::ALL);
    let request = random_request(random, wire, size);
    let whole = Body::scan(bytes(&request), wire).unwrap();
    let messages = decoded(&whole);
    let mut judge = Judge::of(&whole);
    let mut session = Session::new(Window::configured(24_000), Meter::Estimate)
        .with_preset(Preset::named(name))
        .without_guard();
    if random.chance(30) {
        session = session.with_pruning(PruneSettings::of(name, 2_000));
    }
    let rounds = random.between(1, 5);
    for round in 1..=rounds {
        let from = session.messages().len();
        let until = (messages.len() * round / rounds).max(from);
        for message in &messages[from..until] {
            session.push(message.clone());
        }
        let body = prefix(&request, wire, until);
        check(&session, &body, &mut judge, name);
        let before = session.view_tokens();
        let reason = *random.pick(&[Reason::Manual, Reason::Overflow, Reason::HardLine]);
        if let Ok(job) = session.begin(reason)
            && let Ok(prepared) = job.extract()
        {
            // Messages may arrive while the summary is written.
            let meanwhile = random.below(6).min(messages.len() - until);
            for message in messages.iter().skip(until).take(meanwhile) {
                session.push(message.clone());
            }
            let grown = session.view_tokens();
            session.commit(prepared).unwrap();
            assert!(session.view_tokens() < grown, "{name}: tokens never grow");
            assert!(meanwhile > 0 || session.view_tokens() < before);
            let body = prefix(&request, wire, session.messages().len());
            check(&session, &body, &mut judge, name);
            if random.chance(30) && session.undo().is_ok() {
                assert_eq!(
                    session.view_tokens(),
                    grown,
                    "{name}: undo restores the view"
                );
                check(&session, &body, &mut judge, name);
            }
            if random.chance(20) {
                let at = random.below(session.messages().len() + 1);
                let fork = session.fork(at);
                check(&fork, &prefix(&request, wire, at), &mut judge, name);
            }
        }
        session.observe(Usage {
            fresh_tokens: session.view_tokens(),
            ..Usage::default()
        });
    }
    assert!(leading_system(session.log()) <= session.log().len());
}

#[test]
fn no_session_sends_a_problem_that_the_client_does_not_have() {
    property(1, 60, story);
}
