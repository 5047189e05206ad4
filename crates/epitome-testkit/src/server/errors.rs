use serde_json::json;

use super::rendered::{Exchange, Rendered};
use crate::Wire;
use crate::strict::{Rule, Violation};

/// An error in the shape of a provider.
pub(super) fn error(wire: Wire, status: u16, kind: &str, message: &str) -> Rendered {
    let body = match wire {
        Wire::OpenaiChat | Wire::OpenaiResponses => json!({
            "error": {"message": message, "type": kind, "param": null, "code": null}
        }),
        Wire::Anthropic => json!({
            "type": "error",
            "error": {"type": kind, "message": message},
            "request_id": "req_011CScripted",
        }),
    };
    Rendered::json(status, &body)
}

pub(super) fn not_found(wire: Wire, method: &str, path: &str) -> Rendered {
    match wire {
        Wire::OpenaiChat | Wire::OpenaiResponses => error(
            wire,
            404,
            "invalid_request_error",
            &format!("Invalid URL ({method} {path})"),
        ),
        Wire::Anthropic => error(wire, 404, "not_found_error", "Not Found"),
    }
}

pub(super) fn rate_limited(wire: Wire, retry_after_seconds: u64) -> Rendered {
    let (kind, message) = match wire {
        Wire::OpenaiChat | Wire::OpenaiResponses => (
            "requests",
            "Rate limit reached for requests. Please try again later.",
        ),
        Wire::Anthropic => (
            "rate_limit_error",
            "This request would exceed your account's rate limit. Please try again later.",
        ),
    };
    error(wire, 429, kind, message).with_header("retry-after", &retry_after_seconds.to_string())
}

pub(super) fn server_error(wire: Wire, message: &str) -> Rendered {
    let kind = match wire {
        Wire::OpenaiChat | Wire::OpenaiResponses => "server_error",
        Wire::Anthropic => "api_error",
    };
    error(wire, 500, kind, message)
}

pub(super) fn overloaded(wire: Wire) -> Rendered {
    error(wire, 529, "overloaded_error", "Overloaded")
}

/// The refusal of an invalid request, which names its first violation.
pub(super) fn refusal(wire: Wire, violation: &Violation) -> Rendered {
    let message = match (wire, violation.rule) {
        // Only Anthropic puts the place in front of the text.
        (Wire::OpenaiChat | Wire::OpenaiResponses, _) | (_, Rule::UnparsableBody) => {
            violation.detail.clone()
        }
        (Wire::Anthropic, _) => violation.to_string(),
    };
    error(wire, 400, "invalid_request_error", &message)
}

/// The provider's answer to a request that does not fit, or nothing when it fits.
pub(super) fn overflow(
    exchange: &Exchange<'_>,
    window_tokens: u64,
    counts_output: bool,
) -> Option<Rendered> {
    let input = exchange.input_tokens;
    let output = exchange.maximum_output_tokens().filter(|_| counts_output);
    let total = input.saturating_add(output.unwrap_or(0));
    if total <= window_tokens {
        return None;
    }
    let rendered = match exchange.wire {
        Wire::OpenaiChat => {
            let excess = output.map_or_else(
                || format!("your messages resulted in {input} tokens. Please reduce the length of the messages."),
                |output| format!("you requested {total} tokens ({input} in the messages, {output} in the completion). Please reduce the length of the messages or completion."),
            );
            Rendered::json(
                400,
                &json!({"error": {
                    "message": format!("This model's maximum context length is {window_tokens} tokens. However, {excess}"),
                    "type": "invalid_request_error",
                    "param": "messages",
                    "code": "context_length_exceeded",
                }}),
            )
        }
        Wire::OpenaiResponses => Rendered::json(
            400,
            &json!({"error": {
                "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
                "type": "invalid_request_error",
                "param": "input",
                "code": "context_length_exceeded",
            }}),
        ),
        Wire::Anthropic if input > window_tokens => error(
            Wire::Anthropic,
            400,
            "invalid_request_error",
            &format!("prompt is too long: {input} tokens > {window_tokens} maximum"),
        ),
        Wire::Anthropic => error(
            Wire::Anthropic,
            400,
            "invalid_request_error",
            &format!(
                "input length and `max_tokens` exceed context limit: {input} + {} > {window_tokens}, decrease input length or `max_tokens` and try again",
                output.unwrap_or(0)
            ),
        ),
    };
    Some(rendered)
}

/// The event with which a provider breaks off a stream.
pub(super) fn stream_event(wire: Wire) -> String {
    match wire {
        Wire::OpenaiChat => {
            let body = json!({"error": {
                "message": "The server had an error while processing your request.",
                "type": "server_error", "param": null, "code": null,
            }});
            format!("data: {body}\n\n")
        }
        Wire::OpenaiResponses => {
            let body = json!({"type": "response.failed", "response": {
                "status": "failed",
                "error": {"code": "server_error", "message": "The server had an error."},
            }});
            format!("event: response.failed\ndata: {body}\n\n")
        }
        Wire::Anthropic => {
            let body = json!({
                "type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"},
            });
            format!("event: error\ndata: {body}\n\n")
        }
    }
}
