//! Compaction at every legal cut gives no violation that the input did not have.

use bytes::Bytes;
use epitome::{Meter, Plan, Reason, View, ViewItem};
use epitome_testkit::cases::{cases, property, seed};
use epitome_testkit::data::{data, files, root, stem};
use epitome_testkit::{Kind, generate};
use epitome_wire::{Body, Wire, detect};

use crate::fixtures::{Judge, assert_kept, assert_no_new_problems, bytes, conversation, generated};
use crate::sessions::{self, Texts};

const SUMMARY: &str = "Earlier work, in one line with \"quotes\", a \\ and a\nbreak.";

/// Compacts at every cut (or every `stride`th) and counts how many were tried.
pub(crate) fn check_cuts(name: &str, body: &Body, stride: usize) -> usize {
    let mut judge = Judge::of(body);
    let before = judge.problems(body);
    let log = conversation(body, Meter::Estimate).log;
    let mut tried = 0;
    for &cut in log.cuts().iter().step_by(stride) {
        let cut = cut as usize;
        let Ok(plan) = Plan::at(&log, cut, 200, Reason::Manual) else {
            continue;
        };
        tried += 1;
        let what = format!("{name} at {cut} of {}", body.len());
        let view = View::of(&plan, body.len(), &[]);
        let out = body.render(&view, SUMMARY).unwrap().into_bytes();
        let after = rescan(body, &out);
        assert_no_new_problems(&what, &before, &judge.problems(&after));
        assert_kept(&what, body, &after, &kept(&view));
        let gone = plan.span.len() - plan.notes.len();
        assert_eq!(after.len(), body.len() - gone + 1, "{what}");
    }
    tried
}

/// Positions of kept messages in order; `None` where the summary stands.
pub(crate) fn kept(view: &View) -> Vec<Option<usize>> {
    view.items
        .iter()
        .flat_map(|item| match item {
            ViewItem::Entries(range) => range.clone().map(Some).collect(),
            ViewItem::Trimmed(..) | ViewItem::Summary => vec![None],
            other => panic!("not in the default layout: {other:?}"),
        })
        .collect()
}

/// Reads a result in the container of its original.
pub(crate) fn rescan(body: &Body, out: &Bytes) -> Body {
    let detected = detect(out, Some(body.wire())).unwrap();
    assert!(
        detected.body.bytes() == out,
        "the bytes of a body are what was given"
    );
    detected.body
}

fn scan(wire: Wire, bytes: Bytes) -> Body {
    Body::scan(bytes, wire).unwrap()
}

#[test]
fn every_cut_of_a_generated_conversation_is_valid() {
    property(25, 60, |random, size| {
        for &wire in Wire::ALL {
            for kind in Kind::ALL {
                let seed = random.bits();
                let request = generated(wire, kind, seed, size);
                let body = scan(wire, bytes(&request));
                let tried = check_cuts(&format!("{wire} {kind:?} {seed}"), &body, 1);
                // A step is at most six messages; the head and the step in flight cannot go. Where one item is one
                // thing said or done it is two of reasoning, a text, five calls and five results.
                let step = match wire {
                    Wire::OpenAiResponses => 13,
                    Wire::OpenAiChat | Wire::Anthropic => 6,
                };
                assert!(
                    tried + 2 >= body.len() / step,
                    "{wire} {kind:?} {seed}: {tried} cuts of {}",
                    body.len()
                );
            }
        }
    });
}

#[test]
fn an_untidy_body_is_cut_like_a_tidy_one() {
    property(25, 30, |random, size| {
        for &wire in Wire::ALL {
            let request = generated(wire, Kind::Mixed, random.bits(), size + 16);
            let body = scan(wire, Bytes::from(generate::untidy(&request, random.bits())));
            assert!(check_cuts(&format!("untidy {wire}"), &body, 1) > 0);
        }
    });
}

#[test]
fn a_damaged_conversation_gets_no_new_problem() {
    property(10, 40, |random, size| {
        for &wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let seed = random.bits();
            let mut request = generated(wire, kind, seed, size + 3);
            let mut ways = Vec::new();
            for _ in 0..random.between(1, 3) {
                let (broken, way) = generate::damage(&request, random.bits());
                request = broken;
                ways.push(way);
                if request[wire.list_name()].as_array().unwrap().len() < 2 {
                    break;
                }
            }
            let body = scan(wire, bytes(&request));
            check_cuts(&format!("{wire} {kind:?} {seed} {ways:?}"), &body, 1);
        }
    });
}

/// The dialect of newer clients: notes of their own anywhere between the messages.
#[test]
fn notes_in_between_give_no_new_problem() {
    property(10, 30, |random, size| {
        for &wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let mut request = generated(wire, kind, random.bits(), size + 3);
            let list = request[wire.list_name()].as_array_mut().unwrap();
            for number in 0..random.between(1, 6) {
                // The first message must stay the user's where a provider asks for it.
                let at = random.between(1, list.len());
                let note = format!("note {number}");
                list.insert(at, serde_json::json!({"role": "system", "content": note}));
            }
            let body = scan(wire, bytes(&request));
            check_cuts(&format!("notes {wire} {kind:?}"), &body, 1);
        }
    });
}

