//! The reader against serde_json, and the scan against the reader.

use bytes::Bytes;
use epitome_testkit::Random;
use epitome_testkit::cases::property;
use epitome_wire::json::{self, Kind};
use epitome_wire::{Body, BodyError, Wire};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::documents::{self, Container, Writer};

/// Whether serde_json takes the text as JSON. Ignored values are checked for form only, which is what
/// RFC 8259 asks: a lone surrogate and a number beyond the range of a machine number are well-formed.
fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// What we read, as serde_json holds it; `None` where it cannot (numbers out of range).
fn converted(value: &json::Value<'_>) -> Option<Value> {
    Some(match &value.kind {
        Kind::Null => Value::Null,
        Kind::Bool(flag) => Value::Bool(*flag),
        Kind::Number(number) => serde_json::from_str(number).ok()?,
        Kind::Text(text) => Value::String(text.decode().into_owned()),
        Kind::Array(items) => Value::Array(items.iter().map(converted).collect::<Option<_>>()?),
        Kind::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, value)| Some((name.decode().into_owned(), converted(value)?)))
                .collect::<Option<_>>()?,
        ),
    })
}

fn assert_same(bytes: &[u8]) -> bool {
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    let ours = json::read(bytes);
    assert_eq!(ours.is_ok(), is_json(bytes), "{} {ours:?}", shown());
    assert_eq!(
        json::read_outline(bytes),
        ours.clone().map(outline),
        "{}",
        shown()
    );
    let Ok(ours) = ours else { return false };
    // serde_json refuses some well-formed texts as values: lone surrogates, 1e999.
    if let Ok(theirs) = serde_json::from_slice::<Value>(bytes) {
        assert_eq!(converted(&ours), Some(theirs), "{}", shown());
    }
    assert_ranges(&ours, bytes);
    true
}

