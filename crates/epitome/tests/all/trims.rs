use epitome::{
    Block, Call, Facts, Kept, Log, Message, Meter, ResultPart, Role, Shown, ToolResult, Trim,
    trimmed, trims, trims_beyond,
};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::select;

use crate::support::{assistant, property, result, text, user};

const METER: Meter = Meter::Estimate;

#[cfg(feature = "exact-tokens")]
const METERS: [Meter; 4] = [Meter::Chars4, Meter::Estimate, Meter::O200k, Meter::Cl100k];
#[cfg(not(feature = "exact-tokens"))]
const METERS: [Meter; 2] = [Meter::Chars4, Meter::Estimate];

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

fn kept_of(trim: &Trim) -> &Kept {
    match &trim.shown {
        Shown::Kept(kept) => kept,
        Shown::Placeholder(line) => panic!("a trim never replaces a text whole: {line}"),
    }
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
    let trim = &found[0].1[0];
    assert_eq!((trim.block, trim.part), (0, 0));
    let Kept {
        head_chars,
        between,
        tail_chars,
    } = kept_of(trim).clone();
    assert!(between.is_empty(), "nothing in between is worth more");
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
    let kept = kept_of(&found[0].1[0]);
    let short = trimmed(&message, &found[0].1);
    let head: String = text.chars().take(kept.head_chars).collect();
    let tail: String = text.chars().skip(1_500 - kept.tail_chars).collect();
    assert!(text_of(&short).starts_with(&head) && text_of(&short).ends_with(&tail));
    assert!(kept.head_chars > 10 && kept.tail_chars > 10);
}

/// Parted, an encoded run is cheaper than whole: both parts would fit, and nothing may stand twice.
#[test]
fn a_single_encoded_run_is_cut_too() {
    let text = "Zm9v".repeat(60);
    let message = result("a", text.clone());
    let found = trims(&[(0, &message)], 1, METER);
    let kept = kept_of(&found[0].1[0]);
    assert!(kept.head_chars + kept.tail_chars < text.len(), "{kept:?}");
    let short = trimmed(&message, &found[0].1);
    assert!(METER.message(&short) < METER.message(&message));
}

/// Output as tools write it: text of any kind, reports, totals, JSON, encoded runs.
fn output() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => text(60),
        2 => select(vec![
            "error[E0308]: mismatched types\n  --> src/main.rs:3:5".to_owned(),
            "FAILED tests/test_a.py::test_b - ValueError: x".to_owned(),
            "Ошибка: файл не найден".to_owned(),
            "錯誤：找不到檔案".to_owned(),
            "3 failed, 12 passed in 0.12s".to_owned(),
            "Total: 1,234 rows".to_owned(),
            "exit code: 1".to_owned(),
            "👩\u{200d}👩\u{200d}👧 e\u{301}e\u{301}".to_owned(),
        ]),
        1 => text(30).prop_map(|name| serde_json::json!({ name: 1, "error": "gone" }).to_string()),
        1 => (100_usize..900).prop_map(|length| "Zm9v".repeat(length / 4)),
    ];
    let lines = vec(line, 0..60);
    prop_oneof![
        4 => lines.clone().prop_map(|lines| lines.join("\n")),
        1 => (lines, 0_usize..500).prop_map(|(lines, total)| {
            serde_json::json!({ "items": lines, "total": total, "next": null }).to_string()
        }),
        1 => Just(String::new()),
    ]
}

fn result_of(parts: &[String]) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: "a".into(),
            parts: parts.iter().cloned().map(ResultPart::Text).collect(),
            is_error: false,
        })],
    }
}

/// What is seen is made of the original, in order, with a marker for each gap.
fn assert_kept_in_order(original: &str, kept: &Kept) {
    let letters: Vec<char> = original.chars().collect();
    let gaps = kept.gaps(letters.len());
    assert!(!gaps.is_empty(), "something goes: {kept:?}");
    let mut expected = String::new();
    let mut from = 0;
    for gap in &gaps {
        assert!(from <= gap.start && gap.start < gap.end && gap.end <= letters.len());
        expected.extend(&letters[from..gap.start]);
        expected += &format!("\n[… {} characters left out …]\n", gap.len());
        from = gap.end;
    }
    expected.extend(&letters[from..]);
    assert_eq!(kept.of(original), expected);
    for range in &kept.between {
        let stretch: String = letters[range.clone()].iter().collect();
        assert!(expected.contains(&stretch));
    }
}

