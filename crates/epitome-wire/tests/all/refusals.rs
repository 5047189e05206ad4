//! Why a request was refused, and what an answer that quotes the request back does not say.

use epitome_testkit::refusals;
use epitome_wire::{Overflow, Refusal};
use serde_json::json;

fn message(text: &str) -> String {
    json!({"error": {"message": text, "type": "invalid_request_error"}}).to_string()
}

fn kind(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Overflow(_) => "overflow",
        Refusal::RateLimit => "rate limit",
        Refusal::Credit => "credit",
        Refusal::Filter => "filter",
        Refusal::Authentication => "authentication",
        Refusal::Parameter => "parameter",
        Refusal::Structural => "structural",
        Refusal::Other => "other",
    }
}

fn check(status: u16, body: &str, expected: &str) {
    let found = Refusal::read(status, body.as_bytes(), b"{}");
    assert_eq!(kind(found), expected, "{status} {body}");
}

#[test]
fn refusals_are_told_apart() {
    let overflow = "prompt is too long: 5 tokens > 4 maximum";
    for (status, text, expected) in [
        (400, overflow, "overflow"),
        (429, overflow, "rate limit"),
        (
            413,
            "Request too large on tokens per minute (TPM): Limit 12000, Requested 14137",
            "rate limit",
        ),
        (
            400,
            "Invalid 'user': string too long. Expected a string with maximum length 64",
            "parameter",
        ),
        (
            400,
            "Malformed input request: #/tools/0/name: expected maxLength: 64, actual: 80, please reformat your input and try again.",
            "parameter",
        ),
        (
            400,
            "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens",
            "parameter",
        ),
        (
            400,
            "max_tokens is too large: 8000. This model supports at most 4096 completion tokens, whereas you provided 8000.",
            "parameter",
        ),
        (
            400,
            "tools.0.custom.name: String should have at most 128 characters",
            "parameter",
        ),
        (
            400,
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
            "credit",
        ),
        (402, "Insufficient Balance", "credit"),
        (402, "anything", "credit"),
        (
            403,
            "This request requires more credits, or fewer max_tokens.",
            "credit",
        ),
        (400, "Output blocked by content filtering policy", "filter"),
        (
            400,
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            "filter",
        ),
        (403, "model requires moderation on OpenRouter", "filter"),
        (401, "invalid x-api-key", "authentication"),
        (
            403,
            "You do not have access to this model",
            "authentication",
        ),
        (
            400,
            "API key not valid. Please pass a valid API key.",
            "authentication",
        ),
        // A4: named faults of the structure are now told apart from everything else.
        (
            400,
            "messages.2: `tool_use` ids were found without `tool_result` blocks",
            "structural",
        ),
        (
            400,
            "messages.3: role 'system' must precede an 'assistant' message or end the array",
            "structural",
        ),
        (
            400,
            "Conversation roles must alternate user/assistant/user/assistant/...",
            "structural",
        ),
        (
            500,
            "Jinja Exception: System message must be at the beginning",
            "structural",
        ),
        (503, overflow, "other"),
        (529, "Overloaded", "other"),
        (404, "model not found", "other"),
        (
            500,
            "The server had an error while processing your request.",
            "other",
        ),
        (400, "Unknown parameter: 'foo'.", "other"),
        (200, overflow, "other"),
        (0, overflow, "other"),
    ] {
        check(status, &message(text), expected);
    }
    for (status, body, expected) in [
        (
            429,
            json!({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}}),
            "credit",
        ),
        (
            400,
            json!({"error": {"code": "content_filter", "message": "The response was filtered", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
            "filter",
        ),
        (
            400,
            json!({"error": {"message": "no", "type": "billing_error"}}),
            "credit",
        ),
        (
            422,
            json!({"detail": [{"type": "string_too_long", "loc": ["body", "messages"], "msg": "String should have at most 5 characters", "input": overflow}]}),
            "parameter",
        ),
        (
            422,
            json!({"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required", "input": {"error": {"message": overflow}}}]}),
            "other",
        ),
        (400, json!({"errors": [{"message": overflow}]}), "overflow"),
        (400, json!({"detail": overflow}), "overflow"),
        (400, json!({"detail": {"message": overflow}}), "overflow"),
    ] {
        check(status, &body.to_string(), expected);
    }
}

/// Issue 16: 60 refusals at least that are no overflow, each with its source, in `vectors/refusals/others.jsonl` of the
/// testkit.
#[test]
fn what_is_no_overflow_is_told_from_one() {
    let cases = refusals::others();
    for one in &cases {
        check(one.status, &one.body, &one.what);
    }
    assert!(cases.len() >= 60, "{}", cases.len());
    assert!(cases.iter().all(|one| !one.source.is_empty()));
}

