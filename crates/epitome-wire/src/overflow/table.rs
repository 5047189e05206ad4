//! The catalogue: one row for each way of saying "too long", and the words that mean something else.

use super::Cure;

/// One way of saying it.
pub(super) struct Row {
    /// Who says it.
    #[expect(dead_code, reason = "for the reader of the table")]
    pub(super) who: &'static str,
    /// `{w}` stands for the window, `{r}` for the size of the request, `{_}` for a number that is neither, `{*}` for any
    /// words.
    pub(super) text: &'static str,
    /// What helps.
    pub(super) cure: Cure,
}

const fn row(who: &'static str, text: &'static str, cure: Cure) -> Row {
    Row { who, text, cure }
}

/// What the numbers of a row say comes before what other rows say without them: the first that fits counts.
pub(super) const ROWS: &[Row] = &[
    row(
        "Anthropic",
        "prompt is too long: {r} tokens > {w} maximum",
        Cure::Shorter,
    ),
    row(
        "Anthropic",
        "exceed context limit: {r} + {_} > {w}",
        Cure::LessOutput,
    ),
    row(
        "OpenAI Chat",
        "maximum context length is {w} tokens. However, your messages resulted in {r} tokens",
        Cure::Shorter,
    ),
    row(
        "OpenRouter",
        "maximum context length is {w} tokens. However, you requested about {_} tokens ({r} of text input",
        Cure::Shorter,
    ),
    row(
        "OpenAI Chat, vLLM",
        "maximum context length is {w} tokens. However, you requested {_} tokens ({r} in the messages",
        Cure::LessOutput,
    ),
    row(
        "OpenAI, Azure, DeepSeek, vLLM",
        "maximum context length is {w}",
        Cure::Shorter,
    ),
    row("vLLM", "context length is only {w} tokens", Cure::Shorter),
    row(
        "xAI",
        "maximum prompt length is {w} but the request contains {r} tokens",
        Cure::Shorter,
    ),
    row(
        "OpenAI, a limit of the account",
        "exceed the configured limit of {w} tokens. Your messages resulted in {r} tokens",
        Cure::Shorter,
    ),
    row(
        "Gemini, Vertex",
        "input token count ({r}) exceeds the maximum number of tokens allowed ({w})",
        Cure::Shorter,
    ),
    row(
        "Gemini, Vertex",
        "input token count {r} exceeds the maximum number of tokens allowed {w}",
        Cure::Shorter,
    ),
    row(
        "Mistral",
        "Prompt contains {r} tokens{*}too large for model with {w} maximum context length",
        Cure::Shorter,
    ),
    row(
        "Together, TGI",
        "`inputs` tokens + `max_new_tokens` must be <= {w}",
        Cure::LessOutput,
    ),
    row(
        "Cerebras",
        "Current length is {r} while limit is {w}",
        Cure::Shorter,
    ),
    row(
        "Kimi",
        "exceeded model token limit: {w} (requested: {r})",
        Cure::Shorter,
    ),
    row(
        "GitHub Copilot",
        "prompt token count of {r} exceeds the limit of {w}",
        Cure::Shorter,
    ),
    row(
        "llama-cpp-python",
        "Requested tokens ({r}) exceed context window of {w}",
        Cure::Shorter,
    ),
    row(
        "SGLang",
        "The input ({r} tokens) is longer than the model's context length ({w} tokens)",
        Cure::Shorter,
    ),
    row(
        "OpenAI Responses",
        "exceeds the context window of this model",
        Cure::Shorter,
    ),
    row(
        "llama.cpp",
        "exceeds the available context size",
        Cure::Shorter,
    ),
    row("MiniMax", "context window exceeds limit", Cure::Shorter),
    row(
        "Bedrock",
        "Input is too long for requested model",
        Cure::Shorter,
    ),
    row(
        "Groq",
        "Please reduce the length of the messages",
        Cure::Shorter,
    ),
    row("Bedrock", "prompt is too long", Cure::Shorter),
    row("Bedrock", "too many total text bytes", Cure::FewerBytes),
    row("Bedrock", "Too many input tokens", Cure::Shorter),
    row("Cohere", "too many tokens", Cure::Shorter),
    row("Bedrock", "expected maxLength:", Cure::Shorter),
    row("Gemini", "Request payload size exceeds", Cure::FewerBytes),
    row(
        "vLLM",
        "max_tokens must be at least 1, got -{_}",
        Cure::LessOutput,
    ),
    row(
        "LM Studio",
        "tokens to keep from the initial prompt is greater than the context length",
        Cure::Shorter,
    ),
    row("LiteLLM", "ContextWindowExceededError", Cure::Shorter),
];

/// Codes, types and stop reasons that say it outright.
pub(super) const CODES: &[(&str, Cure)] = &[
    // OpenAI, Azure, Cerebras
    ("context_length_exceeded", Cure::Shorter),
    // llama.cpp
    ("exceed_context_size_error", Cure::Shorter),
    // Anthropic, z.ai
    ("model_context_window_exceeded", Cure::Shorter),
    // Anthropic
    ("request_too_large", Cure::FewerBytes),
];

/// Words of a limit on how much may be sent in a time, whatever else is said.
pub(super) const RATE_LIMITS: &[&str] = &[
    "rate limit",
    "rate_limit",
    "per minute",
    "(TPM)",
    "too many requests",
    "throttl",
];

/// Words of a limit on one parameter.
pub(super) const PARAMETERS: &[&str] = &["string_above_max_length", "string too long"];
