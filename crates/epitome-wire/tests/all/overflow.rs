//! The overflow catalogue: what each provider says, and what only sounds like it.

use epitome_testkit::refusals::{self, Refused};
use epitome_wire::{Cure, Overflow};
use serde_json::{Value, json};

type Numbers = (Option<u64>, Option<u64>);

/// Window and request as they were read.
fn read(status: u16, body: &str) -> Option<Numbers> {
    Overflow::read(status, body.as_bytes(), b"{}")
        .map(|found| (found.window_tokens, found.request_tokens))
}

fn message(text: &str) -> String {
    json!({"error": {"message": text, "type": "invalid_request_error"}}).to_string()
}

/// Issue 16: 44 wordings at least, each with its source, in `vectors/refusals/overflow.jsonl` of the testkit.
#[test]
fn every_provider_is_understood() {
    let cases = refusals::overflows();
    for one in &cases {
        let expected = (one.window_tokens, one.request_tokens);
        let found = read(one.status, &one.body);
        assert_eq!(found, Some(expected), "{}: {}", one.what, one.body);
    }
    let is_spelling = |one: &&Refused| one.source.starts_with("another spelling");
    let wordings = cases.iter().filter(|one| !is_spelling(one)).count();
    assert!(wordings >= 44, "{wordings}");
    assert!(cases.iter().all(|one| !one.source.is_empty()));
}

#[test]
fn an_error_inside_an_error_is_found() {
    let mut nested: Value =
        json!({"error": {"message": "prompt is too long: 5 tokens > 4 maximum"}});
    for _ in 0..8 {
        nested = json!({"error": {"message": "Provider returned error", "metadata": {"raw": nested.to_string()}}});
        assert_eq!(
            read(400, &nested.to_string()),
            Some((Some(4), Some(5))),
            "{nested}"
        );
    }
}

#[test]
fn what_only_sounds_like_it_is_not() {
    let tpm = "Request too large for model `llama-3.3-70b` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again.";
    let cases = [
        ("groq tpm", 413, json!({"error": {"message": tpm, "type": "tokens", "code": "rate_limit_exceeded"}}).to_string()),
        ("rate limit", 429, message("prompt is too long: 5 tokens > 4 maximum")),
        ("rate limit on 400", 400, message("Rate limit reached: please reduce the length of the messages")),
        ("anthropic tier", 400, json!({"type": "error", "error": {"type": "rate_limit_error", "message": "This request would exceed your rate limit; the prompt is too long"}}).to_string()),
        ("throttling", 400, json!({"message": "ThrottlingException: Too many input tokens, please wait"}).to_string()),
        ("requests", 400, message("Too many requests: Too many input tokens")),
        ("parameter", 400, json!({"error": {"message": "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.", "code": "string_above_max_length", "param": "user"}}).to_string()),
        ("other 400", 400, message("max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens")),
        ("pairing", 400, message("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after")),
        ("success", 200, message("prompt is too long: 5 tokens > 4 maximum")),
        ("overloaded", 529, json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}).to_string()),
        ("nothing", 413, String::new()),
        ("nothing either", 400, "{}".to_owned()),
        ("html", 413, "<html><h1>413 Request Entity Too Large</h1></html>".to_owned()),
    ];
    for (name, status, body) in cases {
        assert_eq!(read(status, &body), None, "{name}: {body}");
    }
}

#[test]
fn each_veto_is_enough() {
    let overflow = "prompt is too long: 5 tokens > 4 maximum";
    assert!(read(400, &message(overflow)).is_some());
    for veto in [
        "Rate limit reached",
        "rate_limit_error",
        "tokens per minute",
        "on tokens (TPM)",
        "Too Many Requests",
        "ThrottlingException",
        "string_above_max_length",
        "string too long",
    ] {
        let text = message(&format!("{veto}: {overflow}"));
        assert_eq!(read(400, &text), None, "{text}");
    }
}

