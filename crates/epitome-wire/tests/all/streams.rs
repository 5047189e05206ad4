//! Event streams in any pieces, and what providers count.

use epitome_testkit::Random;
use epitome_testkit::cases::property;
use epitome_wire::{StreamWatch, Wire, input_tokens, sse};

fn events(pieces: &[&[u8]]) -> Vec<String> {
    let mut decoder = sse::Decoder::new();
    let mut out = Vec::new();
    for piece in pieces {
        decoder.feed(piece, |event| {
            assert!(!event.is_cut);
            out.push(String::from_utf8(event.data.to_vec()).unwrap());
        });
    }
    out
}

/// A stream in some spelling, and the data of its complete events.
fn stream(random: &mut Random, count: usize) -> (Vec<u8>, Vec<String>) {
    let mut bytes = if random.chance(30) {
        "\u{feff}".to_owned()
    } else {
        String::new()
    };
    let mut expected = Vec::new();
    for number in 0..count {
        let ending = *random.pick(&["\n", "\r\n", "\r"]);
        if random.chance(30) {
            bytes.push_str(&format!(": a comment {number}{ending}"));
        }
        if random.chance(50) {
            bytes.push_str(&format!(
                "event: message_{number}{ending}id: {number}{ending}retry:5{ending}"
            ));
        }
        let mut data = Vec::new();
        for line in 0..random.below(4) {
            let text =
                *random.pick(&["", "{\"a\":1}", " leading", "é😀", "data: x", ":", "[DONE]"]);
            let space = if random.chance(60) || text.starts_with(' ') {
                " "
            } else {
                ""
            };
            bytes.push_str(&format!("data:{space}{text}{ending}"));
            data.push(text);
            if line == 1 && random.chance(20) {
                bytes.push_str(&format!("unknown: field{ending}"));
            }
        }
        bytes.push_str(ending);
        if !data.is_empty() {
            expected.push(data.join("\n"));
        }
        while random.chance(20) {
            bytes.push_str(ending);
        }
    }
    (bytes.into_bytes(), expected)
}

#[test]
fn any_pieces_give_the_same_events() {
    property(1, 12, |random, size| {
        let (bytes, expected) = stream(random, size);
        let shown = String::from_utf8_lossy(&bytes);
        assert_eq!(events(&[&bytes]), expected, "{shown:?}");
        let singles: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(events(&singles), expected, "{shown:?}");
        let mut pieces = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (piece, left) = rest.split_at(random.between(1, rest.len()));
            pieces.push(piece);
            rest = left;
        }
        assert_eq!(events(&pieces), expected, "{shown:?}");
    });
}

#[test]
fn known_streams_are_read_right() {
    for (text, expected) in [
        ("data: a\n\n", vec!["a"]),
        ("data:a\r\ndata:  b\r\n\r\n", vec!["a\n b"]),
        ("data\n\ndata: x\n\n", vec!["", "x"]),
        ("data: a", vec![]),
        ("data: a\n", vec![]),
        (": only a comment\n\n", vec![]),
        ("event: x\n\n", vec![]),
        ("data:\n\n", vec![""]),
        ("data: a\r\rdata: b\r\r", vec!["a", "b"]),
        ("\u{feff}data: a\n\n", vec!["a"]),
        ("datafoo: a\n\n", vec![]),
    ] {
        assert_eq!(events(&[text.as_bytes()]), expected, "{text:?}");
    }
}

#[test]
fn a_byte_order_mark_counts_only_at_the_beginning() {
    assert_eq!(
        events(&["data: a\n\n\u{feff}data: b\n\n".as_bytes()]),
        ["a"]
    );
}

