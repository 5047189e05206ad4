//! Which API was called, and errors of our own in its shape.

use axum::body::Body;
use epitome_wire::Wire;
use http::{HeaderMap, Response, StatusCode, header};

/// An answer that says what went wrong here.
pub(crate) fn error(wire: Wire, status: StatusCode, code: &str, message: &str) -> Response<Body> {
    let body = match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => serde_json::json!({
            "error": {"message": message, "type": "epitome_error", "param": null, "code": code}
        }),
        Wire::Anthropic => serde_json::json!({
            "type": "error",
            "error": {"type": anthropic_type(status), "message": message},
            "epitome_code": code,
        }),
    };
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json"),
    );
    say(response.headers_mut(), "x-epitome-action", "passthrough");
    say(response.headers_mut(), "x-epitome-reason", code);
    response
}

/// What Anthropic calls an error with this status.
const fn anthropic_type(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        _ => "api_error",
    }
}

/// Says something about a request in a header of ours.
pub(crate) fn say(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = header::HeaderValue::from_str(value) {
        headers.insert(header::HeaderName::from_static(name), value);
    }
}

/// Whose API a request speaks: by its path, or where both have it by the headers that only one of them asks for.
pub(crate) fn provider(path: &str, headers: &HeaderMap) -> Wire {
    if path.starts_with("/v1/responses") {
        return Wire::OpenAiResponses;
    }
    let is_openai = ["/v1/chat/", "/v1/completions"]
        .iter()
        .any(|openai| path.starts_with(openai));
    let is_anthropic = path.starts_with("/v1/messages")
        || path.starts_with("/v1/complete")
        || headers.contains_key("anthropic-version")
        || headers.contains_key("x-api-key");
    if is_anthropic && !is_openai {
        Wire::Anthropic
    } else {
        Wire::OpenAiChat
    }
}
