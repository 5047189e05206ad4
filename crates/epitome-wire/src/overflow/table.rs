//! The catalogue: one row for each way of saying "too long". What means something else stands in `signs`.

use super::Cure;

/// One way of saying it.
pub(super) struct Row {
    /// Who says it, and where that was seen.
    #[expect(dead_code, reason = "for the reader of the table")]
    pub(super) who: &'static str,
    /// `{w}` stands for the window, `{r}` for the size of the request, `{_}` for a number that is neither, `{*}` for any
    /// words.
    pub(super) text: &'static str,
    /// What helps.
    pub(super) cure: Cure,
    /// Whether input and output are said to be counted together.
    pub(super) counts_output: bool,
}

/// The input is too long.
const fn input(who: &'static str, text: &'static str) -> Row {
    Row {
        who,
        text,
        cure: Cure::Shorter,
        counts_output: false,
    }
}

/// Input and output together are too long.
const fn both(who: &'static str, text: &'static str) -> Row {
    Row {
        who,
        text,
        cure: Cure::LessOutput,
        counts_output: true,
    }
}

/// The window was full before the answer was done.
const fn full(who: &'static str, text: &'static str) -> Row {
    Row {
        who,
        text,
        cure: Cure::Shorter,
        counts_output: true,
    }
}

/// The body has too many bytes.
const fn bytes(who: &'static str, text: &'static str) -> Row {
    Row {
        who,
        text,
        cure: Cure::FewerBytes,
        counts_output: false,
    }
}