#[test]
fn what_the_provider_counted_is_read() {
    let cases = [
        (
            Wire::OpenAiChat,
            r#"{"usage":{"prompt_tokens":120,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":100}}}"#,
            Some(120),
        ),
        (
            Wire::OpenAiResponses,
            r#"{"output":[],"usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":5},"output_tokens":1}}"#,
            Some(12),
        ),
        (
            Wire::OpenAiResponses,
            r#"{"type":"response.completed","response":{"usage":{"input_tokens":12}}}"#,
            Some(12),
        ),
        (
            Wire::OpenAiResponses,
            r#"{"type":"response.created","response":{"usage":null}}"#,
            None,
        ),
        (Wire::OpenAiChat, r#"{"usage":null}"#, None),
        (Wire::OpenAiChat, r#"{"choices":[]}"#, None),
        (
            Wire::OpenAiChat,
            r#"{"usage":{"prompt_tokens":1.2e2}}"#,
            Some(120),
        ),
        (
            Wire::Anthropic,
            r#"{"usage":{"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":30,"output_tokens":7}}"#,
            Some(240),
        ),
        (
            Wire::Anthropic,
            r#"{"usage":{"input_tokens":10,"cache_read_input_tokens":null}}"#,
            Some(10),
        ),
        (
            Wire::Anthropic,
            r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":4}}}"#,
            Some(7),
        ),
        (
            Wire::Anthropic,
            r#"{"type":"message_delta","usage":{"output_tokens":15}}"#,
            None,
        ),
        (Wire::Anthropic, "not json", None),
    ];
    for (wire, answer, expected) in cases {
        assert_eq!(input_tokens(wire, answer.as_bytes()), expected, "{answer}");
    }
}

#[test]
fn a_stream_is_watched_in_any_pieces() {
    let openai = "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\": 5\"}}]}\n\n\
        data: {\"choices\":[],\"usage\":null}\n\n\
        data: {\"choices\":[],\"usage\":{\"prompt_tokens\":77,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n";
    let anthropic = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":4,\"cache_creation_input_tokens\":6,\"cache_read_input_tokens\":90,\"output_tokens\":1}}}\r\n\r\n\
        event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"hi\"}}\r\n\r\n\
        event: message_delta\r\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":15}}\r\n\r\n";
    for (wire, text, expected) in [
        (Wire::OpenAiChat, openai, 77),
        (Wire::Anthropic, anthropic, 100),
    ] {
        for size in [1, 2, 7, 64, text.len()] {
            let mut watch = StreamWatch::new(wire);
            assert_eq!(watch.input_tokens(), None);
            for piece in text.as_bytes().chunks(size) {
                watch.feed(piece);
            }
            assert_eq!(
                watch.input_tokens(),
                Some(expected),
                "{wire} in pieces of {size}"
            );
        }
    }
}

/// An event beyond any sensible size is handed on cut; what follows is still read.
#[test]
fn an_event_without_end_does_not_fill_the_memory() {
    let mut decoder = sse::Decoder::new();
    let mut seen = Vec::new();
    let megabyte = vec![b'x'; 1 << 20];
    let pieces = [b"data: ".as_slice()]
        .into_iter()
        .chain(std::iter::repeat_n(megabyte.as_slice(), 20))
        .chain([b"\n\ndata: y\n\n".as_slice()]);
    for piece in pieces {
        decoder.feed(piece, |event| seen.push((event.data.len(), event.is_cut)));
    }
    assert!(seen[0].0 <= 8 << 20 && seen[0].1, "{seen:?}");
    assert_eq!(seen[1..], [(1, false)]);

    let mut small = sse::Decoder::with_limit(4);
    let mut seen = Vec::new();
    small.feed(
        b"data: 1234\n\ndata: 12345\n\ndata: 12\ndata: 34\n\n: a long comment\ndata: 1\n\n",
        |event| {
            seen.push((
                String::from_utf8_lossy(event.data).into_owned(),
                event.is_cut,
            ));
        },
    );
    let expected = [
        ("1234", false),
        ("1234", true),
        ("12\n3", true),
        ("1", false),
    ];
    assert_eq!(
        seen,
        expected.map(|(data, is_cut)| (data.to_owned(), is_cut))
    );
}

#[test]
fn names_belong_to_one_event_and_the_last_may_lack_its_blank_line() {
    let mut seen = Vec::new();
    let mut decoder = sse::Decoder::new();
    let mut note = |event: sse::Event<'_>| {
        let words = [event.name, event.data].map(|part| String::from_utf8_lossy(part).into_owned());
        seen.push(words.join("="));
    };
    decoder.feed(
        b"event: a\ndata: 1\n\ndata: 2\n\nevent: b\n\ndata: 3\nda",
        &mut note,
    );
    decoder.feed(b"ta: 4", &mut note);
    decoder.finish(&mut note);
    assert_eq!(seen, ["a=1", "=2", "=3\n4"]);
}
