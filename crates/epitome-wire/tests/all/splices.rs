//! Identity of bytes: a splice means the same as the edit made on the parsed document, and nothing else
//! of the body changes.

use bytes::Bytes;
use epitome::{Block, Kept, Message, Shown, Trim, View, ViewItem, trimmed};
use epitome_testkit::Random;
use epitome_testkit::cases::property;
use epitome_wire::{Body, Edit, Item, Wire, decode, json};
use serde_json::{Deserializer, Value};

use crate::documents::{self, Container};

fn scan(bytes: &[u8], wire: Wire, container: Container) -> Body {
    let bytes = Bytes::copy_from_slice(bytes);
    match container {
        Container::Object => Body::scan(bytes, wire),
        Container::Array => Body::scan_array(bytes, wire),
        Container::Lines => Body::scan_lines(bytes, wire),
    }
    .unwrap()
}

/// The document as a list of messages and what stands around it.
fn parse(bytes: &[u8], wire: Wire, container: Container) -> (Value, Vec<Value>) {
    match container {
        Container::Object => {
            let mut document: Value = serde_json::from_slice(bytes).unwrap();
            let list = document[wire.list_name()].take();
            (document, list.as_array().unwrap().clone())
        }
        Container::Array => (Value::Null, serde_json::from_slice(bytes).unwrap()),
        Container::Lines => {
            let text = std::str::from_utf8(bytes).unwrap();
            let lines: Vec<Value> = text
                .lines()
                .filter(|line| !line.trim().is_empty())
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            let stream: Vec<Value> = Deserializer::from_slice(bytes)
                .into_iter()
                .map(Result::unwrap)
                .collect();
            assert_eq!(lines, stream, "one message per line");
            (Value::Null, lines)
        }
    }
}

/// A text of a tool result: where it stands in the bytes and in the document.
struct Place {
    message: usize,
    block: usize,
    part: usize,
}

/// The place's text in a parsed message.
fn text_at<'a>(message: &'a mut Value, wire: Wire, place: &Place) -> &'a mut Value {
    let content = match wire {
        Wire::OpenAiChat => &mut message["content"],
        Wire::OpenAiResponses => &mut message["output"],
        Wire::Anthropic => &mut message["content"][place.block]["content"],
    };
    if content.is_string() {
        content
    } else {
        &mut content[place.part]["text"]
    }
}

fn places(body: &Body, message: usize) -> Vec<Place> {
    let value = body.read(message).unwrap();
    let decoded = decode(body.wire(), &value).unwrap();
    decoded
        .result_texts
        .iter()
        .map(|(block, part, _)| Place {
            message,
            block: *block,
            part: *part,
        })
        .collect()
}

/// Cuts the middle out of a text of the body and of the document.
fn trim(random: &mut Random, body: &Body, place: &Place, message: &mut Value) -> Edit {
    let value = body.read(place.message).unwrap();
    let decoded = decode(body.wire(), &value).unwrap();
    let (_, _, text) = decoded
        .result_texts
        .iter()
        .find(|(block, part, _)| (*block, *part) == (place.block, place.part))
        .unwrap();
    let slot = text_at(message, body.wire(), place);
    let letters: Vec<char> = slot.as_str().unwrap().chars().collect();
    assert_eq!(text.decode(), slot.as_str().unwrap());
    let start = random.below(letters.len() + 1);
    let end = random.between(start, letters.len());
    let marker = *random.pick(&["", "…", "\n[\"cut\"\\]\u{1}"]);
    let mut with = Vec::new();
    json::escape(marker, &mut with);
    let head: String = letters[..start].iter().collect();
    let tail: String = letters[end..].iter().collect();
    *slot = Value::String(format!("{head}{marker}{tail}"));
    Edit {
        range: text.position_of_char(start)..text.position_of_char(end),
        with,
    }
}

