use epitome::{Block, Facts, Log, Message, Meter, ResultPart, Role, ToolResult};
use proptest::collection::vec;

use crate::support::{assistant, autonomous, calls, log_of, property, result, system, user};

fn cuts(messages: &[Message]) -> Vec<u32> {
    log_of(messages).cuts().to_vec()
}

#[test]
fn a_step_is_never_cut() {
    let messages = [
        user("a"),
        calls(&["x"]),
        result("x", "1"),
        assistant("b"),
        user("c"),
    ];
    assert_eq!(cuts(&messages), [0, 1, 3, 4]);
}

#[test]
fn parallel_calls_are_one_step() {
    let messages = [
        user("a"),
        calls(&["x", "y", "z"]),
        result("y", "1"),
        result("x", "2"),
        result("z", "3"),
        calls(&["w"]),
    ];
    assert_eq!(cuts(&messages), [0, 1, 5]);
}

#[test]
fn an_abandoned_call_does_not_close_the_rest() {
    let messages = [
        user("a"),
        calls(&["x", "y"]),
        result("x", "1"),
        user("stop"),
        assistant("b"),
    ];
    assert_eq!(cuts(&messages), [0, 1, 3, 4]);
}

#[test]
fn an_orphan_is_no_cut_but_what_follows_is() {
    let messages = [
        user("a"),
        result("gone", "1"),
        assistant("b"),
        result("gone", "2"),
        user("c"),
    ];
    assert_eq!(cuts(&messages), [0, 2, 4]);
}

#[test]
fn a_note_of_the_client_inside_a_step_does_not_end_it() {
    let messages = [
        user("a"),
        calls(&["x", "y"]),
        system("note"),
        result("x", "1"),
        system("note"),
        result("y", "2"),
        system("note"),
        assistant("b"),
    ];
    assert_eq!(cuts(&messages), [0, 1, 6, 7]);
}

#[test]
fn an_answer_of_a_server_tool_closes_its_call_inside_one_message() {
    let mut message = calls(&["srv"]);
    message.blocks.push(Block::Result(ToolResult {
        call_id: "srv".into(),
        parts: vec![ResultPart::Text("found".to_owned())],
        is_error: false,
    }));
    assert_eq!(cuts(&[user("a"), message, user("b")]), [0, 1, 2]);
}

/// Thinking that is an entry of its own.
fn thinking() -> Message {
    Message {
        role: Role::Assistant,
        blocks: vec![Block::Thinking { chars: 90 }],
    }
}

#[test]
fn thinking_and_what_it_led_to_are_never_parted() {
    let messages = [
        user("a"),
        thinking(),
        assistant("b"),
        calls(&["x"]),
        calls(&["y"]),
        result("x", "1"),
        result("y", "2"),
        thinking(),
        assistant("c"),
        thinking(),
        system("note"),
        assistant("d"),
        user("e"),
    ];
    assert_eq!(cuts(&messages), [0, 1, 7, 9, 12]);
    let log = log_of(&messages[..8]);
    assert!(!log.is_cut(8), "what it led to is still to come");
}

#[test]
fn calls_of_one_breath_wait_together() {
    let messages = [
        user("a"),
        calls(&["x"]),
        assistant("meanwhile"),
        calls(&["y"]),
        result("y", "1"),
        result("x", "2"),
        assistant("b"),
    ];
    assert_eq!(cuts(&messages), [0, 1, 6]);
}

#[test]
fn a_late_answer_takes_back_the_cuts_behind_its_call() {
    let mut messages = vec![
        user("a"),
        calls(&["x", "y"]),
        user("b"),
        assistant("c"),
        user("d"),
    ];
    assert_eq!(cuts(&messages), [0, 1, 2, 3, 4]);
    messages.push(result("x", "1"));
    messages.push(user("e"));
    assert_eq!(cuts(&messages), [0, 1, 6]);
    // Only the first answer of a call is its answer.
    messages.push(result("x", "2"));
    assert_eq!(cuts(&messages), [0, 1, 6]);
}

