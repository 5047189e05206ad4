//! Among the user's instructions only his own words stand, and those that the host gave.

use epitome::Message;
use epitome::verify::{AlarmKind, Checked, Verdict, Verification};
use epitome::{Pin, find_pins};

use crate::support::{assistant, user};

const RULE: &str = "Never push to main without asking me.";

fn conversation() -> Vec<Message> {
    vec![
        user("Please fix the parser."),
        assistant("The parser is fixed."),
        user(RULE),
        assistant("Understood."),
        user("Now look at the lexer."),
    ]
}

fn told(line: &str) -> String {
    format!(
        "## Goal\nFix parser and lexer.\n\n## Instructions of the user\n- {line}\n\n## State\nThe parser is fixed."
    )
}

fn checked(summary: &str, pins: Vec<Pin>) -> Checked {
    let messages = conversation();
    let source: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let found = find_pins(source.iter().copied());
    Verification::of(&source, None)
        .with_pins(found.into_iter().chain(pins).collect())
        .check(summary)
}

fn has(checked: &Checked, kind: AlarmKind) -> bool {
    checked.report.alarms.iter().any(|alarm| alarm.kind == kind)
}

#[test]
fn what_he_typed_stands_as_it_is() {
    let summary = told(RULE);
    let checked = checked(&summary, Vec::new());
    assert_eq!(
        (checked.verdict, checked.text),
        (Verdict::Accepted, summary)
    );
}

#[test]
fn other_words_are_exchanged_for_his() {
    let line = "Ask the user before pushing anything to main.";
    let checked = checked(&told(line), Vec::new());
    assert!(
        has(&checked, AlarmKind::PinReworded),
        "{:?}",
        checked.report
    );
    assert!(!checked.text.contains(line));
    assert_eq!(checked.text.matches(RULE).count(), 1);
    assert!(checked.report.struck.iter().any(|struck| struck == line));
    assert!(checked.report.appended.iter().any(|added| added == RULE));
}

#[test]
fn the_same_rule_told_twice_stands_once() {
    let lines = "Ask the user before pushing to main.\n- Pushing to main needs the user's word.";
    let checked = checked(&told(lines), Vec::new());
    assert_eq!(checked.text.matches(RULE).count(), 1, "{}", checked.text);
}

#[test]
fn a_rule_that_stands_is_not_put_in_again() {
    let lines = format!("{RULE}\n- Ask the user before pushing to main.");
    let checked = checked(&told(&lines), Vec::new());
    assert_eq!(checked.text.matches(RULE).count(), 1, "{}", checked.text);
}

/// What was asked for once is no rule because somebody made one of it.
#[test]
fn a_request_does_not_become_an_instruction() {
    let line = "Always keep the parser of the old version working.";
    let checked = checked(&told(line), Vec::new());
    let rules = checked.text.split("## State").next().unwrap_or_default();
    assert!(
        !rules.contains("Please fix the parser."),
        "{}",
        checked.text
    );
    assert!(!rules.contains(line), "{}", checked.text);
}

/// Half of a rule may be the opposite of it.
#[test]
fn a_part_of_his_words_is_not_his_words() {
    let checked = checked(&told("push to main without asking"), Vec::new());
    assert!(checked.text.contains(RULE), "{}", checked.text);
    assert!(!checked.text.contains("- push to main"));
}

#[test]
fn what_the_host_pinned_stands_line_by_line() {
    let host =
        "Company rules:\n- Releases happen on Tuesdays.\n- Customer data stays in the region.";
    let summary = told(&format!("{RULE}\n- {host}"));
    let checked = checked(&summary, vec![Pin::host(host)]);
    assert_eq!(
        (checked.verdict, checked.text),
        (Verdict::Accepted, summary)
    );
}

/// What was moved down is no instruction in the next round either.
#[test]
fn checking_again_changes_nothing() {
    let lines = "Ask the user before pushing to main.\n- The lexer matters a lot to everyone here.";
    let once = checked(&told(lines), Vec::new());
    let twice = checked(&once.text, Vec::new());
    assert_eq!(once.text, twice.text);
}
