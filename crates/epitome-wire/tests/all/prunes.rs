//! Pruning on the wire: what was decided is a splice, valid, and the same in every later request.

use bytes::Bytes;
use epitome::{
    Cache, EntryCap, ErrorResults, Frozen, Meter, OldResults, PruneCause, PruneSettings, Pruned,
    ViewItem,
};
use epitome_testkit::Kind;
use epitome_testkit::cases::property;
use epitome_testkit::data::{data, files, root, stem};
use epitome_wire::{Body, Wire, detect};

use crate::cuts::rescan;
use crate::fixtures::{Judge, assert_no_new_problems, bytes, decoded, generated};
use crate::sessions::{self, Texts};

const METER: Meter = Meter::Estimate;

fn settings() -> PruneSettings {
    PruneSettings {
        entry_cap: EntryCap::Chars(2_000),
        old: OldResults::Replace { keep_steps: 2 },
        errors: ErrorResults::Shorten,
        smallest_tokens: 60,
        ..PruneSettings::off()
    }
}

/// Prunes a body as it grows to its full length, and checks the view of each length.
fn check(what: &str, body: &Body) -> Vec<Pruned> {
    let messages = decoded(body);
    let problems = Judge::of(body).problems(body);
    let mut frozen = Frozen::new(settings(), METER);
    let stride = (messages.len() / 6).max(1);
    for len in (stride..messages.len()).step_by(stride) {
        frozen.prune(&messages[..len], Cache::Warm);
    }
    frozen.prune(&messages, Cache::Warm);

    let view = frozen.view(body.len());
    let out = body.render(&view, "unused").unwrap().into_bytes();
    let after = rescan(body, &out);
    assert_no_new_problems(what, &problems, &Judge::of(&after).problems(&after));
    assert_eq!(after.len(), body.len(), "{what}: nothing goes whole");
    for (index, (message, seen)) in messages.iter().zip(decoded(&after)).enumerate() {
        assert_eq!(
            *frozen.shown(index, message),
            seen,
            "{what}: message {index}"
        );
    }
    for item in &view.items {
        let ViewItem::Entries(range) = item else {
            continue;
        };
        for index in range.clone() {
            assert!(
                body.message(index) == after.message(index),
                "{what}: message {index} was to stay"
            );
        }
    }
    let around = |body: &Body| {
        let (first, last) = (&body.messages()[0], &body.messages()[body.len() - 1]);
        let bytes = body.bytes();
        (bytes.slice(..first.start), bytes.slice(last.end..))
    };
    assert!(
        around(body) == around(&after),
        "{what}: around the messages"
    );
    frozen.decisions().to_vec()
}

fn count(decisions: &[Pruned], cause: PruneCause) -> usize {
    decisions.iter().filter(|one| one.cause == cause).count()
}

#[test]
fn a_generated_conversation_is_pruned_by_splices_alone() {
    let pruned = std::cell::Cell::new(0);
    property(25, 60, |random, size| {
        for &wire in Wire::ALL {
            for kind in Kind::ALL {
                let seed = random.bits();
                let body = Body::scan(bytes(&generated(wire, kind, seed, size + 1)), wire).unwrap();
                let decisions = check(&format!("{wire} {kind:?} {seed}"), &body);
                pruned.set(pruned.get() + decisions.len());
            }
        }
    });
    assert!(pruned.get() > 10, "{}", pruned.get());
}

#[test]
fn the_example_files_are_pruned_by_splices_alone() {
    let folder = root().join("examples");
    if !folder.is_dir() {
        return;
    }
    for path in files(&folder, "jsonl") {
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        check(&stem(&path), &detect(&bytes, None).unwrap().body);
    }
}

#[test]
fn real_sessions_are_pruned_by_splices_alone() {
    let Some(folder) = data("real_sessions_are_pruned_by_splices_alone", "unified") else {
        return;
    };
    let (mut cut, mut replaced) = (0, 0);
    for path in files(&folder, "json") {
        let messages = sessions::read(&path, Texts::Whole);
        for &wire in Wire::ALL {
            let body = Body::scan(bytes(&sessions::request(wire, &messages)), wire).unwrap();
            let decisions = check(&format!("{} {wire}", stem(&path)), &body);
            cut += count(&decisions, PruneCause::EntryCap);
            replaced += count(&decisions, PruneCause::Old);
        }
    }
    assert!(
        cut > 100 && replaced > 100,
        "{cut} cut, {replaced} replaced"
    );
}