#[test]
fn an_autonomous_run_offers_a_cut_at_every_step() {
    let messages = autonomous(300, 40);
    let expected: Vec<u32> = [0, 1]
        .into_iter()
        .chain((0..300).map(|step| 2 + 2 * step))
        .collect();
    assert_eq!(cuts(&messages), expected);
}

#[test]
fn sums_and_searches_agree_with_counting() {
    // Any mixture of messages, also broken ones.
    let kinds = vec((0_u8..6, 0_usize..60), 0..30);
    property(2, &kinds, |kinds| {
        let messages: Vec<Message> = kinds
            .iter()
            .map(|(kind, length)| {
                let text = "word ".repeat(*length);
                match kind {
                    0 => user(text),
                    1 => assistant(text),
                    2 => system(text),
                    3 => calls(&["x"]),
                    4 => calls(&["x", "y"]),
                    _ => result(if length % 2 == 0 { "x" } else { "y" }, text),
                }
            })
            .collect();
        let log = log_of(&messages);
        let sizes: Vec<u64> = messages
            .iter()
            .map(|m| Meter::Estimate.message(m))
            .collect();
        assert_eq!(log.len(), messages.len());
        assert_eq!(log.total_tokens(), sizes.iter().sum::<u64>());
        for start in 0..=messages.len() {
            for end in start..=messages.len() {
                assert_eq!(
                    log.tokens(start..end),
                    sizes[start..end].iter().sum::<u64>()
                );
            }
            let expected = log
                .cuts()
                .iter()
                .map(|&cut| cut as usize)
                .find(|&cut| cut >= start);
            assert_eq!(log.cut_at_or_after(start), expected);
            let is_listed = log.cuts().contains(&u32::try_from(start).unwrap());
            let at_end = start == messages.len();
            assert!(log.is_cut(start) == is_listed || at_end);
            let before = log.cuts().iter().rev().map(|&cut| cut as usize);
            let expected = before.into_iter().find(|&cut| cut <= start);
            assert_eq!(log.cut_at_or_before(start), expected);
        }
        for tokens in [0, 5, 17, 100, log.total_tokens(), u64::MAX] {
            let start = log.suffix_within(tokens);
            assert!(log.tokens(start..log.len()) <= tokens);
            assert!(start == 0 || log.tokens(start - 1..log.len()) > tokens);
        }
        // No cut lies before a result, and none between a call and its results.
        for &cut in log.cuts() {
            assert_eq!(messages[cut as usize].results().count(), 0);
        }
        let typed: Vec<usize> = (0..messages.len())
            .filter(|&at| messages[at].is_typed_by_user())
            .collect();
        assert_eq!(log.first_typed(), typed.first().copied());
        assert_eq!(log.newest_typed(), typed.last().copied());
    });
}

#[test]
fn an_empty_log_has_nothing_to_offer() {
    let log = Log::new();
    assert!(log.is_empty() && log.cuts().is_empty());
    assert_eq!(
        (log.last_cut(), log.cut_at_or_after(0), log.role(0)),
        (None, None, None)
    );
    assert_eq!(
        (log.total_tokens(), log.tokens(0..9), log.suffix_within(0)),
        (0, 0, 0)
    );
}

#[test]
fn facts_say_how_much_a_result_can_give() {
    let facts = Facts::of(&result("x", "word ".repeat(400)), Meter::Estimate);
    assert_eq!(
        (facts.role, facts.tokens, facts.trimmable_tokens),
        // Issue 15, any budget: 48 of it always stay.
        (Role::Tool, 406, 346)
    );
    assert_eq!((facts.calls.len(), facts.answers.len()), (0, 1));
    assert_eq!(
        Facts::of(&user("word ".repeat(400)), Meter::Estimate).trimmable_tokens,
        0
    );
}
