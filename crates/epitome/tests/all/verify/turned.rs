//! Rules of the user turned round by whoever wrote the summary: caught. The same rules in other words, and true things
//! that share words with them: not.
//!
//! Five files of rows, and what they are good for:
//!
//! - `turned_rules_known.tsv`: written by whoever wrote the checker, to say what it is meant to tell apart;
//! - `turned_rules_own.tsv`: by the same, four batches, each written before the checker was changed for it;
//! - `turned_rules.tsv`: written by somebody who did not know the checker, and looked at since, all of it;
//! - `turned_rules_second.tsv`: the same once more. Of these the 1st, 3rd, … may be looked at (`EPITOME_TURNED=1` prints
//!   what is wrong in them and in the other files); the 2nd, 4th, … are only counted, and tell how good it is;
//! - `turned_rules_third.tsv`: written before its writer had seen the checker's tables, two faithful wordings in each row.
//!   The half of it with an even digest may be looked at; the other half is only counted.
//!
//! In `near` rows a word or two were turned; `free` rows say the opposite in words of their own, and many of these nobody
//! can catch who does not know what words mean.

use std::collections::BTreeMap;

use epitome::Message;
use epitome::verify::Verification;

use crate::support::{assistant, user};

const KNOWN: &str = include_str!("../../vectors/turned_rules_known.tsv");
const OWN: &str = include_str!("../../vectors/turned_rules_own.tsv");
const FIRST: &str = include_str!("../../vectors/turned_rules.tsv");
const SECOND: &str = include_str!("../../vectors/turned_rules_second.tsv");
const THIRD: &str = include_str!("../../vectors/turned_rules_third.tsv");

/// What is reached in a part; wanted are 95 caught and 2 wrong. It must not get worse unnoticed.
struct Floor {
    part: &'static str,
    near_percent: usize,
    free_percent: usize,
    false_per_mille: usize,
}

const FLOORS: [Floor; 7] = [
    Floor {
        part: "known",
        near_percent: 95,
        free_percent: 0,
        false_per_mille: 2,
    },
    Floor {
        part: "own",
        near_percent: 90,
        free_percent: 0,
        false_per_mille: 4,
    },
    Floor {
        part: "first",
        near_percent: 100,
        free_percent: 97,
        false_per_mille: 0,
    },
    Floor {
        part: "second, looked at",
        near_percent: 98,
        free_percent: 26,
        false_per_mille: 4,
    },
    Floor {
        part: "second, counted",
        near_percent: 80,
        free_percent: 29,
        false_per_mille: 32,
    },
    Floor {
        part: "third, looked at",
        near_percent: 92,
        free_percent: 50,
        false_per_mille: 5,
    },
    Floor {
        part: "third, counted",
        near_percent: 86,
        free_percent: 55,
        false_per_mille: 26,
    },
];

struct Row {
    part: &'static str,
    language: &'static str,
    rule: &'static str,
    turned: &'static str,
    faithful: Vec<&'static str>,
    unrelated: &'static str,
    style: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    let known = rows_of(KNOWN).map(|row| ("known", row));
    let own = rows_of(OWN).map(|row| ("own", row));
    let first = rows_of(FIRST).map(|row| ("first", row));
    let second = rows_of(SECOND).enumerate().map(|(at, row)| match at % 2 {
        0 => ("second, looked at", row),
        _ => ("second, counted", row),
    });
    let third = rows_of(THIRD).map(|row| match digest(row.rule) % 2 {
        0 => ("third, looked at", row),
        _ => ("third, counted", row),
    });
    let all = known.chain(own).chain(first).chain(second).chain(third);
    all.map(|(part, row)| Row { part, ..row })
}

/// FNV-1a, folded: which half a row belongs to must not depend on where it stands.
fn digest(rule: &str) -> u64 {
    let hashed = rule.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hashed ^ (hashed >> 32)
}

fn rows_of(rows: &'static str) -> impl Iterator<Item = Row> {
    let lines = rows.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [language, rule, turned, ref faithful @ .., unrelated, style] = columns[..] else {
            panic!("{} columns", columns.len());
        };
        Row {
            part: "",
            language,
            rule,
            turned,
            faithful: faithful.to_vec(),
            unrelated,
            style,
        }
    })
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

/// Of each part, by what was done to the rule, and by language: how many were objected to, of how many.
type Counts = BTreeMap<(&'static str, &'static str, &'static str), (usize, usize)>;

#[test]
fn rules_turned_round_are_caught_and_faithful_words_are_not() {
    let shown = std::env::var("EPITOME_TURNED").is_ok();
    let mut counts = Counts::new();
    for row in rows() {
        let messages = conversation(row.rule, row.unrelated);
        let faithful = row.faithful.iter().chain([&row.rule]);
        let told = [
            (row.style, as_rule(row.turned)),
            ("right", as_fact(row.unrelated)),
        ];
        let told = told
            .into_iter()
            .chain(faithful.map(|sentence| ("right", as_rule(sentence))));
        for (style, told) in told {
            let is_objected = is_objected_to(&messages, &told);
            for language in [row.language, "all"] {
                let (hits, all) = counts.entry((row.part, style, language)).or_default();
                *hits += usize::from(is_objected);
                *all += 1;
            }
            let is_wrong = is_objected == (style == "right");
            if shown && is_wrong && !row.part.ends_with("counted") {
                println!("{}, {style}: {} → {told}", row.part, row.rule);
            }
        }
    }
    for ((part, style, language), (hits, all)) in &counts {
        println!("{part}: {style} {language}: {hits} of {all} objected to");
    }
    for floor in FLOORS {
        let of = |style| counts.get(&(floor.part, style, "all")).copied();
        let (near, near_all) = of("near").unwrap_or_default();
        let (free, free_all) = of("free").unwrap_or_default();
        let (wrong, right_all) = of("right").unwrap_or_default();
        let part = floor.part;
        assert!(
            near * 100 >= near_all * floor.near_percent,
            "{part}: {near}"
        );
        assert!(
            free * 100 >= free_all * floor.free_percent,
            "{part}: {free}"
        );
        assert!(
            wrong * 1_000 <= right_all * floor.false_per_mille,
            "{part}: {wrong}"
        );
    }
}
