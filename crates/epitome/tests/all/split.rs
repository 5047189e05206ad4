use std::ops::Range;

use epitome::{Block, Message, Role, Split};
use proptest::collection::vec;

use crate::support::{assistant, autonomous, calls, log_of, property, result, system, user};

fn split(messages: &[Message], from: usize, keep: u64) -> Option<Split> {
    let log = log_of(messages);
    let found = Split::keeping(&log, from, keep)?;
    assert_eq!(found.history.start, from);
    assert_eq!(found.history.end, found.turn_prefix.start);
    assert_eq!(found.turn_prefix.end, found.kept.start);
    assert_eq!(found.kept.end, messages.len());
    assert!(log.is_cut(found.kept.start), "cuts win");
    assert!(
        !found.is_split_turn()
            || log.is_cut(found.turn_prefix.start)
            || found.turn_prefix.start == from
    );
    Some(found)
}

fn ranges(split: &Split) -> (Range<usize>, Range<usize>, Range<usize>) {
    (
        split.history.clone(),
        split.turn_prefix.clone(),
        split.kept.clone(),
    )
}

/// Three turns of a question, one step and an answer, about 1,000 tokens each.
fn three_turns() -> Vec<Message> {
    let mut messages = vec![system("Be brief.")];
    for turn in 0..3 {
        let id = format!("c{turn}");
        messages.push(user(format!("Question {turn}?")));
        messages.push(calls(&[&id]));
        messages.push(result(&id, "word ".repeat(400)));
        messages.push(assistant("word ".repeat(400)));
    }
    messages
}

#[test]
fn a_cut_at_a_question_splits_no_turn() {
    let messages = three_turns();
    let log = log_of(&messages);
    let found = split(&messages, 1, log.tokens(9..13)).unwrap();
    assert_eq!(ranges(&found), (1..9, 9..9, 9..13));
    assert!(!found.is_split_turn());
}

#[test]
fn a_cut_inside_a_turn_gives_its_beginning_apart() {
    let messages = three_turns();
    let log = log_of(&messages);
    // The size falls on the result: forward to the answer, never between call and result.
    let found = split(&messages, 1, log.tokens(11..13)).unwrap();
    assert_eq!(ranges(&found), (1..9, 9..12, 12..13));
    // It falls on the call: the step stays whole.
    let found = split(&messages, 1, log.tokens(10..13)).unwrap();
    assert_eq!(ranges(&found), (1..9, 9..10, 10..13));
    assert!(found.is_split_turn());
}

#[test]
fn an_autonomous_run_is_one_split_turn() {
    let messages = autonomous(300, 2_000);
    let found = split(&messages, 1, 20_000).unwrap();
    assert!(found.is_split_turn());
    assert_eq!(found.history, 1..1, "there is no turn before it");
    assert_eq!(found.turn_prefix.start, 1, "the request begins it");
    let kept = log_of(&messages).tokens(found.kept.clone());
    assert!((19_000..=20_000).contains(&kept), "{kept}");
    assert_eq!(messages[found.kept.start].role, Role::Assistant);
}

#[test]
fn a_second_round_without_a_request_has_no_turn_to_tell_apart() {
    let messages = autonomous(300, 2_000);
    let found = split(&messages, 302, 20_000).unwrap();
    assert!(!found.is_split_turn());
    assert_eq!(
        found.history.start, 302,
        "what the first round kept is neither lost nor repeated"
    );
}

#[test]
fn a_step_in_flight_stays() {
    let mut messages = autonomous(20, 2_000);
    messages.push(calls(&["open_a", "open_b"]));
    messages.push(result("open_a", "word ".repeat(50_000)));
    let found = split(&messages, 1, 1_000).unwrap();
    assert_eq!(found.kept, messages.len() - 2..messages.len());
}

#[test]
fn nothing_goes_when_all_of_it_is_recent() {
    let messages = three_turns();
    assert_eq!(split(&messages, 1, u64::MAX), None);
    assert_eq!(split(&messages, 1, log_of(&messages).tokens(1..13)), None);
    assert_eq!(split(&messages, 13, 1), None);
    assert_eq!(split(&messages, 99, 1), None);
    assert_eq!(split(&[], 0, 0), None);
    let one_step = [calls(&["a"]), result("a", "word ".repeat(900))];
    assert_eq!(split(&one_step, 0, 10), None);
}

#[test]
fn the_clients_notes_stay_with_what_follows_them() {
    let messages = [
        user("One?"),
        assistant("word ".repeat(400)),
        system("A note."),
        user("Two?"),
        assistant("word ".repeat(400)),
    ];
    let log = log_of(&messages);
    let found = split(&messages, 0, log.tokens(3..5)).unwrap();
    assert_eq!(ranges(&found), (0..2, 2..2, 2..5));
}

#[test]
fn words_typed_with_results_begin_a_turn_at_their_step() {
    let mut mixed = result("a", "word ".repeat(100));
    mixed.role = Role::User;
    mixed
        .blocks
        .push(Block::Text("Also look at main.rs.".to_owned()));
    let messages = [
        user("One?"),
        assistant("word ".repeat(100)),
        calls(&["a"]),
        mixed,
        assistant("word ".repeat(100)),
        assistant("word ".repeat(100)),
    ];
    let log = log_of(&messages);
    let found = split(&messages, 0, log.tokens(5..6)).unwrap();
    assert_eq!(ranges(&found), (0..2, 2..5, 5..6));
}

#[test]
fn every_history_splits_at_cuts() {
    let kinds = vec(0_u8..5, 0..40);
    property(
        4,
        &(kinds, 0_usize..10, 0_u64..3_000),
        |(kinds, from, keep)| {
            let mut messages = Vec::new();
            for (at, kind) in kinds.into_iter().enumerate() {
                let id = format!("c{at}");
                match kind {
                    0 => messages.push(user("word ".repeat(at * 3))),
                    1 => messages.push(assistant("word ".repeat(50))),
                    2 => messages.push(system("note")),
                    3 => messages.push(calls(&[&id])),
                    _ => messages.extend([
                        calls(&[&id, "z"]),
                        result(&id, "word ".repeat(60)),
                        result("z", ""),
                    ]),
                }
            }
            let log = log_of(&messages);
            let end = log.len();
            let wanted = (from..end).rev().find(|&at| log.tokens(at..end) >= keep);
            let expect = wanted.and_then(|wanted| {
                let cuts: Vec<usize> = log.cuts().iter().map(|&cut| cut as usize).collect();
                let at_or_after = cuts.iter().copied().find(|&cut| cut >= wanted);
                let mut cut = at_or_after.or_else(|| cuts.last().copied())?;
                while cut > 0 && messages[cut - 1].role == Role::System && log.is_cut(cut - 1) {
                    cut -= 1;
                }
                (cut > from).then_some(cut)
            });
            let found = split(&messages, from, keep);
            assert_eq!(found.map(|found| found.kept.start), expect);
        },
    );
}