#[test]
fn what_the_log_says_can_go_does_go() {
    let messages = vec(vec(output(), 1..4), 1..5);
    property(10, &(messages, 0_u64..=100), |(texts, percent)| {
        let messages: Vec<Message> = texts.iter().map(|parts| result_of(parts)).collect();
        for meter in METERS {
            let mut log = Log::new();
            for message in &messages {
                log.push(&Facts::of(message, meter));
            }
            let can_go = log.trimmable_tokens(0..log.len());
            let excess = can_go * percent / 100;
            let found = trims(&numbered(&messages), excess, meter);
            assert_eq!(found, trims(&numbered(&messages), excess, meter));
            let mut off = 0;
            for (position, trims) in &found {
                let message = &messages[position - 10];
                for trim in trims {
                    let original = &texts[position - 10][trim.part];
                    assert_kept_in_order(original, kept_of(trim));
                }
                off += meter.message(message) - meter.message(&trimmed(message, trims));
            }
            assert!(
                off >= excess,
                "{meter:?}: {off} of {excess}, at most {can_go}"
            );
            assert!(found.is_sorted_by_key(|(position, _)| *position));
        }
    });
}

/// Steps with calls: arguments give way with the results, what is said only where that is not enough, and a call without
/// a result keeps what it asks for. What was JSON stays JSON.
#[test]
fn arguments_and_words_give_way_as_far_as_the_log_says() {
    let argument = vec(output(), 0..3).prop_map(|texts| {
        serde_json::json!({ "path": "a/b.rs", "texts": texts, "flag": true }).to_string()
    });
    let argument = prop_oneof![4 => argument, 1 => output()];
    let steps = vec((output(), argument, output(), 0_u8..4), 1..5);
    property(10, &(steps, 0_u64..=100), |(steps, percent)| {
        let mut messages = Vec::new();
        for (at, (said, arguments, printed, kind)) in steps.iter().enumerate() {
            let id = format!("c{at}");
            messages.push(Message {
                role: Role::Assistant,
                blocks: vec![
                    Block::Text(said.clone()),
                    Block::Call(Call::new(id.as_str(), "edit", arguments.as_str())),
                ],
            });
            if *kind > 0 {
                messages.push(result(&id, printed.as_str()));
            }
        }
        for meter in METERS {
            let mut log = Log::new();
            for message in &messages {
                log.push(&Facts::of(message, meter));
            }
            let all = 0..log.len();
            let trimmable = log.trimmable_tokens(all.clone());
            let excess = (trimmable + log.wordy_tokens(all)) * percent / 100;
            let found = trims(&numbered(&messages), excess, meter);
            let mut off = 0;
            let answered: Vec<_> = messages.iter().flat_map(Message::results).collect();
            for (position, trims) in &found {
                let message = &messages[position - 10];
                let after = trimmed(message, trims);
                off += meter.message(message) - meter.message(&after);
                for (before, after) in message.calls().zip(after.calls()) {
                    let is_answered = answered.iter().any(|one| one.call_id == before.id);
                    assert!(is_answered || before == after, "{after:?}");
                    let is_json = |call: &Call| {
                        serde_json::from_str::<serde_json::Value>(&call.arguments).is_ok()
                    };
                    assert!(is_json(after) || !is_json(before), "{after:?}");
                }
                if excess <= trimmable {
                    assert!(message.spoken().eq(after.spoken()), "words come last");
                }
            }
            assert!(off >= excess, "{meter:?}: {off} of {excess}");
        }
    });
}

