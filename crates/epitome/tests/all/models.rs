//! The names of models: many spellings of one, and names that only look like one.

use std::collections::BTreeSet;

use epitome::{CacheRule, ContextBeta, ModelTable, window_of, window_of_with};

#[test]
fn every_spelling_finds_its_model() {
    let spellings: &[(&str, &[&str])] = &[
        (
            "claude-sonnet-4-5",
            &[
                "claude-sonnet-4-5",
                "claude-sonnet-4-5-20250929",
                "claude-sonnet-4.5",
                "Claude-Sonnet-4.5",
                "claude-4.5-sonnet",
                "claude-4-5-sonnet-20250929",
                "claude-sonnet-4-5[1m]",
                "claude-sonnet-4-5-20250929[1m]",
                "claude-sonnet-4-5-latest",
                "anthropic/claude-sonnet-4.5",
                "anthropic/claude-sonnet-4.5:beta",
                "openrouter/anthropic/claude-sonnet-4.5:thinking",
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "anthropic.claude-sonnet-4-5-20250929-v1:0",
                "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "arn:aws:bedrock:us-east-1:1234:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "claude-sonnet-4-5@20250929",
                "claude-sonnet-4-5@default",
                "vertex_ai/claude-sonnet-4-5@20250929",
                "publishers/anthropic/models/claude-sonnet-4-5@20250929",
                "publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict",
                "databricks-claude-sonnet-4-5",
            ],
        ),
        (
            "claude-sonnet-4",
            &[
                "claude-sonnet-4-20250514",
                "claude-sonnet-4-0",
                "claude-4-sonnet",
                "us.anthropic.claude-sonnet-4-20250514-v1:0",
            ],
        ),
        (
            "claude-opus-4-1",
            &[
                "claude-opus-4-1",
                "claude-opus-4-1-20250805",
                "claude-opus-4.1",
                "us.anthropic.claude-opus-4-1-20250805-v1:0",
            ],
        ),
        (
            "claude-opus-4",
            &[
                "claude-opus-4-0",
                "claude-opus-4-20250514",
                "claude-opus-4@20250514",
            ],
        ),
        (
            "claude-opus-4-5",
            &["claude-opus-4-5-20251101", "anthropic/claude-opus-4.5"],
        ),
        (
            "claude-haiku-4-5",
            &[
                "claude-haiku-4-5",
                "claude-haiku-4-5-20251001",
                "jp.anthropic.claude-haiku-4-5-20251001-v1:0",
            ],
        ),
        (
            "claude-3-7-sonnet",
            &[
                "claude-3-7-sonnet-latest",
                "claude-3-7-sonnet-20250219",
                "claude-3.7-sonnet",
                "claude-sonnet-3.7",
                "anthropic/claude-3.7-sonnet:thinking",
            ],
        ),
        (
            "claude-3-5-sonnet",
            &[
                "claude-3-5-sonnet-20241022",
                "anthropic.claude-3-5-sonnet-20241022-v2:0",
                "claude-3-5-sonnet-v2@20241022",
            ],
        ),
        (
            "claude-3-haiku",
            &[
                "claude-3-haiku-20240307",
                "anthropic.claude-3-haiku-20240307-v1:0",
            ],
        ),
        (
            "claude-fable-5-1",
            &["claude-fable-5-1", "claude-fable-5.1"],
        ),
        ("gpt-4", &["gpt-4", "openai/gpt-4", "azure/gpt-4"]),
        ("gpt-4-1106-preview", &["gpt-4-1106-preview"]),
        ("gpt-4-turbo", &["gpt-4-turbo", "gpt-4-turbo-2024-04-09"]),
        (
            "gpt-4.1",
            &["gpt-4.1", "gpt-4.1-2025-04-14", "gpt-4-1", "azure/gpt-4.1"],
        ),
        (
            "gpt-4o",
            &[
                "gpt-4o",
                "gpt-4o-2024-11-20",
                "openai/gpt-4o",
                "github/gpt-4o",
                "litellm_proxy/openai/gpt-4o",
            ],
        ),
        ("chatgpt-4o", &["chatgpt-4o-latest"]),
        ("gpt-35-turbo", &["gpt-35-turbo"]),
        ("gpt-5", &["gpt-5", "gpt-5-2025-08-07", "openai/gpt-5"]),
        (
            "gpt-5.1-codex",
            &["gpt-5.1-codex", "openai/gpt-5.1-codex", "gpt-5-1-codex"],
        ),
        ("gpt-5.1-codex-max", &["gpt-5.1-codex-max"]),
        ("gpt-5.1-codex-mini", &["gpt-5.1-codex-mini"]),
        ("gpt-5.1-chat", &["gpt-5.1-chat-latest"]),
        ("codex-mini", &["codex-mini", "codex-mini-latest"]),
        ("o3", &["o3", "o3-2025-04-16", "openai/o3"]),
        ("o4-mini", &["o4-mini", "o4-mini-2025-04-16"]),
        ("o1-preview", &["o1-preview"]),
        (
            "gpt-oss-120b",
            &[
                "gpt-oss-120b",
                "openai/gpt-oss-120b",
                "openai/gpt-oss-120b:free",
                "gpt-oss:120b",
                "gpt-oss:120b-cloud",
                "openai.gpt-oss-120b-1:0",
            ],
        ),
        ("gpt-oss-20b", &["gpt-oss:20b"]),
        (
            "gemini-2.5-pro",
            &[
                "gemini-2.5-pro",
                "models/gemini-2.5-pro",
                "google/gemini-2.5-pro-preview-05-06",
                "gemini-2.5-pro-exp-03-25",
                "publishers/google/models/gemini-2.5-pro:streamGenerateContent",
            ],
        ),
        (
            "gemini-2.5-flash-lite",
            &["gemini-2.5-flash-lite-preview-09-2025"],
        ),
        ("gemini-3-pro", &["gemini-3-pro-preview", "gemini-3-pro"]),
        ("gemini-3.1-pro", &["gemini-3.1-pro-preview"]),
        (
            "qwen3-32b",
            &[
                "qwen3-32b",
                "qwen3:32b",
                "qwen3:32b-q4_K_M",
                "library/qwen3:32b-q4_K_M",
                "ollama/qwen3:32b",
                "Qwen/Qwen3-32B",
                "Qwen/Qwen3-32B-AWQ",
                "qwen3:32b-fp16",
            ],
        ),
        (
            "qwen3-coder-480b-a35b",
            &[
                "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8",
                "qwen3-coder-480b-a35b-instruct",
            ],
        ),
        ("qwen3-coder-30b", &["qwen3-coder:30b"]),
        ("qwen3-coder", &["qwen/qwen3-coder:free"]),
        (
            "qwen2.5-7b",
            &[
                "qwen2.5:7b",
                "qwen2-5-7b-instruct",
                "Qwen/Qwen2.5-7B-Instruct",
            ],
        ),
        (
            "llama-3.3-70b",
            &[
                "llama3.3:70b",
                "meta-llama/Llama-3.3-70B-Instruct",
                "us.meta.llama3-3-70b-instruct-v1:0",
                "hf.co/someone/Llama-3.3-70B-Instruct-GGUF:Q4_K_M",
                "databricks-meta-llama-3-3-70b-instruct",
                "llama-3.3-70b-instruct-maas",
            ],
        ),
        (
            "llama-3-8b",
            &["llama3:8b", "meta-llama/Meta-Llama-3-8B-Instruct"],
        ),
        (
            "mistral-large",
            &["mistral-large-latest", "mistralai/mistral-large"],
        ),
        ("mistral-large-2411", &["mistral-large-2411"]),
        (
            "codestral",
            &["codestral-latest", "mistral/codestral-latest"],
        ),
        ("devstral-2512", &["mistralai/devstral-2512:free"]),
        (
            "deepseek-chat",
            &["deepseek-chat", "deepseek/deepseek-chat"],
        ),
        ("deepseek-v3.2", &["deepseek-ai/DeepSeek-V3.2"]),
        (
            "glm-4.6",
            &[
                "glm-4.6",
                "z-ai/glm-4.6",
                "zai-org/GLM-4.6-FP8",
                "glm-4.6:cloud",
            ],
        ),
        (
            "kimi-k2",
            &[
                "moonshotai/kimi-k2",
                "accounts/fireworks/models/kimi-k2-instruct",
                "moonshotai/kimi-k2:free",
            ],
        ),
        ("kimi-k2-0905-preview", &["kimi-k2-0905-preview"]),
        (
            "grok-code-fast-1",
            &["xai/grok-code-fast-1", "x-ai/grok-code-fast-1"],
        ),
        ("grok-4", &["grok-4", "x-ai/grok-4"]),
    ];
    let table = ModelTable::builtin();
    let mut count = 0;
    for (name, spellings) in spellings {
        for spelling in *spellings {
            let found = table.find(spelling).map(|model| model.name.as_str());
            assert_eq!(found, Some(*name), "{spelling}");
            count += 1;
        }
    }
    assert!(count >= 80, "{count}");
}

