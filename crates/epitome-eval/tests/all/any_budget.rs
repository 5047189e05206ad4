//! Any budget: from a thousand tokens up every real session, cut off wherever it was, gives a valid view that fits.
//!
//! `EPITOME_CUTS` says at how many places each session is cut off (twelve in the full run, fewer in the usual one).

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that meets another shape stops"
)]

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use epitome::{
    Basis, Compaction, Facts, Log, Message, Meter, Plan, Reason, ViewItem, leading_system, trimmed,
};
use epitome_eval::{Session, message};

use crate::support::data;

const METER: Meter = Meter::Chars4;
const BUDGETS: [u64; 5] = [1_000, 2_000, 4_000, 8_000, 16_000];
const USUAL_CUTS: usize = 3;

/// Calls of the last messages that have no result yet: their arguments must stay, whatever they take.
fn open_call_tokens(messages: &[Message]) -> u64 {
    let answered: HashSet<&str> = messages
        .iter()
        .flat_map(Message::results)
        .map(|result| &*result.call_id)
        .collect();
    let open = messages.iter().flat_map(Message::calls);
    open.filter(|call| !answered.contains(&*call.id))
        .map(|call| METER.text(&call.arguments))
        .sum()
}

/// The messages of a view.
fn shown(messages: &[Message], done: &Compaction) -> Vec<Message> {
    let mut out = Vec::new();
    for item in done.view(messages.len()).items {
        match item {
            ViewItem::Entries(range) => out.extend_from_slice(&messages[range]),
            ViewItem::Trimmed(at, trims) => out.push(trimmed(&messages[at], &trims)),
            ViewItem::Summary => {
                out.push(Message::text(
                    epitome::Role::User,
                    done.summary.text.as_str(),
                ));
            }
            other => panic!("not in the default layout: {other:?}"),
        }
    }
    out
}

/// Results without their calls, and calls inside the view that lost their results.
fn broken_pairs(before: &[Message], after: &[Message]) -> usize {
    let ids = |messages: &[Message]| -> (HashSet<String>, HashSet<String>) {
        let calls = messages.iter().flat_map(Message::calls);
        let results = messages.iter().flat_map(Message::results);
        (
            calls.map(|call| call.id.to_string()).collect(),
            results.map(|result| result.call_id.to_string()).collect(),
        )
    };
    let ((all_calls, all_results), (calls, results)) = (ids(before), ids(after));
    let orphans = results
        .difference(&calls)
        .filter(|id| all_calls.contains(*id));
    let lost = calls
        .difference(&results)
        .filter(|id| all_results.contains(*id));
    orphans.count() + lost.count()
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

#[test]
fn every_real_session_fits_any_budget() {
    let Some(root) = data("every_real_session_fits_any_budget", "unified") else {
        return;
    };
    let cuts = std::env::var("EPITOME_CUTS").ok();
    let cuts: usize = cuts.map_or(USUAL_CUTS, |cuts| cuts.parse().unwrap());
    let mut files: Vec<_> = std::fs::read_dir(&root)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let mut tally: BTreeMap<(u64, &str), usize> = BTreeMap::new();
    let mut refused = Vec::new();
    for file in &files {
        let session = Session::read(&std::fs::read(file).unwrap()).unwrap();
        let messages: Vec<Message> = session.messages.iter().map(message).collect();
        let facts: Vec<Facts> = messages.iter().map(|one| Facts::of(one, METER)).collect();
        for cut in 1..=cuts {
            let count = messages.len() * cut / cuts;
            let mut log = Log::new();
            facts.iter().take(count).for_each(|facts| log.push(facts));
            let messages = &messages[..count];
            for budget in BUDGETS {
                let what = attempt(messages, &log, budget);
                *tally.entry((budget, what)).or_default() += 1;
                if !matches!(what, "fits" | "compacted" | "open call") {
                    refused.push(format!("{} {count} {budget} {what}", name(file)));
                }
            }
        }
    }
    println!("{tally:#?}");
    println!("{}", refused.join("\n"));
    assert!(refused.is_empty(), "{} refused", refused.len());
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap().to_string_lossy().into_owned()
}

fn attempt(messages: &[Message], log: &Log, budget: u64) -> &'static str {
    if log.tokens(leading_system(log)..log.len()) <= budget {
        return "fits";
    }
    let done = Plan::make(log, budget, Reason::Manual)
        .and_then(|plan| Compaction::extract(plan, &Basis::new(log, messages, METER)));
    let done = match done {
        Ok(done) => done,
        Err(_) if open_call_tokens(messages) + 400 > budget => return "open call",
        Err(no) => return no.reason.as_str(),
    };
    let view = shown(messages, &done);
    let system = leading_system(log);
    let tokens: u64 = view.iter().skip(system).map(|one| METER.message(one)).sum();
    let was_json: HashSet<&str> = messages
        .iter()
        .flat_map(Message::calls)
        .filter(|call| is_json(&call.arguments))
        .map(|call| &*call.id)
        .collect();
    let mut calls = view.iter().flat_map(Message::calls);
    match () {
        () if tokens > budget => "above the budget",
        () if broken_pairs(messages, &view) > 0 => "broken pairs",
        () if calls.any(|call| was_json.contains(&*call.id) && !is_json(&call.arguments)) => {
            "broken arguments"
        }
        () => "compacted",
    }
}