/// A random way through the messages: kept, left out, edited, and new ones in between.
fn edits(
    random: &mut Random,
    body: &Body,
    container: Container,
    list: &[Value],
) -> (Vec<Item>, Vec<Value>) {
    let mut items = Vec::new();
    let mut expected = Vec::new();
    let removes_all = random.chance(5);
    for (index, message) in list.iter().enumerate() {
        while random.chance(15) {
            let inserted = documents::message(random, body.wire(), container);
            expected.push(serde_json::from_slice(&inserted).unwrap());
            items.push(Item::Inserted(inserted));
        }
        match random.below(10) {
            _ if removes_all => {}
            0..=2 => {}
            3..=6 => {
                expected.push(message.clone());
                match items.last_mut() {
                    Some(Item::Kept(range)) if range.end == index && random.chance(50) => {
                        range.end += 1;
                    }
                    _ => items.push(Item::Kept(index..index + 1)),
                }
            }
            _ => {
                let mut message = message.clone();
                let mut edits: Vec<Edit> = places(body, index)
                    .iter()
                    .map(|place| trim(random, body, place, &mut message))
                    .collect();
                edits.sort_by_key(|edit| edit.range.start);
                expected.push(message);
                items.push(Item::Edited(index, edits));
            }
        }
    }
    if random.chance(20) {
        let inserted = documents::message(random, body.wire(), container);
        expected.push(serde_json::from_slice(&inserted).unwrap());
        items.push(Item::Inserted(inserted));
    }
    (items, expected)
}

fn assert_kept_in_order(body: &Body, items: &[Item], out: &[u8]) {
    let mut from = 0;
    for item in items {
        let Item::Kept(range) = item else { continue };
        for index in range.clone() {
            let message = body.message(index);
            let found = out[from..]
                .windows(message.len())
                .position(|window| window == message);
            from += found.expect("a kept message stands in the result") + message.len();
        }
    }
}

#[test]
fn a_splice_means_what_the_edit_means() {
    property(1, 8, |random, size| {
        let wire = *random.pick(Wire::ALL);
        let container = *random.pick(&Container::ALL);
        let count = random.below(size + 1);
        let original = documents::body(random, wire, container, count);
        let body = scan(&original, wire, container);
        let (around, list) = parse(&original, wire, container);
        assert_eq!(body.len(), list.len());
        let (items, expected) = edits(random, &body, container, &list);
        let splice = body.splice(&items);
        let length = splice.len();
        let out = splice.into_bytes();
        assert_eq!(out.len(), length);
        let shown = || format!("{}\n{items:?}", String::from_utf8_lossy(&original));
        assert_eq!(
            parse(&out, wire, container),
            (around, expected),
            "{}",
            shown()
        );
        assert_kept_in_order(&body, &items, &out);
        // The bytes outside the list stay where they were.
        if let (Some(first), Some(last)) = (body.messages().first(), body.messages().last()) {
            assert!(out.starts_with(&original[..first.start]), "{}", shown());
            assert!(out.ends_with(&original[last.end..]), "{}", shown());
        }
        // And what came out is a body again, with the messages that were asked for.
        assert_eq!(
            scan(&out, wire, container).len(),
            parse(&out, wire, container).1.len()
        );
    });
}

#[test]
fn no_edit_means_the_same_bytes() {
    property(1, 8, |random, size| {
        let wire = *random.pick(Wire::ALL);
        let container = *random.pick(&Container::ALL);
        let original = documents::body(random, wire, container, random.clone().below(size + 1));
        let body = scan(&original, wire, container);
        let single: Vec<Item> = (0..body.len()).map(|at| Item::Kept(at..at + 1)).collect();
        let untouched: Vec<Item> = (0..body.len()).map(|at| Item::Edited(at, vec![])).collect();
        let view = View {
            items: vec![ViewItem::Entries(0..body.len())],
        };
        for splice in [
            body.unchanged(),
            body.splice(&[Item::Kept(0..body.len())]),
            body.splice(&single),
            body.splice(&untouched),
            body.render(&view, "unused").unwrap(),
        ] {
            assert!(
                splice.is_unchanged(),
                "{}",
                String::from_utf8_lossy(&original)
            );
            assert!(splice.into_bytes() == original);
        }
    });
}

