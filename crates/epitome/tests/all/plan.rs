use epitome::{
    Basis, Compaction, Message, Meter, NoPlan, Plan, Reason, SUMMARY_FLOOR_TOKENS, TaskPlace,
    ViewItem, is_own_summary, leading_system, trimmed,
};
use proptest::collection::vec;
use proptest::prelude::Strategy;

use crate::support::{assistant, autonomous, calls, log_of, property, result, system, text, user};

fn make(messages: &[Message], target: u64) -> Result<Plan, NoPlan> {
    Plan::make(&log_of(messages), target, Reason::Manual)
}

fn extract(messages: &[Message], target: u64) -> Result<Compaction, NoPlan> {
    let log = log_of(messages);
    let plan = Plan::make(&log, target, Reason::Manual)?;
    Compaction::extract(plan, &Basis::new(&log, messages, Meter::Estimate))
}

/// What the view takes, counted message by message.
fn counted(messages: &[Message], compaction: &Compaction) -> u64 {
    let one = |message: &Message| Meter::Estimate.message(message);
    let front = leading_system(&log_of(messages));
    let items = compaction.view(messages.len()).items;
    items
        .iter()
        .map(|item| match item {
            ViewItem::Entries(range) => range
                .clone()
                .filter(|at| *at >= front)
                .map(|at| one(&messages[at]))
                .sum(),
            ViewItem::Trimmed(at, trims) => one(&trimmed(&messages[*at], trims)),
            ViewItem::Summary => one(&user(compaction.summary.text.clone())),
            other => panic!("not in the default layout: {other:?}"),
        })
        .sum()
}

#[test]
fn the_task_stays_and_the_newest_stays() {
    let messages = autonomous(60, 400);
    let total = log_of(&messages).total_tokens();
    let plan = make(&messages, total / 4).unwrap();
    assert_eq!((plan.head.clone(), plan.task), (0..2, TaskPlace::Head));
    assert_eq!(plan.span.start, 2);
    assert!(log_of(&messages).is_cut(plan.span.end));
    assert!(
        plan.span.end < messages.len(),
        "the newest step stays: {plan:?}"
    );
    // With more room more of the newest stays: the summary takes most of the first tokens and little of the rest.
    let long = autonomous(600, 400);
    let plan = make(&long, 60_000).unwrap();
    assert!(
        plan.span.end < long.len() - 100,
        "some of the newest stays: {plan:?}"
    );
    assert_eq!(plan.trim_tokens, 0);
}

#[test]
fn a_task_that_is_too_large_goes_into_the_summary() {
    let mut messages = autonomous(60, 400);
    messages[1] = user("Please look at all of this. ".repeat(400));
    let total = log_of(&messages).total_tokens();
    let plan = make(&messages, total / 4).unwrap();
    assert_eq!((plan.head.clone(), plan.task), (0..1, TaskPlace::Summary));
    let compaction = extract(&messages, total / 4).unwrap();
    assert!(
        compaction
            .summary
            .text
            .contains("## First request of the user")
    );
    assert!(
        compaction
            .summary
            .text
            .contains("Please look at all of this.")
    );
}

#[test]
fn there_must_be_something_to_remove() {
    let reason = |messages: &[Message]| make(messages, 10).unwrap_err().reason;
    assert_eq!(reason(&[]), Reason::NothingToRemove);
    assert_eq!(reason(&[system("a")]), Reason::NothingToRemove);
    assert_eq!(reason(&[user("a")]), Reason::NothingToRemove);
    let only_results = [result("x", "1"), result("y", "2")];
    assert_eq!(reason(&only_results), Reason::NothingToRemove);
}

#[test]
fn a_floor_above_the_target_is_named_and_can_be_reached() {
    let mut messages = autonomous(40, 400);
    messages.extend([assistant("Words ".repeat(600)), user("Go on. ".repeat(300))]);
    let no = make(&messages, 100).unwrap_err();
    assert_eq!(no.reason, Reason::FloorAboveBudget);
    let floor = no.floor_tokens;
    // Issue 15, any budget: words give way where nothing else helps.
    assert!(floor > 160 && floor < 400, "{floor}");
    assert_eq!(make(&messages, floor - 1).unwrap_err(), no);
    let compaction = extract(&messages, floor).unwrap();
    assert!(compaction.tokens_after <= floor);
    assert!(no.to_string().contains(&floor.to_string()), "{no}");
}

#[test]
fn a_last_step_that_is_too_large_is_trimmed() {
    let mut messages = autonomous(5, 100);
    messages.extend([calls(&["big"]), result("big", "word ".repeat(8_000))]);
    let compaction = extract(&messages, 2_000).unwrap();
    assert!(compaction.plan.trim_tokens > 0);
    assert_eq!(compaction.trims.len(), 1);
    assert_eq!(compaction.trims[0].0, messages.len() - 1);
    assert!(counted(&messages, &compaction) <= 2_000);
}

#[test]
fn notes_of_the_client_stay_while_they_are_small() {
    let mut messages = autonomous(60, 400);
    messages.insert(6, system("note one"));
    messages.insert(9, system("note two"));
    messages.insert(12, system("note that is far too long ".repeat(900)));
    let total = log_of(&messages).total_tokens();
    let plan = make(&messages, total / 3).unwrap();
    assert_eq!(
        plan.notes,
        Vec::<usize>::new(),
        "the newest note does not fit, so older ones would mislead"
    );
    messages.remove(12);
    let compaction = extract(&messages, total / 3).unwrap();
    assert_eq!(compaction.plan.notes, [6, 9]);
    assert_eq!(counted(&messages, &compaction), compaction.tokens_after);
}

