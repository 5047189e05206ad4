//! The words of refusals that are no overflow, written as in `table`; those of one kind stand together.

use Kind::{Amount, Authentication, Credit, Filter, Parameter, RateLimit, Structural};

/// What a sign is one of. Which kind is looked for first is decided by whoever reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    RateLimit,
    Credit,
    Filter,
    Authentication,
    /// A limit on one parameter, whatever else is said.
    Parameter,
    /// The same in words that overflows use too: only where nothing says that the conversation is too long.
    Amount,
    Structural,
}

/// Where a sign stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// Anywhere in what is said, codes included.
    Words,
    /// Alone in the place of a code.
    Code,
}

/// One sign of a kind of refusal.
pub(super) struct Sign {
    pub(super) kind: Kind,
    /// Who says it, and where that was seen.
    #[expect(dead_code, reason = "for the reader of the table")]
    pub(super) who: &'static str,
    pub(super) place: Where,
    pub(super) text: &'static str,
}

const fn words(kind: Kind, who: &'static str, text: &'static str) -> Sign {
    Sign {
        kind,
        who,
        place: Where::Words,
        text,
    }
}

const fn code(kind: Kind, who: &'static str, text: &'static str) -> Sign {
    Sign {
        kind,
        who,
        place: Where::Code,
        text,
    }
}