#[test]
fn everything_can_be_removed_and_something_else_put_in() {
    for (container, text) in [
        (
            Container::Object,
            r#"{"a":1, "messages" : [ {"role":"user"} , {} ] ,"b":1E3}"#,
        ),
        (Container::Object, r#"{"messages":[ ]}"#),
        (Container::Array, "[\n]"),
        (Container::Array, r#" [{"role":"user"}] "#),
        (Container::Lines, ""),
        (Container::Lines, "\n"),
        (Container::Lines, "{\"role\":\"user\"}\n\n"),
    ] {
        let body = scan(text.as_bytes(), Wire::OpenAiChat, container);
        let (around, _) = parse(text.as_bytes(), Wire::OpenAiChat, container);
        let none = body.splice(&[]).into_bytes();
        assert_eq!(
            parse(&none, Wire::OpenAiChat, container),
            (around.clone(), vec![]),
            "{text}"
        );
        let one = body.splice(&[Item::Inserted(b"{\"x\":1}".to_vec())]);
        let expected = (around, vec![serde_json::json!({"x": 1})]);
        assert_eq!(
            parse(&one.into_bytes(), Wire::OpenAiChat, container),
            expected,
            "{text}"
        );
    }
}

/// Stretches that stay of a text, and what is then seen of it.
fn kept(random: &mut Random, letters: &[char]) -> (Kept, String) {
    let mut borders: Vec<usize> = (0..2 * random.between(1, 4))
        .map(|_| random.below(letters.len() + 1))
        .collect();
    borders.sort_unstable();
    let mut seen = String::new();
    let mut from = 0;
    for gap in borders.chunks(2) {
        seen.extend(&letters[from..gap[0]]);
        if gap[0] < gap[1] {
            // Gaps that touch are one.
            let length = match seen.strip_suffix(" characters left out …]\n") {
                Some(rest) if from == gap[0] && from > 0 => {
                    let at = rest.rfind("\n[… ").unwrap();
                    let length: usize = rest[at + "\n[… ".len()..].parse().unwrap();
                    seen.truncate(at);
                    length
                }
                _ => 0,
            };
            seen += &Trim::marker(length + gap[1] - gap[0]);
        }
        from = gap[1];
    }
    seen.extend(&letters[from..]);
    let inner = &borders[1..borders.len() - 1];
    let kept = Kept {
        head_chars: borders[0],
        between: inner.chunks(2).map(|range| range[0]..range[1]).collect(),
        tail_chars: letters.len() - borders[borders.len() - 1],
    };
    (kept, seen)
}

/// The trims of the core, rendered, mean the same in the document.
#[test]
fn a_rendered_trim_means_what_it_says() {
    property(1, 4, |random, size| {
        let wire = *random.pick(Wire::ALL);
        let original = documents::body(random, wire, Container::Object, size + 1);
        let body = scan(&original, wire, Container::Object);
        let (around, mut expected) = parse(&original, wire, Container::Object);
        let index = random.below(body.len());
        let mut trims = Vec::new();
        for place in places(&body, index) {
            let slot = text_at(&mut expected[index], wire, &place);
            let letters: Vec<char> = slot.as_str().unwrap().chars().collect();
            let (shown, seen) = if random.chance(20) {
                let line = "[Left out: \"a\\b\"\n\u{1}😀]".to_owned();
                (Shown::Placeholder(line.clone()), line)
            } else {
                let (kept, seen) = kept(random, &letters);
                assert_eq!(kept.of(slot.as_str().unwrap()), seen, "{kept:?}");
                (Shown::Kept(kept), seen)
            };
            *slot = Value::String(seen);
            trims.push(Trim {
                block: place.block,
                part: place.part,
                shown,
            });
        }
        for (block, part) in pictures(&body, index) {
            let slot = part_at(&mut expected[index], wire, block, part);
            let mark = slot.get("cache_control").cloned();
            let kind = match wire {
                Wire::OpenAiResponses => "input_text",
                Wire::OpenAiChat | Wire::Anthropic => "text",
            };
            *slot = serde_json::json!({ "type": kind, "text": "a \"picture\"" });
            if let Some(mark) = mark {
                slot["cache_control"] = mark;
            }
            let shown = Shown::Placeholder("a \"picture\"".to_owned());
            trims.push(Trim { block, part, shown });
        }
        let view = View {
            items: vec![
                ViewItem::Entries(0..index),
                ViewItem::Trimmed(index, trims),
                ViewItem::Entries(index + 1..body.len()),
            ],
        };
        let out = body.render(&view, "").unwrap().into_bytes();
        assert_eq!(parse(&out, wire, Container::Object), (around, expected));
    });
}

/// Words and arguments that are shortened read, once rendered, as the core shows them, and nothing else changes.
#[test]
fn shortened_words_and_arguments_read_as_the_core_shows_them() {
    property(1, 4, |random, size| {
        let wire = *random.pick(Wire::ALL);
        let original = documents::body(random, wire, Container::Object, size + 1);
        let body = scan(&original, wire, Container::Object);
        let read = |body: &Body, at: usize| {
            let value = body.read(at).unwrap();
            decode(wire, &value).unwrap().message
        };
        let index = random.below(body.len());
        let before = read(&body, index);
        let mut trims = Vec::new();
        for (block, content) in before.blocks.iter().enumerate() {
            let shown = match content {
                Block::Text(text) => {
                    let letters: Vec<char> = text.chars().collect();
                    Shown::Kept(kept(random, &letters).0)
                }
                Block::Call(_) => Shown::Placeholder(r#"{"a":"\n\"…😀"}"#.to_owned()),
                _ => continue,
            };
            let part = 0;
            trims.push(Trim { block, part, shown });
        }
        let expected = trimmed(&before, &trims);
        let view = View {
            items: vec![
                ViewItem::Entries(0..index),
                ViewItem::Trimmed(index, trims),
                ViewItem::Entries(index + 1..body.len()),
            ],
        };
        let out = body.render(&view, "").unwrap().into_bytes();
        let after = scan(&out, wire, Container::Object);
        let shown = |message: &Message| -> Vec<String> {
            let blocks = message.blocks.iter().map(|block| match block {
                // A placeholder may make the client's own words out of the user's and the other way round.
                Block::Text(text) | Block::Injected(text) => text.clone(),
                block => format!("{block:?}"),
            });
            blocks.collect()
        };
        assert_eq!(shown(&read(&after, index)), shown(&expected));
        for at in (0..body.len()).filter(|at| *at != index) {
            assert_eq!(after.message(at), body.message(at));
        }
    });
}

/// Pictures among the results of a message: block and part.
fn pictures(body: &Body, message: usize) -> Vec<(usize, usize)> {
    let value = body.read(message).unwrap();
    let decoded = decode(body.wire(), &value).unwrap();
    let media = decoded.result_media.iter();
    media.map(|(block, part, _)| (*block, *part)).collect()
}

fn part_at(message: &mut Value, wire: Wire, block: usize, part: usize) -> &mut Value {
    match wire {
        Wire::OpenAiChat => &mut message["content"][part],
        Wire::Anthropic => &mut message["content"][block]["content"][part],
        Wire::OpenAiResponses => &mut message["output"][part],
    }
}

/// Escapes, pairs and lone surrogates are passed over whole, and what stays is spelled as it was.
#[test]
fn a_gap_never_splits_an_escape() {
    let units = [
        "a",
        "\\n",
        "\\ud83d\\ude00",
        "\\ud800",
        "é",
        "\\udc00",
        "😀",
        "\\/",
        "\\u0041",
        "\\\\",
        "\\\"",
    ];
    let spelled = units.concat().repeat(3);
    let content = format!(r#"{{"role":"tool","tool_call_id":"c","content":"{spelled}"}}"#);
    let text = format!(r#"{{"messages":[{content}]}}"#);
    let body = scan(text.as_bytes(), Wire::OpenAiChat, Container::Object);
    let value = body.read(0).unwrap();
    let count = value.string("content").unwrap().chars().count();
    assert_eq!(count, units.len() * 3);
    for start in 0..count {
        for end in start + 1..=count {
            let trim = Trim {
                block: 0,
                part: 0,
                shown: Shown::Kept(Kept {
                    head_chars: start,
                    between: Vec::new(),
                    tail_chars: count - end,
                }),
            };
            let view = View {
                items: vec![ViewItem::Trimmed(0, vec![trim])],
            };
            let out = body.render(&view, "").unwrap().into_bytes();
            let at = |index: usize| {
                units
                    .iter()
                    .cycle()
                    .take(index)
                    .map(|u| u.len())
                    .sum::<usize>()
            };
            let marker = Trim::marker(end - start).replace('\n', "\\n");
            let expected = format!("{}{marker}{}", &spelled[..at(start)], &spelled[at(end)..]);
            let expected = text.replace(&spelled, &expected);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }
}
