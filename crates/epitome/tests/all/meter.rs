use epitome::{Block, Media, Message, Meter, ReferenceMeter, Role, Usage, UsageFinding, Window};

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
            let suffix = meter.suffix(&text, tokens);
            assert!(text.ends_with(suffix));
            assert!(meter.text(suffix) <= tokens, "{meter:?} {suffix}");
            let reversed: String = text.chars().rev().collect();
            assert_eq!(suffix.len(), meter.prefix(&reversed, tokens).len());
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
        ("abcde", 2, 1),
        ("hello world", 3, 3),
        ("漢字", 1, 2),
        ("😀", 1, 3),
        ("1234567890", 3, 4),
        ("{\"a\":[1,2]}", 3, 7),
    ] {
        assert_eq!(Meter::Chars4.text(text), chars4, "{text}");
        assert_eq!(Meter::Estimate.text(text), estimate, "{text}");
    }
}

/// What has no words costs far more than a quarter of its characters.
#[test]
fn encoded_data_is_not_taken_for_prose() {
    let mut state = 1_u64;
    let mut random = |alphabet: &str| -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            letters[(state >> 33) as usize % letters.len()]
        };
        (0..4_000).map(|_| next()).collect()
    };
    let lower = "abcdefghijklmnopqrstuvwxyz";
    let upper = lower.to_uppercase();
    for alphabet in [
        "0123456789abcdef".to_owned(),
        format!("{lower}{upper}0123456789+/"),
        format!("{lower}{upper}0123456789-_"),
        lower.to_owned(),
    ] {
        let tokens = Meter::Estimate.text(&random(&alphabet));
        assert!((1_500..3_000).contains(&tokens), "{alphabet}: {tokens}");
    }
}

