//! Rules that the user took back: in what is still in view, and in what the summary stands for.

use epitome::verify::{AlarmKind, Verdict, Verification};
use epitome::{Basis, Compaction, Message, Meter, Plan, Reason};

use crate::support::{assistant, autonomous, log_of, user};

const RULE: &str = "Never push to main.";
const REVOKED: &str = "You may push to main now.";
const TOLD: &str = "The session in src/auth.rs lived too long.";

fn conversation() -> Vec<Message> {
    vec![
        user(format!("Fix the login in src/auth.rs. {RULE}")),
        assistant("Fixed: the session in src/auth.rs lived too long."),
        user(REVOKED),
        assistant("Pushed."),
    ]
}

/// A summary of the first two entries, beside which the others stand.
fn checked(messages: &[Message], summary: &str) -> epitome::verify::Checked {
    let entries: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let (span, view) = entries.split_at(2);
    Verification::of(span, None).with_view(view).check(summary)
}

#[test]
fn a_rule_that_was_taken_back_in_view_is_not_put_back() {
    let found = checked(&conversation(), TOLD);
    assert_eq!(found.verdict, Verdict::Accepted, "{:?}", found.report);
    assert!(!found.text.contains(RULE));
}

#[test]
fn what_stands_in_view_before_the_source_takes_nothing_back() {
    let messages = conversation();
    let entries: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let (view, span) = ([entries[2]], [(4, entries[0].1), (5, entries[1].1)]);
    let checked = Verification::of(&span, None).with_view(&view).check(TOLD);
    assert!(checked.text.contains(RULE), "{}", checked.text);
}

#[test]
fn what_is_said_in_view_about_something_else_takes_nothing_back() {
    let mut messages = conversation();
    messages[2] = user("You may drop the old cookies now.");
    let found = checked(&messages, TOLD);
    assert!(found.text.contains(RULE), "{}", found.text);
}

#[test]
fn a_rule_that_was_taken_back_is_no_instruction_word_for_word() {
    let summary = format!("## State\n{TOLD}\n\n## Instructions of the user\n- {RULE}\n");
    // In view, and in the source itself.
    let messages = conversation();
    let entries: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let in_source = Verification::of(&entries, None).check(&summary);
    for found in [checked(&messages, &summary), in_source] {
        let alarms = found.report.alarms.iter();
        let untrue: Vec<_> = alarms.filter(|alarm| alarm.kind.is_untrue()).collect();
        assert_eq!(untrue.len(), 1, "{:?}", found.report.alarms);
        assert_eq!(untrue[0].kind, AlarmKind::PinContradicted);
        assert!(!found.text.contains(RULE), "{}", found.text);
    }
}

#[test]
fn a_list_that_tells_what_took_its_place_tells_no_lie() {
    let messages = conversation();
    let entries: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let summary =
        format!("## State\n{TOLD}\n\n## What the user said, in order\n- {RULE}\n- {REVOKED}\n");
    let checked = Verification::of(&entries, None).check(&summary);
    assert!(
        checked
            .report
            .alarms
            .iter()
            .all(|alarm| !alarm.kind.is_untrue()),
        "{:?}",
        checked.report.alarms
    );
}

#[test]
fn a_rule_that_was_said_again_is_in_force() {
    let mut messages = conversation();
    messages.push(user(RULE));
    let entries: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let summary = format!("## State\n{TOLD}\n\n## Instructions of the user\n- {RULE}\n");
    let checked = Verification::of(&entries, None).check(&summary);
    assert!(checked.text.contains(RULE), "{:?}", checked.report.alarms);
}

/// Long work, with the rule early in it, and a last word of the user.
fn long_work(last: &str) -> Vec<Message> {
    let mut messages = autonomous(60, 600);
    messages.insert(12, user(format!("Look after the service. {RULE}")));
    messages.push(user(last));
    messages
}

fn compacted(messages: &[Message]) -> Compaction {
    let log = log_of(messages);
    let target = log.total_tokens() / 4;
    let plan = Plan::make(&log, target, Reason::Manual).unwrap();
    assert!(plan.span.end < messages.len());
    Compaction::extract_verified(plan, &Basis::new(&log, messages, Meter::Estimate)).unwrap()
}

#[test]
fn a_summary_lists_no_rule_that_was_taken_back_in_view() {
    let in_force = |compaction: &Compaction| compaction.pins.iter().any(|pin| pin.text == RULE);
    let kept = compacted(&long_work("Go on, please."));
    assert!(in_force(&kept), "{}", kept.summary.text);

    let taken_back = compacted(&long_work(REVOKED));
    assert!(!in_force(&taken_back), "{}", taken_back.summary.text);
    let report = taken_back.report.as_ref().unwrap();
    let is_missing = |alarm: &epitome::verify::Alarm| alarm.text == RULE;
    assert!(!report.alarms.iter().any(is_missing), "{:?}", report.alarms);
}
