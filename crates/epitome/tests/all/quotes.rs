//! What a summary quotes stands in the source: no name is cut in two, however a text is laid out.

use std::collections::HashSet;

use epitome::{Basis, Compaction, Message, Meter, Plan, Reason};

use crate::support::{assistant, calls, log_of, property, result, text, user};

fn summary(messages: &[Message], target: u64) -> Option<String> {
    let log = log_of(messages);
    let plan = Plan::make(&log, target, Reason::Manual).ok()?;
    let compaction =
        Compaction::extract(plan, &Basis::new(&log, messages, Meter::Estimate)).ok()?;
    Some(compaction.summary.text)
}

/// Addresses and paths as a reader takes them: up to a space, a quote or a bracket.
fn names(text: &str) -> HashSet<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'`<>()[]{}|\\".contains(c));
    words
        .map(|word| word.trim_matches(|c| ".,;:…".contains(c)))
        .filter(|word| word.contains("://") || word.contains("~/"))
        .collect()
}

/// One long line, as programs write it, with addresses that share their beginnings.
fn minified(from: usize, items: usize) -> String {
    let item = |number: usize| {
        format!(
            "{{\"id\":{number},\"url\":\"https://api.example.org/v2/projects/granite/items/{number}/comments\",\
             \"home\":\"~/code/granite/.cache/item_{number}.json\"}}"
        )
    };
    let items: Vec<String> = (from..from + items).map(item).collect();
    format!("[{}]", items.join(","))
}

#[test]
fn addresses_in_one_long_line_are_quoted_whole_or_not_at_all() {
    let mut messages = vec![user("List the items of granite and find the odd one.")];
    for step in 0..12 {
        let id = format!("call_{step}");
        messages.push(calls(&[&id]));
        messages.push(result(&id, minified(step * 100, 40)));
        messages.push(assistant(format!("Batch {step} has nothing odd.")));
    }
    let source: Vec<String> = (0..12).map(|step| minified(step * 100, 40)).collect();
    let source = source.join("\n");
    let known = names(&source);
    let mut quoted = 0;
    for target in [700, 1_000, 2_000, 4_000, 8_000] {
        let text = summary(&messages, target).unwrap();
        let found = names(&text);
        quoted += found.len();
        let unknown: Vec<&&str> = found.difference(&known).collect();
        assert!(unknown.is_empty(), "at {target}: {unknown:?}");
    }
    assert!(quoted > 0, "nothing was quoted, so nothing was shown");
}

#[test]
fn a_word_too_long_to_quote_does_not_hide_what_follows_it() {
    let blob = "QmFzZTY0".repeat(400);
    let line = format!("payload {blob} then the culprit is src/culprit_41.rs with ZX-4711");
    let mut messages = vec![user("Find the culprit.")];
    for step in 0..30 {
        let id = format!("call_{step}");
        messages.push(calls(&[&id]));
        let shown = match step {
            3 => line.clone(),
            _ => format!("step {step}: nothing in src/part_{step}.rs\n").repeat(8),
        };
        messages.push(result(&id, shown));
    }
    let text = summary(&messages, 1_500).unwrap();
    assert!(text.contains("ZX-4711"), "{text}");
    assert!(!text.contains("QmFzZTY0QmFzZTY0"), "{text}");
}

#[test]
fn any_text_is_cut_without_harm() {
    property(4, &text(3_000), |text| {
        let mut messages = vec![user("Go on.")];
        for step in 0..6 {
            let id = format!("call_{step}");
            messages.push(calls(&[&id]));
            messages.push(result(&id, format!("{step} {text}")));
        }
        if let Some(summary) = summary(&messages, 600) {
            assert!(Meter::Estimate.text(&summary) <= 600);
        }
    });
}
