//! Was that an overflow? Providers' own words for "too long".

use crate::json::{self, Value};

/// What a provider said about a request that is too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// The window, where the answer names it.
    pub window_tokens: Option<u64>,
    /// What the input alone took, where the answer names it.
    pub request_tokens: Option<u64>,
}

/// One way of saying it. `{w}` stands for the window, `{r}` for the size of the request, `{_}` for a number
/// that is neither, `{*}` for any words.
const PATTERNS: &[&str] = &[
    "prompt is too long: {r} tokens > {w} maximum",
    "exceed context limit: {r} + {_} > {w}",
    "maximum context length is {w} tokens. However, your messages resulted in {r} tokens",
    "maximum context length is {w} tokens. However, you requested about {_} tokens ({r} of text input",
    "maximum context length is {w} tokens. However, you requested {_} tokens ({r} in the messages",
    "maximum context length is {w}",
    "context length is only {w} tokens",
    "maximum prompt length is {w} but the request contains {r} tokens",
    "exceed the configured limit of {w} tokens. Your messages resulted in {r} tokens",
    "input token count ({r}) exceeds the maximum number of tokens allowed ({w})",
    "input token count {r} exceeds the maximum number of tokens allowed {w}",
    "Prompt contains {r} tokens{*}too large for model with {w} maximum context length",
    "`inputs` tokens + `max_new_tokens` must be <= {w}",
    "Current length is {r} while limit is {w}",
    "exceeded model token limit: {w} (requested: {r})",
    "prompt token count of {r} exceeds the limit of {w}",
    "Requested tokens ({r}) exceed context window of {w}",
    "The input ({r} tokens) is longer than the model's context length ({w} tokens)",
    "exceeds the context window of this model",
    "exceeds the available context size",
    "context window exceeds limit",
    "Input is too long for requested model",
    "Please reduce the length of the messages",
    "prompt is too long",
    "too many total text bytes",
    "Too many input tokens",
    "too many tokens",
    "expected maxLength:",
    "Request payload size exceeds",
    "max_tokens must be at least 1, got -{_}",
    "tokens to keep from the initial prompt is greater than the context length",
    "ContextWindowExceededError",
];

/// Words that mean something else, whatever else is said.
const VETOES: &[&str] = &[
    "rate limit",
    "rate_limit",
    "per minute",
    "(TPM)",
    "too many requests",
    "throttl",
    "string_above_max_length",
    "string too long",
];

/// Codes and types that say it outright.
const CODES: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "request_too_large",
];

/// Errors inside errors are followed this far.
const NESTING: usize = 8;

impl Overflow {
    /// Reads an answer; `None` when it does not say that the request is too long.
    #[must_use]
    pub fn read(status: u16, body: &[u8]) -> Option<Self> {
        if !matches!(status, 400 | 413 | 422 | 500) {
            return None;
        }
        let text = String::from_utf8_lossy(body.get(..body.len().min(64 * 1024)).unwrap_or(body));
        Self::in_text(&text, NESTING)
    }

    fn in_text(text: &str, depth: usize) -> Option<Self> {
        let value = json::read(text.as_bytes()).ok();
        let messages = value.as_ref().map(strings).unwrap_or_default();
        if VETOES.iter().any(|veto| contains(text, veto)) {
            return None;
        }
        let direct = messages
            .iter()
            .find_map(|message| matched(message))
            .or_else(|| matched(text));
        let nested = || {
            messages
                .iter()
                .filter(|message| depth > 0 && message.trim_start().starts_with('{'))
                .find_map(|message| Self::in_text(message, depth - 1))
        };
        let by_code = || {
            messages
                .iter()
                .any(|message| CODES.contains(&message.as_str()))
                .then(Self::default)
        };
        let mut overflow = direct.or_else(nested).or_else(by_code)?;
        if let Some(error) = value.as_ref().and_then(|value| value.get("error")) {
            overflow.window_tokens = overflow
                .window_tokens
                .or_else(|| error.whole_number("n_ctx"));
            overflow.request_tokens = overflow
                .request_tokens
                .or_else(|| error.whole_number("n_prompt_tokens"));
        }
        Some(overflow)
    }
}

fn contains(text: &str, needle: &str) -> bool {
    text.to_lowercase().contains(&needle.to_lowercase())
}

/// Every string in the error object.
fn strings(value: &Value<'_>) -> Vec<String> {
    let mut out = Vec::new();
    let mut queue = vec![value];
    while let Some(value) = queue.pop() {
        queue.extend(value.items());
        queue.extend(value.members().iter().map(|(_, value)| value));
        if let Some(text) = value.as_text() {
            out.push(text.decode().into_owned());
        }
    }
    out
}

fn matched(text: &str) -> Option<Overflow> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    PATTERNS
        .iter()
        .find_map(|pattern| try_pattern(&text, pattern))
}

/// Matches a pattern anywhere in `text`; numbers may be grouped by commas.
fn try_pattern(text: &str, pattern: &str) -> Option<Overflow> {
    let start = pattern.split('{').next().unwrap_or(pattern);
    text.match_indices(start)
        .find_map(|(at, _)| match_here(text.get(at..)?, pattern))
}

fn match_here(text: &str, pattern: &str) -> Option<Overflow> {
    let mut overflow = Overflow::default();
    let (mut text, mut pattern) = (text, pattern);
    while let Some((literal, rest)) = pattern.split_once('{') {
        text = text.strip_prefix(literal)?;
        let (name, after) = rest.split_once('}')?;
        if name == "*" {
            let next = after.split('{').next().unwrap_or(after);
            text = text.get(text.find(next)?..)?;
            pattern = after;
            continue;
        }
        let length = text
            .find(|c: char| !c.is_ascii_digit() && c != ',')
            .unwrap_or(text.len());
        let digits: String = text
            .get(..length)?
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        let number = digits.parse().ok()?;
        match name {
            "w" => overflow.window_tokens = Some(number),
            "r" => overflow.request_tokens = Some(number),
            _ => {}
        }
        text = text.get(length..)?;
        pattern = after;
    }
    text.starts_with(pattern).then_some(overflow)
}