/// What the strict servers of the tests refuse, in providers' words.
#[test]
fn faults_of_structure_are_recognised() {
    for text in [
        "messages.0: first message must use the \"user\" role",
        "messages.1: Unexpected role \"tool\". Allowed roles are \"user\" or \"assistant\"",
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        "messages.4.content.0: the final block in an assistant message cannot be `thinking`",
        "all messages must have non-empty content except for the optional final assistant message",
        "text content blocks must be non-empty",
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1",
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
        "each thinking block must contain thinking",
        "thinking.signature: Field required",
        "Invalid `signature` in `thinking` block",
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
        "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls' ('c1').",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        "Invalid value: 'x'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
        "No tool call found for function call output with call_id call_1.",
        "No tool output found for function call call_1.",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "Invalid 'input[2].id': 'x'. Expected an ID that begins with 'fc'.",
        "Function call is missing a thought_signature in functionCall parts",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        "messages: at least one message is required",
    ] {
        check(400, &message(text), "structural");
    }
}

/// A2: a validation error that quotes the conversation says nothing about the window.
#[test]
fn an_answer_that_quotes_the_request_teaches_nothing() {
    let words = "prompt is too long: 213462 tokens > 200000 maximum";
    let sent = json!({"messages": [{"role": "user", "content": format!("I saw «{words}» again")}]});
    let sent = sent.to_string();
    for place in ["input", "ctx", "loc", "body", "request", "content"] {
        let body = json!({"detail": [{"type": "value_error", "msg": "Value error", place: sent}]});
        let found = Overflow::read(422, body.to_string().as_bytes(), sent.as_bytes());
        assert_eq!(found, None, "{place}");
    }
    let quoting = message(&format!(
        "1 validation error: input_value='{words}', input_type=str"
    ));
    let read =
        |body: &str, sent: &str| Overflow::read(400, body.as_bytes(), sent.as_bytes()).unwrap();
    assert!(read(&quoting, &sent).is_echoed);
    assert!(!read(&quoting, "{}").is_echoed);
    assert!(!read(&quoting, "").is_echoed);
    // The provider's own words count although the request talks about the same.
    let real = message("prompt is too long: 201007 tokens > 200000 maximum");
    assert!(!read(&real, &sent).is_echoed);
    let with_code = json!({"error": {"message": words, "code": "context_length_exceeded"}});
    assert!(!read(&with_code.to_string(), &sent).is_echoed);
    // One wording is quoted, another is not.
    let both =
        json!({"error": {"message": words}, "message": "Input is too long for requested model."});
    let found = read(&both.to_string(), &sent);
    assert!(!found.is_echoed && found.window_tokens.is_none());
}

#[test]
fn an_echo_is_found_in_any_spelling() {
    let words = "prompt is too long: 5 tokens > 4 maximum";
    let body = message(words);
    let is_echoed = |sent: &str| {
        let found = Overflow::read(400, body.as_bytes(), sent.as_bytes());
        found.unwrap().is_echoed
    };
    for sent in [
        r#"{"content":"so: prompt is too long: 5 tokens > 4 maximum."}"#,
        r#"{"content":"prompt is too long: 5 tokens \u003e 4 maximum"}"#,
        r#"{"content":"prompt\u0020is too long:\n5 tokens > 4 maximum"}"#,
        r#"{"content":"prompt is\t too\\nlong"} prompt is too  long: 5 tokens > 4   maximum"#,
        r#"{"content":"\u0070rompt is too long: 5 tokens > 4 \u006daximum"}"#,
    ] {
        assert!(is_echoed(sent), "{sent}");
    }
    for sent in [
        r#"{"content":"prompt is too long: 6 tokens > 4 maximum"}"#,
        r#"{"content":"the maximum of tokens, prompt"}"#,
        r#"{"content":"\u0070"}"#,
        "",
    ] {
        assert!(!is_echoed(sent), "{sent}");
    }
    let quoted = r#"say "too many tokens" now"#;
    let body = message(quoted);
    let sent = json!({"content": quoted}).to_string();
    let found = Overflow::read(400, body.as_bytes(), sent.as_bytes()).unwrap();
    assert!(found.is_echoed);
}

#[test]
fn bytes_of_any_kind_are_read() {
    let deep = "[".repeat(10_000);
    let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "x".repeat(3 << 20));
    for body in [
        "",
        "{",
        "[[[",
        "\u{0}",
        "data:",
        "<",
        &deep,
        &long,
        r#"{"error":{"error":{"error":7}}}"#,
    ] {
        for status in [
            0,
            200,
            400,
            401,
            402,
            403,
            413,
            422,
            429,
            500,
            503,
            u16::MAX,
        ] {
            let found = Refusal::read(status, body.as_bytes(), body.as_bytes());
            assert!(!matches!(found, Refusal::Overflow(_)), "{status}");
        }
    }
    assert_eq!(Refusal::read(400, &[0xFF, 0xFE], &[0xFF]), Refusal::Other);
}