#[test]
fn a_name_that_only_looks_like_one_is_not_found() {
    for name in [
        "my-gpt-4-clone",
        "my-gpt-4",
        "gpt-4-clone",
        "gpt-4-0125-preview",
        "gpt-4-9999",
        "gpt-4o-audio",
        "gpt-4o-mini-audio-preview",
        "gpt-4o-2024",
        "gpt-5-huge",
        "gpt-5.9",
        "gpt-oss",
        "gpt-oss:latest",
        "o3-huge",
        "claude",
        "claude-sonnet",
        "claude-sonnet-4-5-clone",
        "claude-haiku-4",
        "claude-sonnet-9",
        "sonnet[1m]",
        "[1m]",
        "anthropic.",
        "us.anthropic.",
        "anthropic.claude-3-sonnet-20240229-v1:0:28k",
        "arn:aws:bedrock:us-east-1:1234:application-inference-profile/abcdef",
        "gemini-2.5-flash-image",
        "gemini-2.5-flash-preview-tts",
        "gemini-2.5-pro-preview-tts",
        "qwen3",
        "qwen3:latest",
        "qwen3:32b-mine",
        "deepseek-r1:32b",
        "llama3",
        "llama-local",
        "mistral-large-2407",
        "mistral",
        "grok",
        "x/y/z",
        ":free",
        "@20250929",
        "/",
        "-",
        "-20250929",
        "ünï-gpt-4o",
        "gpt-4ö",
    ] {
        assert_eq!(ModelTable::builtin().find(name), None, "{name}");
    }
}

