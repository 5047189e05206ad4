//! Compaction to a budget: never above it, valid, the same every time, and not needed twice.

use bytes::Bytes;
use epitome::{
    Basis, Compaction, Facts, Log, Message, Meter, Plan, Reason, TaskPlace, ViewItem,
    is_own_summary, leading_system, trimmed,
};
use epitome_testkit::cases::property;
use epitome_testkit::data::{data, files, root, stem};
use epitome_testkit::{Kind, generate};
use epitome_wire::{Body, Wire, detect};

use crate::cuts::{kept, rescan};
use crate::fixtures::{
    Judge, Problems, assert_kept, assert_no_new_problems, bytes, conversation, decoded, generated,
};
use crate::sessions::{self, Texts};

const METERS: [Meter; 2] = [Meter::Estimate, Meter::Chars4];

/// What became of a conversation under one budget.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Compacted,
    Floor,
    NothingToRemove,
}

/// Tokens of everything but the leading system prompt.
fn size(log: &Log) -> u64 {
    log.tokens(leading_system(log)..log.len())
}

/// A conversation with what has to be known of it once.
struct Case {
    name: String,
    body: Body,
    messages: Vec<Message>,
    problems: Problems,
}

impl Case {
    fn new(name: String, body: Body) -> Self {
        Self {
            name,
            messages: decoded(&body),
            problems: Judge::of(&body).problems(&body),
            body,
        }
    }

    fn log(&self, meter: Meter) -> Log {
        let mut log = Log::new();
        for message in &self.messages {
            log.push(&Facts::of(message, meter));
        }
        log
    }

    /// Halves, quarters and less of what is there, by both meters.
    fn check(&self) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for meter in METERS {
            let log = self.log(meter);
            let total = size(&log);
            for part in [2, 4, 8, 20, 60] {
                outcomes.push(check_budget(self, &log, meter, total / part));
            }
        }
        outcomes
    }
}

fn check_budget(case: &Case, log: &Log, meter: Meter, budget: u64) -> Outcome {
    let Case {
        name,
        body,
        messages,
        problems,
    } = case;
    let what = format!("{name} to {budget} by {meter:?}");
    let plan = match Plan::make(log, budget, Reason::Manual) {
        Ok(plan) => plan,
        Err(no) if no.reason == Reason::FloorAboveBudget => {
            assert!(no.floor_tokens > budget, "{what}: {no}");
            return Outcome::Floor;
        }
        Err(no) => {
            assert_eq!(no.reason, Reason::NothingToRemove, "{what}");
            return Outcome::NothingToRemove;
        }
    };
    assert!(plan.floor_tokens <= budget, "{what}: {plan:?}");
    let extract = || Compaction::extract(plan.clone(), &Basis::new(log, messages, meter));
    let compaction = extract().unwrap_or_else(|no| panic!("{what}: {no}"));
    assert_eq!(compaction, extract().unwrap(), "{what}: not deterministic");
    assert!(
        is_own_summary(&compaction.summary.text),
        "{what}: the summary is not known again"
    );

    let view = compaction.view(body.len());
    let render = || {
        let splice = body.render(&view, &compaction.summary.text).unwrap();
        splice.into_bytes()
    };
    let out = render();
    assert_eq!(out, render(), "{what}: not deterministic");
    let after = rescan(body, &out);

    assert_kept(&what, body, &after, &kept(&view));
    let results = decoded(&after);
    assert_trimmed(&what, messages, &results, &view.items);
    let after_problems = Judge::of(&after).problems(&after);
    assert_no_new_problems(&what, problems, &after_problems);

    let tokens = size(&conversation(&after, meter).log);
    assert_eq!(tokens, compaction.tokens_after, "{what}: announced size");
    assert!(tokens <= budget, "{what}: {tokens} tokens");
    // What fits is not compacted again: the caller asks for the size first.
    assert!(tokens * 10 <= plan.tokens_before * 9, "{what}: {tokens}");
    if plan.task == TaskPlace::Head {
        assert!(plan.head.end > leading_system(log), "{what}");
    }
    Outcome::Compacted
}

/// A trimmed message says, after rendering, what the core says it does.
fn assert_trimmed(what: &str, messages: &[Message], results: &[Message], items: &[ViewItem]) {
    let mut index = 0;
    for item in items {
        match item {
            ViewItem::Entries(range) => index += range.len(),
            ViewItem::Summary => index += 1,
            ViewItem::Trimmed(position, trims) => {
                let expected = trimmed(&messages[*position], trims);
                assert_eq!(results[index], expected, "{what}: trim of {position}");
                index += 1;
            }
            other => panic!("not in the default layout: {other:?}"),
        }
    }
}

fn compacted(outcomes: &[Outcome]) -> usize {
    outcomes
        .iter()
        .filter(|outcome| **outcome == Outcome::Compacted)
        .count()
}

#[test]
fn a_generated_conversation_reaches_its_budget() {
    property(120, 50, |random, size| {
        for &wire in Wire::ALL {
            for kind in Kind::ALL {
                let seed = random.bits();
                let body = Body::scan(bytes(&generated(wire, kind, seed, size)), wire).unwrap();
                let outcomes = Case::new(format!("{wire} {kind:?} {seed}"), body).check();
                if size > 30 {
                    assert!(
                        compacted(&outcomes) >= 2,
                        "{wire} {kind:?} {seed}: {outcomes:?}"
                    );
                }
            }
        }
    });
}

#[test]
fn an_untidy_conversation_reaches_its_budget() {
    property(40, 40, |random, size| {
        for &wire in Wire::ALL {
            let request = generated(wire, Kind::ToolHeavy, random.bits(), size);
            let bytes = Bytes::from(generate::untidy(&request, random.bits()));
            let body = Body::scan(bytes, wire).unwrap();
            Case::new(format!("untidy {wire}"), body).check();
        }
    });
}

#[test]
fn a_damaged_conversation_reaches_its_budget() {
    property(50, 40, |random, size| {
        for &wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let request = generated(wire, kind, random.bits(), size + 3);
            let (broken, way) = generate::damage(&request, random.bits());
            let body = Body::scan(bytes(&broken), wire).unwrap();
            Case::new(format!("{wire} {kind:?} {way:?}"), body).check();
        }
    });
}

#[test]
fn the_example_files_reach_their_budgets() {
    let folder = root().join("examples");
    if !folder.is_dir() {
        return;
    }
    for path in files(&folder, "jsonl") {
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let body = detect(&bytes, None).unwrap().body;
        let outcomes = Case::new(stem(&path), body).check();
        assert!(compacted(&outcomes) >= 6, "{}: {outcomes:?}", stem(&path));
    }
}

#[test]
fn real_sessions_reach_their_budgets() {
    let Some(folder) = data("real_sessions_reach_their_budgets", "unified") else {
        return;
    };
    for path in files(&folder, "json") {
        let messages = sessions::read(&path, Texts::Whole);
        for &wire in Wire::ALL {
            let name = format!("{} {wire}", stem(&path));
            let body = Body::scan(bytes(&sessions::request(wire, &messages)), wire).unwrap();
            let case = Case::new(name.clone(), body);
            let log = case.log(Meter::Estimate);
            let outcomes =
                [2, 10].map(|part| check_budget(&case, &log, Meter::Estimate, size(&log) / part));
            assert!(compacted(&outcomes) == 2, "{name}: {outcomes:?}");
        }
    }
}
