use epitome::{CacheRule, LongInput, ModelTable, Reason, WindowSource, window_of};

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

#[test]
fn the_built_in_table_is_whole() {
    let table = ModelTable::builtin();
    let text = include_str!("../../src/model/models.tsv");
    assert_eq!(
        ModelTable::default().with_overrides(text).as_ref(),
        Ok(table)
    );
    assert!(table.models().count() > 30);
    assert!(table.source().contains("LiteLLM") && table.date() == "2026-08-08");
    for model in table.models() {
        let window = model.window().tokens;
        // B6: names of small windows are in the table too.
        assert!(
            window >= 8_000 && window <= model.window_tokens,
            "{model:?}"
        );
        assert!(
            model
                .beta_window_tokens
                .is_none_or(|beta| beta > model.window_tokens),
            "{model:?}"
        );
        assert!(model.prices.cache_read <= model.prices.input, "{model:?}");
        assert!(model.prices.input <= model.prices.output, "{model:?}");
        if model.cache == Some(CacheRule::Anthropic)
            && let Some(input) = model.prices.input
        {
            assert_eq!(model.prices.cache_read, Some(input / 10));
            assert_eq!(model.prices.cache_write_5m, Some(input * 5 / 4));
            assert_eq!(model.prices.cache_write_1h, Some(input * 2));
        }
    }
    let terra = table.find("openai/gpt-5.6-terra").unwrap();
    assert_eq!(terra.max_output_tokens, Some(128_000));
    assert_eq!(terra.prices.input, Some(2_000));
    assert_eq!(
        terra.prices.long_input,
        Some(LongInput {
            from_tokens: 272_000,
            nanodollars: 4_000
        })
    );
    let five = table.find("gpt-5").unwrap();
    assert_eq!(
        (five.window_tokens, five.input_tokens),
        (400_000, Some(272_000))
    );
}

#[test]
fn users_put_their_own_lines_over_the_table() {
    let table = ModelTable::builtin()
        .with_overrides(
            "# mine\n\nllama-local\t8192\r\ngpt-5\t-\t-\t-\t0.5\nclaude-haiku-4-5\t1000000\n",
        )
        .unwrap();
    let local = table.find("ollama/llama-local").unwrap();
    assert_eq!(
        (local.window_tokens, local.prices.input, local.cache),
        (8_192, None, None)
    );
    let five = table.find("gpt-5-2025-08-07").unwrap();
    assert_eq!(five.prices.input, Some(500));
    assert_eq!(
        (five.prices.output, five.input_tokens),
        (Some(10_000), Some(272_000))
    );
    assert_eq!(
        table.find("claude-haiku-4-5").unwrap().window().tokens,
        1_000_000
    );
    assert_eq!(table.date(), ModelTable::builtin().date());
    assert_eq!(
        window_of("llama-local"),
        None,
        "the built-in table is as it was"
    );

    for (text, error) in [
        ("x\t8192\ny\t8k", "line 2: `8k` cannot be read as `window`"),
        ("x\t0", "line 1: `0` cannot be read as `window`"),
        ("x\t-5", "line 1: `-5` cannot be read as `window`"),
        ("#\n\tfoo", "line 2: no name of a model"),
        (
            "new-one\t-",
            "line 1: `new-one` is new to the table and needs a window",
        ),
        (
            "x\t1\t-\t-\t1.2345",
            "line 1: `1.2345` cannot be read as `in`",
        ),
        ("x\t1\t-\t-\t-1", "line 1: `-1` cannot be read as `in`"),
        (
            "x\t1\t-\t-\t-\t-\t-\t-\t-\t-\t-\twarm",
            "line 1: `warm` cannot be read as `cache`",
        ),
        (
            "x\t1\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\tmaybe",
            "line 1: `maybe` cannot be read as `counts output`",
        ),
        (
            // B6: two columns more.
            "x\t1\t\t\t\t\t\t\t\t\t\t\t\t\t\t",
            "line 1: more than 15 columns",
        ),
    ] {
        let found = ModelTable::builtin().with_overrides(text).unwrap_err();
        assert_eq!(found.to_string(), error);
    }
}
