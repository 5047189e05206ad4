use epitome::{Message, Meter, Trim, trimmed, trims};
use proptest::collection::vec;

use crate::support::{assistant, property, result, text, user};

const METER: Meter = Meter::Estimate;

fn numbered(messages: &[Message]) -> Vec<(usize, &Message)> {
    messages
        .iter()
        .enumerate()
        .map(|(at, m)| (at + 10, m))
        .collect()
}

fn text_of(message: &Message) -> &str {
    message.results().next().unwrap().texts().next().unwrap()
}

#[test]
fn the_largest_results_come_down_to_one_level() {
    let messages = [
        result("a", "word ".repeat(2_000)),
        user("word ".repeat(2_000)),
        result("b", "word ".repeat(100)),
        result("c", "word ".repeat(3_000)),
    ];
    let found = trims(&numbered(&messages), 3_000, METER);
    let positions: Vec<usize> = found.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, [10, 13], "neither the user nor a small result");
    let size = |at: usize, trims| METER.text(text_of(&trimmed(&messages[at], trims)));
    let (one, other) = (size(0, &found[0].1), size(3, &found[1].1));
    // Both come down to the level at which 3,000 tokens are off.
    let before: u64 = [0, 3]
        .iter()
        .map(|&at| METER.text(text_of(&messages[at])))
        .sum();
    let level = (before - 3_000) / 2;
    assert!((level - 25..=level).contains(&one), "{one} at {level}");
    assert!((level - 25..=level).contains(&other), "{other} at {level}");
}

#[test]
fn nothing_goes_when_nothing_must() {
    let messages = [result("a", "word ".repeat(2_000)), assistant("done")];
    assert_eq!(trims(&numbered(&messages), 0, METER), []);
    assert_eq!(trims(&numbered(&[user("a")]), 50, METER), []);
    let short = [result("a", "word ".repeat(20))];
    assert_eq!(
        trims(&numbered(&short), 50, METER),
        [],
        "what is small stays"
    );
}

#[test]
fn both_ends_stay_and_the_marker_says_how_much_went() {
    let text: String = (0..4_000)
        .map(|at| char::from(b'a' + (at % 26) as u8))
        .collect::<String>()
        .as_bytes()
        .chunks(9)
        .map(|word| String::from_utf8(word.to_vec()).unwrap() + " ")
        .collect();
    let message = result("a", text.clone());
    let found = trims(&[(0, &message)], 500, METER);
    let Trim {
        block,
        part,
        head_chars,
        tail_chars,
    } = found[0].1[0];
    assert_eq!((block, part), (0, 0));
    assert!(
        head_chars * 3 > tail_chars && head_chars < tail_chars,
        "the end says more"
    );
    let short = trimmed(&message, &found[0].1);
    let omitted = text.len() - head_chars - tail_chars;
    let expected = format!(
        "{}\n[… {omitted} characters left out …]\n{}",
        &text[..head_chars],
        &text[text.len() - tail_chars..]
    );
    assert_eq!(text_of(&short), expected);
}

#[test]
fn characters_of_many_bytes_are_counted_as_characters() {
    let text = "漢é😀".repeat(500);
    let message = result("a", text.clone());
    let found = trims(&[(0, &message)], 700, METER);
    let trim = found[0].1[0];
    let short = trimmed(&message, &found[0].1);
    let head: String = text.chars().take(trim.head_chars).collect();
    let tail: String = text.chars().skip(1_500 - trim.tail_chars).collect();
    assert!(text_of(&short).starts_with(&head) && text_of(&short).ends_with(&tail));
    assert!(trim.head_chars > 10 && trim.tail_chars > 10);
}

/// Parted, an encoded run is cheaper than whole: both parts would fit, and nothing may stand twice.
#[test]
fn a_single_encoded_run_is_cut_too() {
    let text = "Zm9v".repeat(60);
    let message = result("a", text.clone());
    let found = trims(&[(0, &message)], 1, METER);
    let trim = found[0].1[0];
    assert!(trim.head_chars + trim.tail_chars < text.len(), "{trim:?}");
    let short = trimmed(&message, &found[0].1);
    assert!(METER.message(&short) < METER.message(&message));
}

#[test]
fn what_the_log_says_can_go_does_go() {
    let results = vec((text(2_000), 1_usize..4), 1..5);
    property(5, &(results, 0_u64..100), |(texts, percent)| {
        let messages: Vec<Message> = texts
            .iter()
            .map(|(text, times)| result("a", text.repeat(*times)))
            .collect();
        let log = crate::support::log_of(&messages);
        let can_go = log.trimmable_tokens(0..log.len());
        let excess = can_go * percent / 100;
        let found = trims(&numbered(&messages), excess, METER);
        let off: u64 = found
            .iter()
            .map(|(position, trims)| {
                let message = &messages[position - 10];
                let chars = text_of(message).chars().count();
                assert!(trims.iter().all(|t| t.head_chars + t.tail_chars < chars));
                METER.message(message) - METER.message(&trimmed(message, trims))
            })
            .sum();
        assert!(off >= excess, "{off} of {excess}, at most {can_go}");
        assert!(found.is_sorted_by_key(|(position, _)| *position));
    });
}