#[test]
fn a_given_cut_must_be_legal() {
    let messages = autonomous(10, 40);
    let log = log_of(&messages);
    let at = |cut| Plan::at(&log, cut, 200, Reason::Overflow);
    for cut in [0, 1, 2, 3, 5, messages.len(), 999] {
        assert_eq!(
            at(cut).unwrap_err().reason,
            Reason::NothingToRemove,
            "{cut}"
        );
    }
    let plan = at(8).unwrap();
    assert_eq!(
        (plan.head, plan.span, plan.reason),
        (0..2, 2..8, Reason::Overflow)
    );
}

#[test]
fn less_than_a_tenth_is_not_worth_it() {
    let messages = autonomous(10, 400);
    let plan = make(&messages, 900).unwrap();
    assert!(plan.is_worthwhile(plan.target_tokens));
    assert!(!plan.is_worthwhile(plan.target_tokens + 1));
    let total = plan.tokens_before;
    let loose = Plan {
        target_tokens: u64::MAX,
        ..plan
    };
    assert!(loose.is_worthwhile(total * 9 / 10));
    assert!(!loose.is_worthwhile(total * 9 / 10 + 1));
}

fn conversations() -> impl Strategy<Value = Vec<Message>> {
    let piece = (0_u8..8, text(400), 1_usize..6);
    vec(piece, 0..40).prop_map(|pieces| {
        let mut messages = vec![system("Be careful."), user("Find the fault in src/a.rs.")];
        for (at, (kind, text, times)) in pieces.into_iter().enumerate() {
            let id = format!("c{at}");
            match kind {
                0 => {
                    messages.extend([assistant(text), user("And now src/b.rs, always with care.")]);
                }
                1 => messages.push(system(text)),
                2 => messages.push(user(text)),
                3 => messages.push(calls(&[&id])),
                _ => messages.extend([calls(&[&id]), result(&id, text.repeat(times))]),
            }
        }
        messages
    })
}

#[test]
fn every_plan_keeps_its_promises() {
    property(2, &(conversations(), 1_u64..120), |(messages, percent)| {
        let log = log_of(&messages);
        let total = log.tokens(leading_system(&log)..log.len());
        let target = total * percent / 100;
        let plan = match make(&messages, target) {
            Ok(plan) => plan,
            Err(no) => {
                let is_floor = no.reason == Reason::FloorAboveBudget && no.floor_tokens > target;
                assert!(
                    is_floor || no.reason == Reason::NothingToRemove,
                    "{no:?} {target}"
                );
                return;
            }
        };
        assert_eq!(plan.span.start, plan.head.end);
        assert!(
            !plan.span.is_empty() && log.is_cut(plan.span.end),
            "{plan:?}"
        );
        assert!(plan.notes.iter().all(|note| plan.span.contains(note)));
        assert!(plan.floor_tokens <= target && plan.summary_tokens >= SUMMARY_FLOOR_TOKENS);
        match extract(&messages, target) {
            Ok(compaction) => {
                assert_eq!(counted(&messages, &compaction), compaction.tokens_after);
                assert!(compaction.tokens_after <= target, "{compaction:?}");
                assert!(is_own_summary(&compaction.summary.text));
                let span = &compaction.plan.span;
                assert!(
                    compaction
                        .summary
                        .sources
                        .iter()
                        .all(|at| span.contains(at))
                );
                let report = compaction.verify(&messages).total();
                assert_eq!(report.anchors, report.retained + report.recoverable);
                assert_eq!(report.missing, 0);
            }
            // Only where the target itself is hardly smaller than what is there.
            Err(no) => {
                assert_eq!(no.reason, Reason::NotSmaller);
                assert!(target * 100 > total * 85, "{target} of {total}: {plan:?}");
            }
        }
    });
}

/// A fresh result that fills what room there is leaves the summary what it needs for the words that the user waits for an answer
/// to.
#[test]
fn what_the_user_asked_for_last_comes_before_a_large_result() {
    let request = "Work off order-1-3-8: read the next parts of the log, compare them with section 3, and say what changed.";
    let mut messages = autonomous(30, 400);
    for section in 1..3 {
        let found =
            "depot 74 had 2 parcels more than at the count before, and none was lost; ".repeat(4);
        messages.push(assistant(format!("Section {section} is done: {found}")));
        messages.push(user(request.replace('3', &section.to_string())));
    }
    messages.push(assistant("Section 2 is done."));
    messages.push(user(request));
    messages.push(calls(&["last"]));
    messages.push(result(
        "last",
        "depot 67 NOTE parcel 186941 at gate 36\n".repeat(400),
    ));
    let log = log_of(&messages);
    for (target, most) in [(400, 900), (400, 1_500), (700, 2_500), (1_000, 4_000)] {
        let plan = Plan::for_window(&log, target, most, Reason::HardLine).unwrap();
        assert!(
            plan.span.end > messages.len() - 3,
            "the request goes: {plan:?}"
        );
        let basis = Basis::new(&log, &messages, Meter::Estimate);
        let done = Compaction::extract(plan, &basis).unwrap();
        assert!(done.tokens_after <= most, "{most}: {}", done.tokens_after);
        let summary = &done.summary.text;
        assert!(summary.contains(request), "{target} {most}: {summary}");
    }
}