/// What the numbers of a row say comes before what other rows say without them: the first that fits counts.
pub(super) const ROWS: &[Row] = &[
    input("Anthropic", "prompt is too long: {r} tokens > {w} maximum"),
    both("Anthropic", "exceed context limit: {r} + {_} > {w}"),
    input(
        "OpenAI Chat",
        "maximum context length is {w} tokens. However, your messages resulted in {r} tokens",
    ),
    both(
        "OpenRouter",
        "maximum context length is {w} tokens. However, you requested about {_} tokens ({r} of text input",
    ),
    both(
        "OpenAI Chat, vLLM",
        "maximum context length is {w} tokens. However, you requested {_} tokens ({r} in the messages",
    ),
    both(
        "OpenAI Completions (sugarforever/chat-ollama#130)",
        "maximum context length is {w} tokens, however you requested {_} tokens ({r} in your prompt",
    ),
    both(
        "vLLM (vllm#42474); the size it names is only a bound",
        "maximum context length is {w} tokens. However, you requested {_} output tokens and your prompt contains at least {_} input tokens",
    ),
    both(
        "vLLM (vllm#33425)",
        "maximum context length is {w} tokens. However, your request has {r} input tokens plus {_}",
    ),
    both(
        "vLLM 0.15, which names the window less max_tokens (vllm#33418)",
        "maximum context length is {_} tokens. However, your request has {r} input tokens. Please reduce the length of the input messages. (parameter=input_tokens",
    ),
    input(
        "vLLM",
        "maximum context length is {w} tokens. However, your request has {r} input tokens",
    ),
    both(
        "vLLM (vllm#19861)",
        "maximum context length is {w} tokens and your request has {r} input tokens",
    ),
    both(
        "SGLang (opencode#25231)",
        "Requested token count exceeds the model's maximum context length of {w} tokens. You requested a total of {_} tokens: {r} tokens from the input messages",
    ),
    both(
        "SGLang (opencode#25231)",
        "Requested token count exceeds the model's maximum context length of {w} tokens",
    ),
    input(
        "OpenAI, Azure, DeepSeek, vLLM",
        "maximum context length is {w}",
    ),
    both(
        "vLLM",
        "You passed {r} input tokens and requested {_} output tokens. However, the model's context length is only {w} tokens",
    ),
    input("vLLM", "context length is only {w} tokens"),
    input(
        "vLLM (xorbitsai/inference#3785)",
        "prompt (length {r}) is longer than the maximum model length of {w}",
    ),
    input(
        "vLLM (lm-evaluation-harness#2880)",
        "Prompt length of {r} is longer than the maximum model length of {w}",
    ),
    input(
        "vLLM (vllm#12165)",
        "prompt (total length {r}) is too long to fit into the model (context length {w})",
    ),
    input(
        "xAI",
        "maximum prompt length is {w} but the request contains {r} tokens",
    ),
    input(
        "OpenAI, a limit of the account",
        "exceed the configured limit of {w} tokens. Your messages resulted in {r} tokens",
    ),
    input(
        "Gemini, Vertex",
        "input token count ({r}) exceeds the maximum number of tokens allowed ({w})",
    ),
    input(
        "Gemini, Vertex",
        "input token count {r} exceeds the maximum number of tokens allowed {w}",
    ),
    input(
        "Vertex",
        "input token count is {r} but model only supports up to {w}",
    ),
    input("Vertex", "the model only supports up to {w} tokens"),
    input(
        "Mistral",
        "Prompt contains {r} tokens{*}too large for model with {w} maximum context length",
    ),
    both(
        "Together, TGI (text-generation-inference#628)",
        "`inputs` tokens + `max_new_tokens` must be <= {w}. Given: {r} `inputs` tokens",
    ),
    both(
        "Together, TGI",
        "`inputs` tokens + `max_new_tokens` must be <= {w}",
    ),
    input(
        "TGI (text-generation-inference#695)",
        "`inputs` must have less than {w} tokens. Given: {r}",
    ),
    input("Cerebras", "Current length is {r} while limit is {w}"),
    input("Kimi", "exceeded model token limit: {w} (requested: {r})"),
    bytes("Kimi", "total message size {_} exceeds limit {_}"),
    input(
        "GitHub Copilot",
        "prompt token count of {r} exceeds the limit of {w}",
    ),
    input(
        "GitHub Models (cline#2115, aider#2296)",
        "Request body too large for {*} model. Max size: {w} tokens",
    ),
    input(
        "DashScope (qwen-code#98, Qwen-Agent#615)",
        "Range of input length should be [1, {w}]",
    ),
    input(
        "Volcano Ark (dify#32221)",
        "Input length {r} exceeds the maximum length {w}",
    ),
    input(
        "SGLang (sglang#4048)",
        "Input length ({r} tokens) exceeds the maximum allowed length ({w} tokens)",
    ),
    input(
        "SGLang",
        "The input ({r} tokens) is longer than the model's context length ({w} tokens)",
    ),
    input(
        "SGLang behind gateways",
        "Input length ({r}) exceeds model's maximum context length ({w})",
    ),
    input(
        "SGLang behind gateways",
        "Input length {r} exceeds the maximum allowed input length of {w} tokens",
    ),
    input(
        "DS4 (antirez/ds4)",
        "Prompt has {r} tokens, but the configured context size is {w} tokens",
    ),
    both(
        "TensorRT-LLM",
        "prompt length ({r}{*}max_tokens ({_}) should not exceed max_seq_len ({w})",
    ),
    input(
        "TensorRT-LLM (TensorRT-LLM#9277)",
        "prompt length ({r}{*}should not exceed max_num_tokens ({w})",
    ),
    input(
        "TensorRT-LLM (tensorrtllm_backend#565)",
        "Prompt length ({r}) exceeds maximum input length ({w})",
    ),
    input(
        "TensorRT-LLM (tensorrtllm_backend#141)",
        "Prompt length ({r}) exceeds maximum sequence length ({w})",
    ),
    input(
        "llama-cpp-python",
        "Requested tokens ({r}) exceed context window of {w}",
    ),
    input(
        "llama.cpp",
        "request ({r} tokens) exceeds the available context size ({w} tokens)",
    ),
    input(
        "LM Studio (lmstudio-bug-tracker#546, cline#3664)",
        "Trying to keep the first {r} tokens when context the overflows. However, the model is loaded with context length of only {w} tokens",
    ),
    input(
        "LM Studio (openhuman#3550)",
        "tokens to keep from the initial prompt is greater than the context length (n_keep: {r} >= n_ctx: {w})",
    ),
    full(
        "LM Studio (lmstudio-bug-tracker#1251)",
        "Reached context length of {w} tokens with model",
    ),
    input(
        "OpenAI Responses",
        "exceeds the context window of this model",
    ),
    input("llama.cpp", "exceeds the available context size"),
    full("llama.cpp", "Context size has been exceeded"),
    input(
        "Ollama, by how much and not of how much",
        "prompt too long; exceeded max context length by {_} tokens",
    ),
    input("Ollama", "prompt too long; exceeded context length"),
    input("Zhipu (zeroclaw#4124)", "Prompt exceeds max length"),
    input("MiniMax", "context window exceeds limit"),
    input("Bedrock", "Input is too long for requested model"),
    input("Groq", "Please reduce the length of the messages"),
    input("Bedrock", "prompt is too long"),
    bytes("Bedrock", "too many total text bytes"),
    input("Bedrock", "Too many input tokens"),
    input("Cohere", "too many tokens"),
    input(
        "Bedrock Titan, in characters",
        "#/inputText: expected maxLength:",
    ),
    bytes("Gemini", "Request payload size exceeds"),
    both("vLLM", "max_tokens must be at least 1, got -{_}"),
    input(
        "LM Studio (lmstudio-bug-tracker#2322)",
        "tokens to keep from the initial prompt is greater than the context length",
    ),
    input("LiteLLM", "ContextWindowExceededError"),
];

/// A code or a type that says it outright.
pub(super) struct Code {
    /// Who says it.
    #[expect(dead_code, reason = "for the reader of the table")]
    pub(super) who: &'static str,
    pub(super) text: &'static str,
    pub(super) cure: Cure,
}

const fn code(who: &'static str, text: &'static str, cure: Cure) -> Code {
    Code { who, text, cure }
}

/// Codes and types, as the whole of what stands in their place.
pub(super) const CODES: &[Code] = &[
    code(
        "OpenAI, Azure, Cerebras",
        "context_length_exceeded",
        Cure::Shorter,
    ),
    code("llama.cpp", "exceed_context_size_error", Cure::Shorter),
    code("z.ai", "model_context_window_exceeded", Cure::Shorter),
    code("Zhipu (zeroclaw#4124)", "1261", Cure::Shorter),
    code(
        "GitHub Models (cline#2115)",
        "tokens_limit_reached",
        Cure::Shorter,
    ),
    code("Anthropic", "request_too_large", Cure::FewerBytes),
];
