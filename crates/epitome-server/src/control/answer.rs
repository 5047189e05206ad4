//! What leaves: JSON, pages and errors, with the headers that keep browsers from doing more with them.

use axum::body::Body;
use epitome_engine::archive::ArchiveError;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::header::{HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use http::{Response, StatusCode};
use serde_json::{Value, json};

/// Nothing is loaded from anywhere else, nothing runs that is not a file of ours, nobody puts a page into a frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no such thing: which.
    NotFound(String),
    /// The request was wrong: how.
    Wrong(String),
    /// It cannot be done: why.
    Refused(String),
    /// It is the operator's business.
    OperatorsOnly,
    /// Nothing is kept, so nothing can be shown.
    NoStore,
    /// The store does not answer.
    Store(ArchiveError),
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        Self::Store(error)
    }
}

impl From<epitome_store::Error> for Failure {
    fn from(error: epitome_store::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Failure {
    pub(super) const fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Wrong(_) => StatusCode::BAD_REQUEST,
            Self::Refused(_) => StatusCode::CONFLICT,
            Self::OperatorsOnly => StatusCode::FORBIDDEN,
            Self::NoStore => StatusCode::SERVICE_UNAVAILABLE,
            Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    const fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "not_found",
            Self::Wrong(_) => "wrong_request",
            Self::Refused(_) => "refused",
            Self::OperatorsOnly => "operators_only",
            Self::NoStore => "no_store",
            Self::Store(_) => "store",
        }
    }

    /// What happened, and what to do about it.
    pub(super) fn message(&self) -> String {
        match self {
            Self::NotFound(what) | Self::Wrong(what) | Self::Refused(what) => what.clone(),
            Self::OperatorsOnly => {
                "this holds for all tenants: it is for who runs the server, with the token that `epitome serve` prints"
                    .to_owned()
            }
            Self::NoStore => {
                "conversations are kept in memory only: start epitome with --store to see them here"
                    .to_owned()
            }
            Self::Store(error) => format!("the store does not answer: {error}"),
        }
    }
}

/// An answer of the API.
pub(super) fn json(answer: Result<Value, Failure>) -> Response<Body> {
    let (status, body) = match answer {
        Ok(body) => (StatusCode::OK, body),
        Err(failure) => {
            let error = json!({"code": failure.code(), "message": failure.message()});
            (failure.status(), json!({ "error": error }))
        }
    };
    of(status, "application/json", body.to_string())
}

/// A program without the token.
pub(super) fn unauthorised() -> Response<Body> {
    let message = "the control API needs its token: Authorization: Bearer TOKEN, as `epitome serve` prints it at its start, or a key of a tenant";
    let error = json!({"error": {"code": "unauthorised", "message": message}});
    of(
        StatusCode::UNAUTHORIZED,
        "application/json",
        error.to_string(),
    )
}

pub(super) fn of(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// The same answer with all that browsers have to be told.
pub(super) fn guarded(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // Without any, browsers say of our own forms that they come from nowhere.
        (REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
