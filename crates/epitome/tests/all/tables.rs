use epitome::{ASSUMED_WINDOW_TOKENS, Lines, Reason, Window, WindowSource, window_of};

#[test]
fn models_are_found_by_name() {
    let tokens = |name: &str| window_of(name).map(|window| window.tokens);
    for (name, expected) in [
        ("claude-haiku-4-5", Some(200_000)),
        ("claude-haiku-4-5-20251001", Some(200_000)),
        ("anthropic/claude-haiku-4-5", Some(200_000)),
        (
            "openrouter/anthropic/claude-haiku-4-5-20251001",
            Some(200_000),
        ),
        ("claude-haiku-4-5-latest", Some(200_000)),
        ("gpt-4o", Some(128_000)),
        ("gpt-4o-2024-08-06", Some(128_000)),
        ("openai/gpt-5-mini", Some(272_000)),
        ("gpt-4.1-mini", Some(1_047_576)),
    ] {
        assert_eq!(tokens(name), expected, "{name}");
    }
    // A name is never matched by its beginning.
    for name in [
        "",
        "gpt",
        "gpt-",
        "gpt-5-huge",
        "claude",
        "claude-haiku-4",
        "gpt-4o-mini-audio",
        "xgpt-4o",
        "#",
        "gpt-5\t272000",
    ] {
        assert_eq!(tokens(name), None, "{name}");
    }
    assert_eq!(window_of("gpt-4o").unwrap().source, WindowSource::Table);
}

#[test]
fn lines_leave_room_for_the_answer_and_the_error() {
    let lines = |window: u64, output, error| Window::configured(window).lines(output, error);
    // 200,000 − 20,000 reserve − 10 %.
    let usual = Lines {
        prepare_tokens: 112_000,
        hard_tokens: 160_000,
    };
    assert_eq!(lines(200_000, 0, 0.1), Some(usual));
    assert_eq!(lines(200_000, 20_000, 0.1), Some(usual));
    assert_eq!(lines(200_000, 64_000, 0.0).unwrap().hard_tokens, 136_000);
    assert_eq!(
        lines(8_000, 0, 0.0).unwrap().hard_tokens,
        6_000,
        "a quarter of a small window"
    );
    assert_eq!(lines(8_000, 8_000, 0.0), None);
    assert_eq!(lines(8_000, 7_999, 0.0).unwrap().hard_tokens, 1);
    assert_eq!(lines(8_000, 9_000, 0.0), None);
    assert_eq!(lines(0, 0, 0.1), None);
    assert_eq!(lines(8_000, 0, 5.0), None);
    assert_eq!(lines(8_000, 0, -1.0), lines(8_000, 0, 0.0));
    assert_eq!(Window::assumed().tokens, ASSUMED_WINDOW_TOKENS);
    assert_eq!(Window::assumed().source, WindowSource::Assumed);
}

#[test]
fn reason_codes_are_a_closed_set_of_different_words() {
    let mut codes: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    assert!(codes.contains(&"floor_above_budget") && codes.contains(&"hard_line"));
    for code in &codes {
        assert!(
            code.bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_lowercase()),
            "{code}"
        );
    }
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Reason::ALL.len());
}