#[test]
fn no_two_rows_are_one_model() {
    let table = ModelTable::builtin();
    let text = include_str!("../../src/model/models.tsv");
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let names: BTreeSet<&str> = rows.filter_map(|row| row.split('\t').next()).collect();
    assert_eq!(table.models().count(), names.len());
    for name in names {
        assert_eq!(table.find(name).map(|model| &*model.name), Some(name));
    }
}

#[test]
fn the_long_context_is_for_those_who_ask_and_have_it() {
    let beta = ContextBeta::OneMillion;
    let tokens = |name: &str, beta| window_of_with(name, beta).map(|window| window.tokens);
    for (name, plain, long) in [
        ("claude-sonnet-4-5", 200_000, 1_000_000),
        (
            "us.anthropic.claude-sonnet-4-20250514-v1:0",
            200_000,
            1_000_000,
        ),
        ("claude-opus-4-1", 200_000, 200_000),
        ("claude-haiku-4-5", 200_000, 200_000),
        ("claude-opus-4-6", 1_000_000, 1_000_000),
        ("gpt-5", 272_000, 272_000),
    ] {
        assert_eq!(tokens(name, ContextBeta::None), Some(plain), "{name}");
        assert_eq!(window_of(name).map(|window| window.tokens), Some(plain));
        assert_eq!(tokens(name, beta), Some(long), "{name}");
    }
    for name in ["claude-sonnet-4-5[1m]", "claude-sonnet-4-5-20250929[1M]"] {
        assert_eq!(tokens(name, ContextBeta::None), Some(1_000_000), "{name}");
    }
    assert_eq!(
        tokens("claude-opus-4-1[1m]", ContextBeta::None),
        Some(200_000)
    );
    assert_eq!(tokens("nobody[1m]", beta), None);

    for (header, expected) in [
        ("", ContextBeta::None),
        ("context-management-2025-06-27", ContextBeta::None),
        ("context-1m-2025-08-07", beta),
        ("a, context-1m-2025-08-07 ,b", beta),
        ("no-context-1m-2025-08-07", ContextBeta::None),
    ] {
        assert_eq!(ContextBeta::of_header(header), expected, "{header}");
    }

    // A window of one's own is the window.
    let own = ModelTable::builtin()
        .with_overrides("claude-sonnet-4.5\t150000")
        .unwrap();
    let found = own.window_with("claude-sonnet-4-5[1m]", beta).unwrap();
    assert_eq!(found.tokens, 150_000);
    let priced = ModelTable::builtin()
        .with_overrides("claude-sonnet-4-5\t-\t-\t-\t1")
        .unwrap();
    let found = priced.window_with("claude-sonnet-4-5", beta).unwrap();
    assert_eq!(found.tokens, 1_000_000);
}

#[test]
fn what_is_counted_and_cached_is_told_or_left_open() {
    let table = ModelTable::builtin();
    let counts = |name: &str| table.find(name).unwrap().counts_output;
    for (name, expected) in [
        ("claude-opus-4-1", Some(true)),
        ("claude-3-7-sonnet", Some(true)),
        ("claude-sonnet-4-5", Some(false)),
        ("gpt-4o", Some(true)),
        ("gpt-5", Some(false)),
        ("gemini-2.5-pro", None),
        ("qwen3-32b", None),
        ("claude-3-haiku", None),
    ] {
        assert_eq!(counts(name), expected, "{name}");
    }
    const HOUR_MS: u64 = 3_600_000;
    for (rule, expected) in [
        (CacheRule::Anthropic, Some(HOUR_MS)),
        (CacheRule::OpenAi, Some(24 * HOUR_MS)),
        (CacheRule::OpenAiMarked, Some(24 * HOUR_MS)),
        (CacheRule::Automatic, None),
        (CacheRule::None, Some(0)),
    ] {
        assert_eq!(rule.longest_lifetime_ms(), expected, "{rule:?}");
    }
    assert_eq!(table.find("gpt-4o").unwrap().cache, Some(CacheRule::OpenAi));
    assert_eq!(table.find("gpt-4").unwrap().cache, Some(CacheRule::None));
}