/// Notes where the provider wants them, before an answer or at the end: there are none before the user's words afterwards.
#[test]
fn notes_in_their_place_stay_in_such_places() {
    property(20, 40, |random, size| {
        let kind = *random.pick(&Kind::ALL);
        let mut request = generated(Wire::Anthropic, kind, random.bits(), size + 6);
        let list = request["messages"].as_array_mut().unwrap();
        let is_answer =
            |at: usize| list[at]["role"] == "assistant" && list[at - 1]["role"] == "user";
        let answers: Vec<usize> = (1..list.len()).filter(|&at| is_answer(at)).collect();
        for (number, at) in answers.into_iter().enumerate().rev() {
            if random.between(0, 1) == 0 {
                let note = format!("note {number}");
                list.insert(at, serde_json::json!({"role": "system", "content": note}));
            }
        }
        let body = scan(Wire::Anthropic, bytes(&request));
        let before = Judge::of(&body).problems(&body);
        assert!(!format!("{before:?}").contains("isplaced"), "{before:?}");
        check_cuts(&format!("notes in place {kind:?}"), &body, 1);
    });
}

#[test]
fn an_autonomous_run_can_be_cut_at_every_step() {
    for &wire in Wire::ALL {
        let request = generated(wire, Kind::Autonomous, seed(), 400);
        let body = scan(wire, bytes(&request));
        let log = conversation(&body, Meter::Estimate).log;
        let steps = request[wire.list_name()]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| match wire {
                // A text and the call behind it are two entries, with a cut between them.
                Wire::OpenAiResponses => {
                    message["role"] == "assistant" || message.get("name").is_some()
                }
                Wire::OpenAiChat | Wire::Anthropic => message["role"] == "assistant",
            })
            .count();
        assert!(steps >= 130, "{steps}");
        // One before every step, and one before the request (and the system prompt).
        let heads = log.cuts().len() - steps;
        assert!((1..=2).contains(&heads), "{heads} {steps}");
    }
}

#[test]
fn every_cut_of_the_example_files_is_valid() {
    let folder = root().join("examples");
    if !folder.is_dir() {
        return;
    }
    for path in files(&folder, "jsonl") {
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let body = detect(&bytes, None).unwrap().body;
        let tried = check_cuts(&stem(&path), &body, 1);
        assert!(tried > 10, "{}: {tried}", path.display());
    }
}

#[test]
fn every_cut_of_every_real_session_is_valid() {
    let Some(folder) = data("every_cut_of_every_real_session_is_valid", "unified") else {
        return;
    };
    let mut tried = 0;
    for path in files(&folder, "json") {
        let messages = sessions::read(&path, Texts::Short);
        for &wire in Wire::ALL {
            let body = scan(wire, bytes(&sessions::request(wire, &messages)));
            let cuts = check_cuts(&format!("{} {wire}", stem(&path)), &body, 1);
            assert!(cuts * 20 > body.len(), "{}: {cuts}", path.display());
            tried += cuts;
        }
    }
    assert!(tried > 5_000, "{tried}");
}

#[test]
fn cuts_of_real_sessions_with_whole_texts_are_valid() {
    let Some(folder) = data(
        "cuts_of_real_sessions_with_whole_texts_are_valid",
        "unified",
    ) else {
        return;
    };
    for path in files(&folder, "json") {
        let messages = sessions::read(&path, Texts::Whole);
        for &wire in Wire::ALL {
            let body = scan(wire, bytes(&sessions::request(wire, &messages)));
            let stride = (body.len() / 8).max(1);
            assert!(check_cuts(&format!("{} {wire}", stem(&path)), &body, stride) > 0);
        }
    }
}

#[test]
fn cache_marks_never_grow_in_number() {
    let rounds = u64::from(cases(20));
    for round in 0..rounds {
        // The largest number of marks a request may have, on random messages.
        let mut request = generated(Wire::Anthropic, Kind::Mixed, seed() + round, 30);
        let mut random = epitome_testkit::Random::new(round);
        let messages = request["messages"].as_array_mut().unwrap();
        let count = messages.len();
        for _ in 0..2 {
            let message = &mut messages[random.below(count)];
            if let Some(block) = message["content"].as_array_mut().and_then(|b| b.last_mut()) {
                block["cache_control"] = serde_json::json!({"type": "ephemeral", "ttl": "1h"});
            }
        }
        let body = scan(Wire::Anthropic, bytes(&request));
        let log = conversation(&body, Meter::Estimate).log;
        let marks = |body: &Body| memchr_count(body.bytes(), b"\"cache_control\"");
        for &cut in log.cuts() {
            let Ok(plan) = Plan::at(&log, cut as usize, 200, Reason::Manual) else {
                continue;
            };
            let view = View::of(&plan, body.len(), &[]);
            let out = body.render(&view, SUMMARY).unwrap().into_bytes();
            let after = rescan(&body, &out);
            assert!(marks(&after) <= marks(&body));
            let removed = plan
                .span
                .clone()
                .any(|index| memchr_count(body.message(index), b"\"cache_control\"") > 0);
            let summary = after.message(plan.head.end);
            assert_eq!(
                memchr_count(summary, b"\"cache_control\""),
                usize::from(removed),
                "a removed mark moves to the summary, and no other"
            );
        }
    }
}

fn memchr_count(haystack: &[u8], needle: &[u8]) -> usize {
    haystack
        .windows(needle.len())
        .filter(|window| *window == needle)
        .count()
}