/// All signs.
pub(super) const SIGNS: &[Sign] = &[
    words(RateLimit, "all", "rate limit"),
    words(RateLimit, "Anthropic, OpenAI", "rate_limit"),
    words(RateLimit, "Groq, OpenAI", "per minute"),
    words(RateLimit, "OpenAI (fork-dev/TrackerWin#2595)", "per min "),
    words(RateLimit, "Groq, OpenAI", "(tpm)"),
    words(RateLimit, "all", "too many requests"),
    words(RateLimit, "Bedrock", "throttl"),
    words(RateLimit, "Bedrock", "wait before trying again"),
    words(Credit, "Anthropic", "credit balance is too low"),
    words(Credit, "Anthropic", "credit balance too low"),
    code(Credit, "Anthropic", "billing_error"),
    code(Credit, "OpenAI", "insufficient_quota"),
    code(Credit, "OpenAI", "billing_hard_limit_reached"),
    code(Credit, "OpenAI", "billing_not_active"),
    words(Credit, "OpenRouter", "insufficient credits"),
    words(Credit, "OpenRouter", "requires more credits"),
    words(Credit, "DeepSeek", "insufficient balance"),
    words(Credit, "Kimi", "exceeded_current_quota_error"),
    words(Credit, "all", "payment required"),
    code(Credit, "DashScope", "arrearage"),
    code(Filter, "OpenAI, Azure", "content_filter"),
    words(Filter, "OpenAI, Azure", "content_policy_violation"),
    words(Filter, "Azure", "responsibleaipolicyviolation"),
    words(Filter, "Azure", "content management policy"),
    words(Filter, "Anthropic", "content filtering policy"),
    words(Filter, "OpenAI", "flagged as potentially violating"),
    words(Filter, "OpenAI", "violating our usage policy"),
    words(Filter, "OpenRouter", "requires moderation"),
    words(Filter, "Gemini", "prohibited_content"),
    words(Filter, "Gemini", "blocked due to safety"),
    code(Filter, "Gemini", "safety"),
    words(Filter, "DashScope", "data_inspection_failed"),
    words(Filter, "DashScope", "datainspectionfailed"),
    words(Filter, "DashScope", "inappropriate content"),
    code(Filter, "Zhipu", "1301"),
    words(Authentication, "Anthropic", "authentication_error"),
    words(Authentication, "Anthropic", "permission_error"),
    words(Authentication, "Anthropic", "invalid x-api-key"),
    words(Authentication, "OpenAI", "invalid_api_key"),
    words(Authentication, "OpenAI", "incorrect api key"),
    words(Authentication, "Gemini", "api key not valid"),
    words(
        Authentication,
        "Bedrock",
        "security token included in the request",
    ),
    words(Authentication, "all", "invalid api key"),
    words(Authentication, "all", "unauthorized"),
    words(Parameter, "OpenAI", "string_above_max_length"),
    words(Parameter, "OpenAI", "array_above_max_length"),
    words(Parameter, "OpenAI", "string too long"),
    words(Parameter, "OpenAI", "array too long"),
    code(Parameter, "FastAPI, Mistral", "string_too_long"),
    code(Parameter, "FastAPI, Mistral", "too_long"),
    words(
        Parameter,
        "Anthropic, Mistral",
        "string should have at most",
    ),
    words(Parameter, "Anthropic, Mistral", "list should have at most"),
    words(
        Parameter,
        "Bedrock",
        "member must have length less than or equal to",
    ),
    words(Amount, "Bedrock", "expected maxlength:"),
    words(
        Amount,
        "Anthropic",
        "maximum allowed number of output tokens",
    ),
    words(Amount, "OpenAI (GPTPortal#34)", "max_tokens is too large"),
    words(Amount, "OpenAI", "max_completion_tokens is too large"),
    words(Amount, "DashScope", "range of max_tokens should be"),
    words(Amount, "Anthropic", "image exceeds"),
    words(
        Structural,
        "Anthropic (claude-code#73821)",
        "must precede an 'assistant' message",
    ),
    words(Structural, "Anthropic", "roles must alternate"),
    words(
        Structural,
        "templates in vLLM, TGI, llama.cpp",
        "conversation roles must",
    ),
    words(
        Structural,
        "templates in vLLM, TGI, llama.cpp",
        "must be at the beginning",
    ),
    words(Structural, "Anthropic", "first message must use"),
    words(Structural, "Anthropic", "unexpected role"),
    words(Structural, "Mistral", "expected last role"),
    words(Structural, "Mistral", "unexpected role"),
    words(Structural, "Anthropic", "`tool_use`"),
    words(Structural, "Anthropic", "`tool_result`"),
    words(Structural, "Anthropic", "tool_use_id"),
    words(Structural, "Anthropic", "each tool_use must"),
    words(Structural, "Anthropic", "corresponding tool result"),
    words(Structural, "Bedrock Converse", "tooluse"),
    words(Structural, "Bedrock Converse", "toolresult"),
    words(Structural, "Bedrock Converse (strands#998)", "toolconfig"),
    words(Structural, "OpenAI Chat", "tool_call_id"),
    words(
        Structural,
        "OpenAI Chat",
        "must be a response to a preceding message",
    ),
    words(
        Structural,
        "OpenAI Chat",
        "must be followed by tool messages",
    ),
    words(Structural, "Gemini", "must be followed by"),
    words(Structural, "Gemini", "comes immediately after a user turn"),
    words(Structural, "Gemini", "number of function response parts"),
    words(Structural, "Gemini", "thought_signature"),
    words(Structural, "OpenAI Responses", "no tool call found for"),
    words(Structural, "OpenAI Responses", "no tool output found for"),
    words(Structural, "OpenAI Responses", "without its required"),
    words(
        Structural,
        "OpenAI Responses (senpi#271)",
        "expected an id that begins with",
    ),
    words(
        Structural,
        "OpenAI Responses",
        "must be the final input item",
    ),
    words(Structural, "OpenAI Responses", "'input["),
    words(
        Structural,
        "OpenAI Responses",
        "the input must not be empty",
    ),
    words(Structural, "Anthropic", "redacted_thinking"),
    words(Structural, "Anthropic", "thinking block"),
    words(Structural, "Anthropic", "cannot be `thinking`"),
    words(Structural, "Anthropic", "thinking.signature"),
    words(Structural, "Anthropic", "`signature` in `thinking`"),
    words(
        Structural,
        "Anthropic (ggcode#323)",
        "invalid signature in thinking",
    ),
    words(Structural, "Anthropic", "final assistant"),
    words(Structural, "Anthropic", "assistant message prefill"),
    words(Structural, "Anthropic", "blocks with cache_control"),
    words(Structural, "Anthropic", "cache_control"),
    words(Structural, "Anthropic", "content blocks must be non-empty"),
    words(Structural, "Anthropic", "must have non-empty content"),
    words(Structural, "OpenAI Chat", "must not be empty"),
    words(Structural, "OpenAI Chat", "text part is empty"),
    words(Structural, "OpenAI Chat", "for 'content'"),
    words(Structural, "OpenAI Chat", "'tool_calls["),
    words(Structural, "OpenAI Chat", "tool call id"),
    words(Structural, "OpenAI Chat", "'messages["),
    words(Structural, "OpenAI Chat", "type of a content part"),
    words(
        Structural,
        "OpenAI Chat",
        "supported values are: 'system', 'assistant'",
    ),
    words(
        Structural,
        "OpenAI Responses",
        "supported values are: 'assistant', 'system'",
    ),
    words(Structural, "Anthropic", "messages: field required"),
    words(Structural, "Anthropic", "at least one message is required"),
    words(Structural, "all", "orphaned"),
    words(Structural, "Anthropic", "messages.{_}"),
];
