//! The access log: one line for each request, where somebody wants it.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use http::{HeaderMap, Response};

use crate::clock::Stopwatch;

/// The target of its lines.
pub(crate) const TARGET: &str = "epitome::access";

/// Logs a request with what became of it, when the answer begins. What stands behind the question mark is left out: it may hold
/// a token.
pub(crate) async fn log(request: Request, next: Next) -> Response<Body> {
    if !tracing::enabled!(target: TARGET, tracing::Level::INFO) {
        return next.run(request).await;
    }
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let stopwatch = Stopwatch::start();
    let response = next.run(request).await;
    let milliseconds = u64::try_from(stopwatch.taken().as_millis()).unwrap_or(u64::MAX);
    let headers = response.headers();
    tracing::info!(
        target: TARGET,
        %method,
        path,
        status = response.status().as_u16(),
        milliseconds,
        action = said(headers, "x-epitome-action"),
        reason = said(headers, "x-epitome-reason"),
        tokens = said(headers, "x-epitome-tokens"),
        conversation = said(headers, "x-epitome-conversation"),
        "request"
    );
    response
}

fn said<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