/// A value with its own members or items, and nothing inside these.
fn outline(value: json::Value<'_>) -> json::Value<'_> {
    let range = value.range;
    let kind = match value.kind {
        Kind::Array(items) => Kind::Array(items.into_iter().map(emptied).collect()),
        Kind::Object(members) => {
            let members = members.into_iter();
            Kind::Object(
                members
                    .map(|(name, value)| (name, emptied(value)))
                    .collect(),
            )
        }
        other => other,
    };
    json::Value { range, kind }
}

fn emptied(value: json::Value<'_>) -> json::Value<'_> {
    let range = value.range;
    let kind = match value.kind {
        Kind::Array(_) => Kind::Array(Vec::new()),
        Kind::Object(_) => Kind::Object(Vec::new()),
        other => other,
    };
    json::Value { range, kind }
}

/// Every value stands where it says.
fn assert_ranges(value: &json::Value<'_>, bytes: &[u8]) {
    let again = json::read(&bytes[value.range.clone()]).unwrap();
    assert_eq!(converted(&again), converted(value));
    assert_eq!(again.range, 0..value.range.len(), "no space around a value");
    for item in value.items() {
        assert_ranges(item, bytes);
    }
    for (_, member) in value.members() {
        assert_ranges(member, bytes);
    }
}

fn document(random: &mut Random, depth: usize) -> Vec<u8> {
    let mut writer = Writer::new(random, Container::Object);
    writer.space();
    writer.value(depth);
    writer.space();
    writer.text.into_bytes()
}

const BYTES: &[u8] = b"{}[],:\"\\u0019aeE+-.tfn \n\r\t/\x00\x0b\x1f\x7f\xc3\xed\xff";

/// Changes a few bytes: one replaced, put in, taken out or doubled.
fn mutated(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..random.between(1, 3) {
        let at = random.below(out.len() + 1);
        let byte = *random.pick(BYTES);
        match random.below(4) {
            0 => out.insert(at, byte),
            _ if at == out.len() => {}
            1 => out[at] = byte,
            2 => drop(out.remove(at)),
            _ => out.truncate(at),
        }
    }
    out
}

#[test]
fn the_reader_agrees_with_serde_json() {
    property(1, 4, |random, size| {
        let document = document(random, size);
        assert!(assert_same(&document));
        for _ in 0..10 {
            assert_same(&mutated(random, &document));
        }
    });
}

#[test]
fn known_texts_are_judged_right() {
    let good = [
        "0",
        "-0",
        "1E3",
        "1e+30",
        "1e999",
        "\"\"",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\\ud83d\\ude00\"",
        " [ ] ",
        "{\"a\":1,\"a\":2}",
        "\"\u{7f}\"",
    ];
    for text in good {
        assert!(assert_same(text.as_bytes()), "{text}");
    }
    let bad = [
        "",
        " ",
        "01",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "-",
        "--1",
        "nul",
        "True",
        "[1,]",
        "[,1]",
        "{,}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\" 1}",
        "'a'",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u123\"",
        "1 2",
        "[1 2]",
        "\u{feff}1",
        "\"a",
        "{\"a\":}",
        "[1]]",
        "NaN",
        "Infinity",
        "\u{a0}1",
        "\"\u{0}\"",
    ];
    for text in bad {
        assert!(!assert_same(text.as_bytes()), "{text}");
    }
    for bytes in [
        &b"\"\xff\""[..],
        b"\"\xed\xa0\x80\"",
        b"\"\xc3\"",
        b"\xef\xbb\xbf1",
    ] {
        assert!(!assert_same(bytes), "{bytes:?}");
    }
}

#[test]
fn depth_is_limited() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert!(json::read(nested(128).as_bytes()).is_ok());
    assert!(json::read(nested(129).as_bytes()).is_err());
    assert!(json::read(nested(100_000).as_bytes()).is_err());
}

#[test]
fn lone_surrogates_are_different_texts() {
    let read = |text: &str| -> Vec<u8> {
        let quoted = format!("\"{text}\"");
        let value = json::read(quoted.as_bytes()).unwrap();
        value.as_text().unwrap().decode_exact().into_owned()
    };
    let texts = [
        "\\ud800",
        "\\ud801",
        "\\udc00",
        "\\ud800\\ud800",
        "\u{fffd}",
        "\\ud83d\\ude00",
    ];
    for (at, one) in texts.iter().enumerate() {
        for (other_at, other) in texts.iter().enumerate() {
            assert_eq!(read(one) == read(other), at == other_at, "{one} {other}");
        }
    }
    assert_eq!(read("\\ud83d\\ude00"), "😀".as_bytes());
    assert_eq!(read("\\u0041\\/"), b"A/");
    let quoted = "\"a\\ud800b\"";
    let value = json::read(quoted.as_bytes()).unwrap();
    let text = value.as_text().unwrap();
    assert_eq!(text.decode(), "a\u{fffd}b");
    assert_eq!(
        [0, 1, 2, 3, 9].map(|at| text.position_of_char(at)),
        [1, 2, 8, 9, 9]
    );
}

#[test]
fn a_character_position_never_lies_inside_an_escape() {
    property(1, 40, |random, size| {
        let mut writer = Writer::new(random, Container::Object);
        let words = writer.words(size);
        writer.string(&words);
        let spelled = writer.text;
        let value = json::read(spelled.as_bytes()).unwrap();
        let text = value.as_text().unwrap();
        assert_eq!(text.decode(), words);
        assert!(text.is(&words) && !text.is(&format!("{words}x")));
        for (at, _) in words.chars().chain(['x']).enumerate() {
            let position = text.position_of_char(at);
            let head = format!("{}\"", &spelled[..position]);
            let tail = format!("\"{}", &spelled[position..]);
            let expected: String = words.chars().take(at).collect();
            assert_eq!(serde_json::from_str::<String>(&head).unwrap(), expected);
            let rest: String = words.chars().skip(at).collect();
            assert_eq!(serde_json::from_str::<String>(&tail).unwrap(), rest);
        }
    });
}

#[test]
fn what_is_escaped_is_read_back() {
    property(1, 60, |random, size| {
        let words = Writer::new(random, Container::Object).words(size);
        let mut out = b"\"".to_vec();
        json::escape(&words, &mut out);
        out.push(b'"');
        assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), words);
        assert_eq!(json::read(&out).unwrap().as_text().unwrap().decode(), words);
    });
}