/// A pair of escapes that is one character is never parted.
#[test]
fn arguments_are_not_cut_inside_an_escape() {
    let unit = r#"\ud83d\ude00\n\u00e9\"x\\"#;
    for padding in 0..12 {
        let text = format!("{}{}", "a".repeat(padding), unit.repeat(40));
        let arguments = format!(r#"{{"content":"{text}","more":["{text}"]}}"#);
        let before: serde_json::Value = serde_json::from_str(&arguments).unwrap();
        let call = Message {
            role: Role::Assistant,
            blocks: vec![Block::Call(Call::new("c", "write", arguments.as_str()))],
        };
        let messages = [call, result("c", "done")];
        for excess in (10..300).step_by(7) {
            let found = trims(&numbered(&messages), excess, METER);
            let after = trimmed(&messages[0], &found[0].1);
            let after = &after.calls().next().unwrap().arguments;
            let after: serde_json::Value = serde_json::from_str(after).unwrap();
            let shown = after["content"].as_str().unwrap();
            let (front, rest) = shown.split_once(" [… ").unwrap();
            let back = rest.split_once("left out …] ").unwrap().1;
            let whole = before["content"].as_str().unwrap();
            assert!(whole.starts_with(front) && whole.ends_with(back), "{shown}");
        }
    }
}

/// What is trimmed further is cut from the whole text, and comes off what was seen before.
#[test]
fn trimming_further_takes_off_what_it_promises() {
    let messages = vec(vec(output(), 1..3), 1..5);
    let shares = (0_u64..=100, 0_u64..=100);
    property(20, &(messages, shares), |(texts, (first, second))| {
        let messages: Vec<Message> = texts.iter().map(|parts| result_of(parts)).collect();
        for meter in METERS {
            let can_go = |messages: &[Message]| -> u64 {
                let facts = messages.iter().map(|message| Facts::of(message, meter));
                facts.map(|facts| u64::from(facts.trimmable_tokens)).sum()
            };
            let apply = |trims: &[(usize, Vec<Trim>)]| -> Vec<Message> {
                let mut out = messages.clone();
                for (position, trims) in trims {
                    out[position - 10] = trimmed(&messages[position - 10], trims);
                }
                out
            };
            let size = |messages: &[Message]| -> u64 {
                messages.iter().map(|message| meter.message(message)).sum()
            };
            let earlier = trims(&numbered(&messages), can_go(&messages) * first / 100, meter);
            let seen = apply(&earlier);
            let excess = can_go(&seen) * second / 100;
            let found = trims_beyond(&numbered(&messages), &earlier, excess, meter);
            let off = size(&seen) - size(&apply(&found));
            assert!(off >= excess, "{meter:?}: {off} of {excess}");
            if excess == 0 {
                assert_eq!(found, earlier, "what is decided stays");
            }
        }
    });
}

#[test]
fn a_text_comes_within_every_size_that_a_marker_has() {
    property(4, &(output(), 20_u64..400), |(text, tokens)| {
        for meter in METERS {
            let kept = Kept::within(&text, tokens, meter);
            if meter.text(&text) > tokens {
                assert_kept_in_order(&text, &kept);
                assert!(meter.text(&kept.of(&text)) <= tokens, "{meter:?} {kept:?}");
            }
        }
    });
}

/// Noise around one stretch that matters, cut to a tenth: is it still there?
fn survives(stretch: &str) -> bool {
    let noise = |from: usize| -> String {
        let lines = (from..from + 150).map(|at| format!("   Compiling part_{at} v0.{at}.0\n"));
        lines.collect()
    };
    let text = format!("{}{stretch}\n{}", noise(0), noise(500));
    let tokens = METER.text(&text) / 10;
    let shown = Kept::within(&text, tokens, METER).of(&text);
    assert!(METER.text(&shown) <= tokens);
    shown.contains(stretch)
}

#[test]
fn lines_that_report_something_are_kept() {
    for line in [
        "error: could not compile `epitome`",
        "error[E0308]: mismatched types\n  --> src/main.rs:3:5",
        "src/a.c:3:5: fatal error: missing.h: No such file",
        "FAILED tests/test_a.py::test_b",
        "test plan::tests::cut ... FAILED",
        "Traceback (most recent call last):",
        "ValueError: invalid literal for int()",
        "java.lang.NullPointerException: name",
        "thread 'main' panicked at src/main.rs:2:5:",
        "[ERROR] Failed to execute goal",
        "npm ERR! code ELIFECYCLE, failed",
        "  ✗ renders the list",
        "Fehler: Datei nicht gefunden",
        "Ошибка: файл не найден",
        "错误：找不到文件",
        "エラー: ファイルがありません",
        "12 passed, 3 failed, 1 skipped",
        "test result: FAILED. 12 passed; 3 failed; 0 ignored",
        "===== 12 bestanden, 3 fehlgeschlagen in 0.12s =====",
        " 3 files changed, 10 insertions(+), 2 deletions(-)",
        "Total: 1,234 rows",
        "Итого: 1234",
        "exit code: 101",
        "Process finished with exit status 2",
        "Ran 12 tests in 3.4s",
    ] {
        assert!(survives(line), "{line}");
    }
    for line in [
        "    let error = read(path).map_err(Error::from)?;",
        "the error handling of this module is careful",
        "   Finished without errors, as always",
        "   Compiling nothing in particular",
    ] {
        assert!(!survives(line), "{line}");
    }
}

#[test]
fn the_first_error_and_the_last_total_come_before_the_rest() {
    let mut text = "first line\n".to_owned();
    for at in 0..400 {
        text += &format!("error: number {at} of very many that look alike\nTotal: {at} so far\n");
    }
    text += &"nothing more to see here\n".repeat(40);
    let shown = Kept::within(&text, 200, METER).of(&text);
    assert!(shown.contains("error: number 0 of"), "{shown}");
    assert!(shown.contains("Total: 399 so far"), "{shown}");
}

/// A reader sees what an object is about: its outermost names, its totals, its error.
#[test]
fn the_outline_of_a_json_object_is_kept() {
    let rows: Vec<_> = (0..300)
        .map(|at| serde_json::json!({ "id": at, "name": format!("row {at}") }))
        .collect();
    let answer = serde_json::json!({
        "alpha": { "query": "x".repeat(600) },
        "error_message": "the index is stale",
        "rows": rows,
        "total_count": 300,
        "zeta": rows,
    });
    for text in [
        answer.to_string(),
        serde_json::to_string_pretty(&answer).unwrap(),
    ] {
        let tokens = METER.text(&text) / 40;
        let shown = Kept::within(&text, tokens, METER).of(&text);
        assert!(METER.text(&shown) <= tokens);
        assert!(shown.starts_with('{') && shown.ends_with('}'), "{shown}");
        for part in [
            "\"alpha\"",
            "the index is stale",
            "\"total_count\"",
            "300",
            "\"zeta\"",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}

#[test]
fn a_letter_keeps_its_marks() {
    let text = "e\u{301}👩\u{200d}👩\u{200d}👧👍🏽".repeat(200);
    for tokens in 30..90 {
        let kept = Kept::within(&text, tokens, METER);
        let letters: Vec<char> = text.chars().collect();
        for gap in kept.gaps(letters.len()) {
            for border in [gap.start, gap.end] {
                assert!(
                    matches!(letters[border], 'e' | '👩' | '👍')
                        && letters[border - 1] != '\u{200d}',
                    "{tokens}: cut before {:?}",
                    letters[border]
                );
            }
        }
    }
}

#[test]
fn gaps_are_what_is_not_kept_whatever_is_asked() {
    let kept = |head_chars, between: &[std::ops::Range<usize>], tail_chars| Kept {
        head_chars,
        between: between.to_vec(),
        tail_chars,
    };
    let whole = 0..5;
    assert_eq!(kept(0, &[], 0).gaps(5), std::slice::from_ref(&whole));
    assert!(kept(2, &[], 3).gaps(5).is_empty());
    assert!(kept(9, &[], 9).gaps(5).is_empty(), "no more than there is");
    assert_eq!(kept(1, &[0..2, 3..4], 0).gaps(5), [2..3, 4..5]);
    assert_eq!(
        kept(0, &[3..4, 1..2], 1).gaps(6),
        [0..3, 4..5],
        "out of order"
    );
    assert_eq!(
        kept(0, &[2..2, 7..9], 0).gaps(5),
        [whole],
        "nothing, and too far"
    );
    assert!(kept(0, &[], 0).gaps(0).is_empty());
}
