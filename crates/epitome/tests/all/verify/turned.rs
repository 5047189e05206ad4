//! Rules of the user turned round by whoever wrote the summary: caught. The same rules in other words, and true things
//! that share words with them: not.
//!
//! The rows were written by somebody who did not know the checker. Every second one may be looked at
//! (`EPITOME_TURNED=1` prints what is wrong in these), the others are only counted.

use std::collections::BTreeMap;

use epitome::Message;
use epitome::verify::Verification;

use crate::support::{assistant, user};

const ROWS: &str = include_str!("../../vectors/turned_rules.tsv");
const CAUGHT_PERCENT: usize = 95;
const FALSE_PERCENT: usize = 2;

struct Row {
    language: &'static str,
    rule: &'static str,
    turned: &'static str,
    faithful: &'static str,
    unrelated: &'static str,
    is_near: bool,
}

fn rows() -> Vec<Row> {
    let lines = ROWS.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [language, rule, turned, faithful, unrelated, style] = columns[..] else {
            panic!("{line}");
        };
        Row {
            language,
            rule,
            turned,
            faithful,
            unrelated,
            is_near: style == "near",
        }
    });
    rows.collect()
}

/// Work in which the rule was typed once.
fn conversation(rule: &str, unrelated: &str) -> Vec<Message> {
    vec![
        user("Look after it, please."),
        assistant("I will."),
        user(rule),
        assistant(format!("Understood. I looked around. {unrelated}")),
        user("Good, go on."),
    ]
}

/// Whether a sentence, told in one of the ways in which summaries tell rules, is objected to.
fn is_objected_to(messages: &[Message], told: &str) -> bool {
    let span: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let checked = Verification::of(&span, None).check(told);
    checked
        .report
        .alarms
        .iter()
        .any(|alarm| alarm.kind.is_untrue())
}

/// How summaries tell what the user wants, and how they tell what is so.
fn as_rule(sentence: &str) -> String {
    format!(
        "## Goal\nLook after it.\n\n## Instructions of the user\n- {sentence}\n\n## State\nThe agent looked around."
    )
}

fn as_fact(sentence: &str) -> String {
    format!("## Goal\nLook after it.\n\n## State\nThe agent looked around. {sentence}")
}

#[test]
fn rules_turned_round_are_caught_and_faithful_words_are_not() {
    let shown = std::env::var("EPITOME_TURNED").is_ok();
    // Of each part: rows turned and caught, told rightly and objected to.
    let mut caught: BTreeMap<(&str, &str, &str), (usize, usize)> = BTreeMap::new();
    let mut objected: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for (at, row) in rows().iter().enumerate() {
        let part = if at % 2 == 0 { "seen" } else { "unseen" };
        let messages = conversation(row.rule, row.unrelated);
        let is_caught = is_objected_to(&messages, &as_rule(row.turned));
        let style = if row.is_near { "near" } else { "free" };
        for language in [row.language, "all"] {
            let (hits, all) = caught.entry((part, style, language)).or_default();
            *hits += usize::from(is_caught);
            *all += 1;
        }
        if shown && part == "seen" && !is_caught {
            println!("{style} not caught: {} → {}", row.rule, row.turned);
        }
        let right = [
            as_rule(row.faithful),
            as_rule(row.rule),
            as_fact(row.unrelated),
        ];
        for told in right {
            let is_false = is_objected_to(&messages, &told);
            let (hits, all) = objected.entry((part, row.language)).or_default();
            *hits += usize::from(is_false);
            *all += 1;
            if shown && part == "seen" && is_false {
                println!("false alarm: {} → {told}", row.rule);
            }
        }
    }
    for ((part, style, language), (hits, all)) in &caught {
        println!("{part} {style} {language}: {hits} of {all} caught");
    }
    for ((part, language), (hits, all)) in &objected {
        println!("{part} {language}: {hits} of {all} objected to wrongly");
    }
    for part in ["seen", "unseen"] {
        let (hits, all) = caught[&(part, "near", "all")];
        assert!(
            hits * 100 >= all * CAUGHT_PERCENT,
            "{part}: {hits} of {all}"
        );
        let of_part = objected.iter().filter(|((of, _), _)| *of == part);
        let (hits, all) =
            of_part.fold((0, 0), |sum, (_, count)| (sum.0 + count.0, sum.1 + count.1));
        assert!(hits * 100 <= all * FALSE_PERCENT, "{part}: {hits} of {all}");
    }
}