#[test]
fn it_is_found_inside_an_answer_that_began_well() {
    let numbers = |data: &Value| {
        Overflow::in_success(data.to_string().as_bytes())
            .map(|found| (found.window_tokens, found.request_tokens))
    };
    let none = (None, None);
    let cases = [
        (
            "responses stream",
            json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "context_length_exceeded", "message": "Your input exceeds\nthe context window of this model."}}}),
            Some(none),
        ),
        (
            "responses error event",
            json!({"type": "error", "error": {"code": "context_length_exceeded"}}),
            Some(none),
        ),
        (
            "anthropic stream",
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 213462 tokens > 200000 maximum"}}),
            Some((Some(200_000), Some(213_462))),
        ),
        // A2: an answer that ended at the window is an answer; it says nothing about the request.
        (
            "anthropic stop",
            json!({"type": "message_delta", "delta": {"stop_reason": "model_context_window_exceeded"}}),
            None,
        ),
        (
            "anthropic body",
            json!({"type": "message", "stop_reason": "model_context_window_exceeded", "content": []}),
            None,
        ),
        (
            "z.ai",
            json!({"choices": [{"finish_reason": "model_context_window_exceeded"}]}),
            None,
        ),
        (
            "z.ai as an error",
            json!({"error": {"code": "model_context_window_exceeded", "message": "The context window is full"}}),
            Some(none),
        ),
        (
            "llama.cpp under 200",
            json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096}}),
            Some((Some(4_096), Some(5_000))),
        ),
        (
            "lm studio",
            json!({"error": "The number of tokens to keep from the initial prompt is greater than the context length."}),
            Some(none),
        ),
        (
            "openrouter stream",
            json!({"choices": [], "error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": message("prompt is too long: 5 tokens > 4 maximum")}}}),
            Some((Some(4), Some(5))),
        ),
        (
            "rate limit in a stream",
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "too many tokens"}}),
            None,
        ),
        (
            "overloaded",
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            None,
        ),
        (
            "no error",
            json!({"type": "response.completed", "response": {"error": null, "output": [{"text": "prompt is too long"}]}}),
            None,
        ),
        (
            "the model says so",
            json!({"choices": [{"message": {"content": "error: context_length_exceeded, model_context_window_exceeded"}, "finish_reason": "stop"}]}),
            None,
        ),
    ];
    for (name, data, expected) in cases {
        assert_eq!(numbers(&data), expected, "{name}: {data}");
    }
    assert_eq!(Overflow::in_success(b"[DONE]"), None);
}

#[test]
fn what_helps_is_said() {
    let read = |text: &str| Overflow::read(400, message(text).as_bytes(), b"{}").unwrap();
    for (text, cure, counts_output) in [
        (
            "prompt is too long: 5 tokens > 4 maximum",
            Cure::Shorter,
            false,
        ),
        (
            "input length and `max_tokens` exceed context limit: 189136 + 20000 > 204648",
            Cure::LessOutput,
            true,
        ),
        (
            "max_tokens must be at least 1, got -186.",
            Cure::LessOutput,
            true,
        ),
        (
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 34000 tokens (31000 of text input, 3000 in the output).",
            Cure::LessOutput,
            true,
        ),
        (
            "This model's maximum context length is 4097 tokens, however you requested 5360 tokens (1360 in your prompt; 4000 for the completion).",
            Cure::LessOutput,
            true,
        ),
        (
            "Requested token count exceeds the model's maximum context length of 100 tokens. You requested a total of 110 tokens: 90 tokens from the input messages and 20 tokens for the completion.",
            Cure::LessOutput,
            true,
        ),
        // No answer is short enough.
        (
            "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
            Cure::Shorter,
            true,
        ),
        ("Context size has been exceeded.", Cure::Shorter, true),
        (
            "Request payload size exceeds the limit: 20971520 bytes.",
            Cure::FewerBytes,
            false,
        ),
    ] {
        let found = read(text);
        assert_eq!(
            (found.cure, found.counts_output),
            (cure, counts_output),
            "{text}"
        );
    }
    let too_large = json!({"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}});
    let too_large = Overflow::read(413, too_large.to_string().as_bytes(), b"{}").unwrap();
    assert_eq!(too_large.cure, Cure::FewerBytes);
}

#[test]
fn silence_counts_only_where_the_window_is_nearly_full() {
    assert!(Overflow::wordless(413, b"", 91_000, 100_000).is_some());
    assert!(Overflow::wordless(400, b" \r\n", 120_000, 100_000).is_some());
    assert!(Overflow::wordless(413, b"", 50_000, 100_000).is_none());
    assert!(Overflow::wordless(413, b"no", 91_000, 100_000).is_none());
    assert!(Overflow::wordless(500, b"", 91_000, 100_000).is_none());
    // B5: gateways say no more than this.
    let page =
        b"<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>";
    assert!(Overflow::wordless(413, page, 91_000, 100_000).is_some());
    assert!(Overflow::wordless(413, b"Payload Too Large", 91_000, 100_000).is_some());
    assert!(
        Overflow::wordless(413, br#"{"message":"Request Too Long"}"#, 91_000, 100_000).is_some()
    );
    assert!(Overflow::wordless(400, page, 91_000, 100_000).is_none());
    assert!(Overflow::wordless(413, page, 20_000, 100_000).is_none());
    assert!(Overflow::wordless(400, b"{}", 91_000, 100_000).is_some());
}
