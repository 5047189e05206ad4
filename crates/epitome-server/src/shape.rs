//! Errors of our own, in the shape of the API that was called.

use axum::body::Body;
use epitome_wire::Wire;
use http::{Response, StatusCode, header};

/// An answer that says what went wrong here.
pub(crate) fn error(wire: Wire, status: StatusCode, code: &str, message: &str) -> Response<Body> {
    let body = match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => serde_json::json!({
            "error": {"message": message, "type": "epitome_error", "param": null, "code": code}
        }),
        Wire::Anthropic => serde_json::json!({
            "type": "error",
            "error": {"type": "api_error", "message": message},
            "epitome_code": code,
        }),
    };
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json"),
    );
    response
}
