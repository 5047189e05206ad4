use epitome::{Block, Media, Message, Meter, Role};

use crate::support::{assistant, calls, property, result, text, user};

const METERS: [Meter; 2] = [Meter::Chars4, Meter::Estimate];

#[test]
fn more_text_never_costs_less() {
    property(1, &(text(80), text(80)), |(one, other)| {
        for meter in METERS {
            let both = format!("{one}{other}");
            assert!(meter.text(&both) >= meter.text(&one), "{both}");
            assert!(meter.text(&both) >= meter.text(&other), "{both}");
            // Put together, texts cost no more than apart, unless they grow into one encoded run.
            let apart = meter.text(&one) + meter.text(&other);
            assert!(
                meter.text(&format!("{one}\n{other}")) <= apart + 1,
                "{both}"
            );
        }
    });
}

#[test]
fn a_prefix_costs_what_it_may_and_no_character_less() {
    property(1, &(text(300), 0_u64..120), |(text, tokens)| {
        for meter in METERS {
            let prefix = meter.prefix(&text, tokens);
            assert!(text.starts_with(prefix));
            assert!(meter.text(prefix) <= tokens, "{meter:?} {prefix}");
            if let Some(next) = text[prefix.len()..].chars().next() {
                let longer = &text[..prefix.len() + next.len_utf8()];
                assert!(meter.text(longer) > tokens, "{meter:?} {longer}");
            }
        }
    });
}

#[test]
fn known_sizes() {
    for (text, chars4, estimate) in [
        ("", 0, 0),
        ("a", 1, 1),
        ("abcd", 1, 1),
        ("abcde", 2, 2),
        ("漢字", 1, 2),
        ("😀", 1, 2),
        ("éé", 1, 1),
    ] {
        assert_eq!(Meter::Chars4.text(text), chars4, "{text}");
        assert_eq!(Meter::Estimate.text(text), estimate, "{text}");
    }
    let encoded = "QUJD".repeat(30);
    assert_eq!(Meter::Estimate.text(&encoded), 80);
    assert_eq!(
        Meter::Estimate.text(&encoded[1..]),
        30,
        "a shorter run is plain text"
    );
    assert_eq!(
        Meter::Estimate.text(&format!("é{encoded}")),
        81,
        "whatever stands beside it"
    );
    assert_eq!(Meter::Chars4.text(&encoded), 30);
}

#[test]
fn a_message_costs_its_parts() {
    let estimate = |message: &Message| Meter::Estimate.message(message);
    assert_eq!(estimate(&user("abcd")), 5);
    assert_eq!(Meter::Chars4.message(&user("abcd")), 1);
    // Four around the message, eight around the call, and name and arguments.
    let call = calls(&["x"]);
    let length = "read_file".len() + "{\"path\":\"src/x.rs\"}".len();
    assert_eq!(estimate(&call), 4 + 8 + (length as u64).div_ceil(4));
    assert_eq!(estimate(&result("x", "abcdefgh")), 4 + 8 + 2);
    let media = Message {
        role: Role::User,
        blocks: vec![
            Block::Media(Media {
                kind: "image".to_owned(),
                tokens: 1_600,
            }),
            Block::Thinking { chars: 400 },
            Block::Injected("abcd".to_owned()),
        ],
    };
    assert_eq!(estimate(&media), 4 + 1_600 + 100 + 1);
    assert!(estimate(&assistant("")) > 0);
}