/// Where a strict reader sees the messages of a request; `None` when it is not one.
fn borders(bytes: &[u8]) -> Option<Vec<std::ops::Range<usize>>> {
    let value = json::read(bytes).ok()?;
    let lists = value
        .members()
        .iter()
        .filter(|(name, _)| name.is("messages"));
    match lists.map(|(_, list)| list).collect::<Vec<_>>()[..] {
        [list] if matches!(list.kind, Kind::Array(_)) => {
            Some(list.items().iter().map(|item| item.range.clone()).collect())
        }
        _ => None,
    }
}

#[test]
fn the_scan_sees_the_same_messages_as_the_reader() {
    property(1, 6, |random, size| {
        let original = documents::body(random, Wire::Anthropic, Container::Object, size);
        let check = |bytes: &[u8]| {
            let scanned = Body::scan(Bytes::copy_from_slice(bytes), Wire::Anthropic);
            if let Some(borders) = borders(bytes) {
                let shown = String::from_utf8_lossy(bytes);
                let body = scanned.unwrap_or_else(|error| panic!("{error}: {shown}"));
                assert_eq!(body.messages(), borders, "{shown}");
            }
        };
        assert!(borders(&original).is_some());
        check(&original);
        for _ in 0..10 {
            check(&mutated(random, &original));
        }
        let list = documents::body(random, Wire::Anthropic, Container::Array, size);
        let body = Body::scan_array(Bytes::from(list.clone()), Wire::Anthropic).unwrap();
        let read = json::read(&list).unwrap();
        let items: Vec<_> = read.items().iter().map(|item| item.range.clone()).collect();
        assert_eq!(body.messages(), items);
    });
}

#[test]
fn a_body_that_cannot_be_worked_on_is_named() {
    let scan = |text: &str| Body::scan(Bytes::copy_from_slice(text.as_bytes()), Wire::OpenAiChat);
    let reason = |text: &str| scan(text).unwrap_err().reason().as_str();
    for text in [
        "",
        "[]",
        "1",
        "{\"messages\":[]",
        "{\"messages\":[]}x",
        "{\"messages\":[}]}",
        "{messages:[]}",
    ] {
        assert_eq!(reason(text), "not_json", "{text}");
    }
    for text in [
        "{}",
        "{\"messages\":{}}",
        "{\"messages\":null}",
        "{\"input\":[]}",
        "{\"a\":{\"messages\":[]}}",
    ] {
        assert_eq!(reason(text), "no_messages", "{text}");
    }
    for text in [
        "{\"messages\":[],\"messages\":[]}",
        "{\"messages\":[],\"mess\\u0061ges\":1}",
    ] {
        assert_eq!(
            scan(text).unwrap_err(),
            BodyError::RepeatedMessages("messages"),
            "{text}"
        );
    }
    assert_eq!(scan("{\"mess\\u0061ges\":[{}]}").unwrap().len(), 1);
}

#[test]
fn the_members_of_a_request_are_found() {
    let text = r#"{"model":"a\/b","max_tokens":1,"stream":true,"messages":[],"max_completion_tokens":77,"model":"gpt\u002d5"}"#;
    let body = Body::scan(Bytes::from_static(text.as_bytes()), Wire::OpenAiChat).unwrap();
    assert_eq!(body.model().as_deref(), Some("gpt-5"));
    assert_eq!(body.output_tokens(), Some(77));
    assert!(body.is_streaming());
    let bare = Body::scan(Bytes::from_static(b"{\"messages\":[]}"), Wire::OpenAiChat).unwrap();
    assert_eq!((bare.model(), bare.output_tokens()), (None, None));
    assert!(!bare.is_streaming());
}