#[test]
fn a_message_costs_its_parts() {
    let estimate = |message: &Message| Meter::Estimate.message(message);
    assert_eq!(estimate(&user("abcd")), 5);
    assert_eq!(Meter::Chars4.message(&user("abcd")), 1);
    // Four around the message, eight around the call, and name and arguments.
    let call = calls(&["x"]);
    let length = "read_file".len() + "{\"path\":\"src/x.rs\"}".len();
    let parts = Meter::Estimate.text("read_file") + Meter::Estimate.text(r#"{"path":"src/x.rs"}"#);
    assert!((4 + 8 + parts - 1..=4 + 8 + parts).contains(&estimate(&call)));
    assert_eq!(Meter::Chars4.message(&call), (length as u64).div_ceil(4));
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

#[cfg(feature = "exact-tokens")]
mod exact {
    use super::*;

    const EXACT: [Meter; 2] = [Meter::O200k, Meter::Cl100k];

    #[test]
    fn known_answers() {
        for (text, o200k, cl100k) in [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("Hello, world!", 4, 4),
            ("tiktoken is great!", 6, 6),
            ("antidisestablishmentarianism", 6, 6),
            ("2 + 2 = 4", 7, 7),
            ("お誕生日おめでとう", 8, 9),
        ] {
            assert_eq!(Meter::O200k.text(text), o200k, "{text}");
            assert_eq!(Meter::Cl100k.text(text), cl100k, "{text}");
        }
        assert_eq!(Meter::O200k.message(&user("hello world")), 4 + 2);
        assert_eq!(Meter::O200k.message(&result("x", "hello world")), 4 + 8 + 2);
    }

    /// The vocabularies' own encoder, which is linear and needs twenty times the tables, counts the same.
    #[test]
    fn counts_are_those_of_the_reference_encoder() {
        let check = |text: &str| {
            let reference = bpe_openai::o200k_base().count(text) as u64;
            assert_eq!(Meter::O200k.text(text), reference, "{text:?}");
            let reference = bpe_openai::cl100k_base().count(text) as u64;
            assert_eq!(Meter::Cl100k.text(text), reference, "{text:?}");
        };
        for text in [
            include_str!("../../../../README.md"),
            include_str!("../../../../Cargo.lock"),
            include_str!("meter.rs"),
        ] {
            check(text);
        }
        for word in [
            "a",
            "ab",
            "aB1 ",
            " \t\n",
            "\r\n\r\n ",
            "=-",
            "ß\u{301}",
            "中文字",
            "🏳️‍🌈",
            "'LL're",
        ] {
            check(&word.repeat(701));
        }
        property(5, &text(400), |text| check(&text));
    }

    #[test]
    fn a_prefix_is_within_the_limit_and_grows_with_it() {
        property(4, &(text(300), 0_u64..120), |(text, tokens)| {
            for meter in EXACT {
                let whole = meter.text(&text);
                assert!(whole <= text.len() as u64);
                let prefix = meter.prefix(&text, tokens);
                assert!(text.starts_with(prefix));
                assert!(meter.text(prefix) <= tokens, "{meter:?} {prefix}");
                let more = meter.prefix(&text, tokens + 1);
                assert!(more.len() >= prefix.len(), "{meter:?} {prefix} {more}");
                let suffix = meter.suffix(&text, tokens);
                assert!(text.ends_with(suffix));
                assert!(meter.text(suffix) <= tokens, "{meter:?} {suffix}");
                if whole <= tokens {
                    assert_eq!(prefix, text);
                    assert_eq!(suffix, text);
                } else {
                    // Not the longest perhaps, but no word less.
                    assert!(
                        meter.text(prefix) + 3 >= tokens,
                        "{meter:?} {tokens} {prefix}"
                    );
                }
            }
        });
    }

    #[test]
    fn hostile_text_is_counted_in_linear_time() {
        for text in [
            "a".repeat(200_000),
            " \n".repeat(100_000),
            "漢".repeat(70_000),
        ] {
            for meter in EXACT {
                let limit = meter.text(&text) / 2;
                let part = meter.prefix(&text, limit);
                assert!(meter.text(part) <= limit && part.len() * 3 > text.len());
            }
        }
    }

    #[test]
    fn the_estimate_leans_high_on_code_and_prose() {
        for text in [
            include_str!("meter.rs"),
            include_str!("../../src/meter.rs"),
            include_str!("../../../../ARCHITECTURE.md"),
        ] {
            let ratio = Meter::Estimate.text(text) as f64 / Meter::O200k.text(text) as f64;
            assert!((0.93..1.30).contains(&ratio), "{ratio} {}", &text[..40]);
        }
    }
}

#[test]
fn reference_designs_measure_in_their_own_ways() {
    let messages = [user("abcde"), calls(&["x"]), result("x", "abcdefg")];
    let reported = Usage {
        fresh_tokens: 10,
        cache_read_tokens: 200,
        cache_write_tokens: 30,
        output_tokens: 4,
    };
    // 5 + (9 + 19) + 7 characters.
    for (meter, tokens) in [
        (ReferenceMeter::Vibe, 244),
        (ReferenceMeter::OpenClaw, 2 + 7 + 2),
        (ReferenceMeter::Micro, 10),
        (ReferenceMeter::Spacebot, 10),
        (ReferenceMeter::Layer, 2 + 2 + 2 + 3 + 5 + 2 + 2),
    ] {
        assert_eq!(meter.tokens(&messages, reported), tokens, "{meter:?}");
    }
    for meter in ReferenceMeter::ALL {
        assert_eq!(meter.tokens(&[], Usage::default()), 0, "{meter:?}");
    }
    assert_eq!(ReferenceMeter::Micro.tokens(&[user("abc")], reported), 0);
    assert_eq!(ReferenceMeter::Spacebot.tokens(&[user("abc")], reported), 1);
}

const WINDOW: Window = Window::configured(200_000);

#[test]
fn silent_losses_are_found() {
    let truncated = |real_tokens, expected_tokens, window_tokens| {
        Some(UsageFinding::Truncated {
            real_tokens,
            expected_tokens,
            window_tokens,
        })
    };
    let of = |real, expected| UsageFinding::of(real, expected, WINDOW);
    assert_eq!(of(10_000, 10_000), None);
    assert_eq!(of(6_000, 10_000), None, "within what a meter may be off");
    // Ollama keeps half of its window and two, and says so after the fact.
    assert_eq!(of(2_050, 9_000), truncated(2_050, 9_000, Some(4_096)));
    assert_eq!(of(4_098, 8_400), truncated(4_098, 8_400, Some(8_192)));
    assert_eq!(of(3_000, 9_000), truncated(3_000, 9_000, None));
    assert_eq!(of(100, 900), None, "too small to tell");
    assert_eq!(of(0, 9_000), None, "zero is no count");
    let above = UsageFinding::AboveWindow {
        real_tokens: 200_001,
        window_tokens: 200_000,
    };
    assert_eq!(of(200_001, 190_000), Some(above));
    assert_eq!(of(200_000, 190_000), None);
}
