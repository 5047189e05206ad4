//! Rules of the user turned round by whoever wrote the summary: caught. The same rules in other words, and true things
//! that share words with them: not.
//!
//! Seven files of rows, and what they are good for:
//!
//! - `turned_rules_known.tsv`: written by whoever wrote the checker, to say what it is meant to tell apart;
//! - `turned_rules_own.tsv`: by the same, four batches, each written before the checker was changed for it;
//! - `turned_rules.tsv`: written by somebody who did not know the checker, and looked at since, all of it;
//! - `turned_rules_second.tsv`: the same once more. Of these the 1st, 3rd, … may be looked at (`EPITOME_TURNED=1` prints
//!   what is wrong in them and in the other files); the 2nd, 4th, … are only counted, and tell how good it is;
//! - `turned_rules_third.tsv`: written before its writer had seen the checker's tables, two faithful wordings in each row.
//!   The half of it with an even digest may be looked at; the other half is only counted;
//! - `turned_rules_fourth.tsv` and `turned_rules_fifth.tsv`: written together before their writer had read the checker, and
//!   told apart by a digest: the fourth may be looked at, the fifth is only counted.
//!
//! In `near` rows a word or two were turned; `free` rows say the opposite in words of their own. Nobody has to know what words
//! mean to catch either: what stands among the user's instructions is in his words or does not stand.

use std::collections::BTreeMap;

use epitome::Message;
use epitome::verify::{Verdict, Verification};

use crate::support::{assistant, user};

const KNOWN: &str = include_str!("../../vectors/turned_rules_known.tsv");
const OWN: &str = include_str!("../../vectors/turned_rules_own.tsv");
const FIRST: &str = include_str!("../../vectors/turned_rules.tsv");
const SECOND: &str = include_str!("../../vectors/turned_rules_second.tsv");
const THIRD: &str = include_str!("../../vectors/turned_rules_third.tsv");
const FOURTH: &str = include_str!("../../vectors/turned_rules_fourth.tsv");
const FIFTH: &str = include_str!("../../vectors/turned_rules_fifth.tsv");

/// What is wanted of each part: so many in a hundred caught.
const LEAST_CAUGHT: usize = 95;
/// And so many in a thousand, at most, said to be untrue though they are faithful, of the parts that are only counted.
const MOST_WRONG: usize = 20;
/// Faithful sentences of which nothing stands among the instructions in the end, in a thousand: what shares little with
/// something that was asked for once is not exchanged for it, because a request is no rule.
const MOST_LOST: usize = 25;

/// What is reached of the wrong ones in each part, in a thousand. It must not get worse unnoticed.
const WRONG: [(&str, usize); 9] = [
    ("known", 2),
    ("own", 3),
    ("first", 0),
    ("second, looked at", 0),
    ("second, counted", 28),
    ("third, looked at", 5),
    ("third, counted", 19),
    ("fourth, looked at", 24),
    ("fifth, counted", 10),
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
    let fourth = rows_of(FOURTH).map(|row| ("fourth, looked at", row));
    let fifth = rows_of(FIFTH).map(|row| ("fifth, counted", row));
    let own = known.chain(own);
    let others = first.chain(second).chain(third).chain(fourth).chain(fifth);
    own.chain(others).map(|(part, row)| Row { part, ..row })
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

/// What becomes of a sentence that a summary tells.
struct Fate {
    /// Whether it is said to be untrue.
    is_objected_to: bool,
    /// Whether it still stands where the summary had it.
    stands: bool,
    /// Whether the rule stands in the words in which it was typed.
    has_rule: bool,
}

/// Where what verification adds begins; what it moved there is said to be no instruction.
const ADDED: &str = "## Added from the log";

fn fate(messages: &[Message], told: &str, sentence: &str, rule: &str) -> Fate {
    let span: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let checked = Verification::of(&span, None).check(told);
    let mut alarms = checked.report.alarms.iter();
    let kept = checked.text.split(ADDED).next().unwrap_or_default();
    let is_rejected = matches!(checked.verdict, Verdict::Rejected(_));
    Fate {
        is_objected_to: alarms.any(|alarm| alarm.kind.is_untrue()),
        stands: !is_rejected && kept.contains(sentence),
        has_rule: checked.text.contains(rule),
    }
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

/// A faithful sentence that does not stand any more, and the rule is not there either.
const LOST: &str = "faithful and neither it nor the rule is there";

/// Of each part, by what was done to the rule, and by language: how many were counted, of how many.
type Counts = BTreeMap<(&'static str, &'static str, &'static str), (usize, usize)>;

/// A sentence that turns a rule round is caught when it does not stand where it stood; that it is also said to be untrue
/// (`near seen through`, `free seen through`) is more than is needed. A faithful one may be exchanged for the user's own
/// words, which is nothing against it; it must not be said to be untrue (`right`).
#[test]
fn rules_turned_round_are_caught_and_faithful_words_are_not() {
    let shown = std::env::var("EPITOME_TURNED").is_ok();
    let mut counts = Counts::new();
    let mut count = |row: &Row, what, is_so: bool, sentence: &str| {
        for language in [row.language, "all"] {
            let (hits, all) = counts.entry((row.part, what, language)).or_default();
            *hits += usize::from(is_so);
            *all += 1;
        }
        if shown && !row.part.ends_with("counted") {
            let is_caught = matches!(what, "near" | "free") || what.ends_with("seen through");
            if is_caught != is_so {
                println!("{}, {what}: {} → {sentence}", row.part, row.rule);
            }
        }
    };
    for row in rows() {
        let messages = conversation(row.rule, row.unrelated);
        let turned = fate(&messages, &as_rule(row.turned), row.turned, row.rule);
        count(&row, row.style, !turned.stands, row.turned);
        let seen_through = match row.style {
            "near" => "near seen through",
            _ => "free seen through",
        };
        count(&row, seen_through, turned.is_objected_to, row.turned);
        let unrelated = fate(&messages, &as_fact(row.unrelated), row.unrelated, row.rule);
        count(&row, "right", unrelated.is_objected_to, row.unrelated);
        count(&row, "right and gone", !unrelated.stands, row.unrelated);
        for faithful in row.faithful.iter().chain([&row.rule]) {
            let told = fate(&messages, &as_rule(faithful), faithful, row.rule);
            count(&row, "right", told.is_objected_to, faithful);
            count(&row, LOST, !told.stands && !told.has_rule, faithful);
        }
    }
    for ((part, style, language), (hits, all)) in &counts {
        println!("{part}: {style} {language}: {hits} of {all}");
    }
    let of = |part, what| {
        counts
            .get(&(part, what, "all"))
            .copied()
            .unwrap_or_default()
    };
    let (mut counted, mut lost) = ((0, 0), (0, 0));
    for (part, most) in WRONG {
        for style in ["near", "free"] {
            let (caught, all) = of(part, style);
            assert!(
                caught * 100 >= all * LEAST_CAUGHT,
                "{part}, {style}: {caught}"
            );
        }
        let (wrong, right) = of(part, "right");
        assert!(wrong * 1_000 <= right * most, "{part}: {wrong} of {right}");
        if part.ends_with("counted") {
            counted = (counted.0 + wrong, counted.1 + right);
        }
        let (gone, faithful) = of(part, LOST);
        lost = (lost.0 + gone, lost.1 + faithful);
    }
    assert!(counted.0 * 1_000 <= counted.1 * MOST_WRONG, "{counted:?}");
    assert!(lost.0 * 1_000 <= lost.1 * MOST_LOST, "{lost:?}");
}
