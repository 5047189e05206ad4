//! The dashboard: answers of the API, put into templates.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use http::header::{CACHE_CONTROL, HeaderValue, LOCATION, SET_COOKIE};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::answer::{self, Failure};
use super::templates::render;
use super::{Control, api, chart, query};

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = include_str!("../../pages/style.css");
const SCRIPT: &str = include_str!("../../pages/live.js");

/// The dashboard is one slash further.
pub(super) async fn home() -> Response<Body> {
    moved("/epitome/")
}

pub(super) async fn overview(State(control): State<Arc<Control>>) -> Response<Body> {
    page("overview", api::overview(&control).await)
}

pub(super) async fn conversations(
    State(control): State<Arc<Control>>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    page(
        "conversations",
        api::conversations(&control, asked.as_deref()).await,
    )
}

pub(super) async fn conversation(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Response<Body> {
    page("conversation", api::conversation(&control, &id).await)
}

pub(super) async fn compaction(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Response<Body> {
    let mut shown = api::compaction(&control, &id).await;
    if let Ok(Value::Object(members)) = &mut shown {
        let record = members.get("record").filter(|record| !record.is_null());
        let text = record.and_then(|record| serde_json::to_string_pretty(record).ok());
        let text = text.unwrap_or_else(|| "nothing is kept of it".to_owned());
        members.insert("record_text".to_owned(), text.into());
    }
    page("compaction", shown)
}

pub(super) async fn recall(
    State(control): State<Arc<Control>>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    let words = query::member(asked.as_deref(), "q").unwrap_or_default();
    page(
        "recall",
        match words.trim() {
            "" => Ok(json!({ "query": "", "hits": [] })),
            _ => api::recall(&control, None, asked.as_deref()).await,
        },
    )
}

pub(super) async fn settings(State(control): State<Arc<Control>>) -> Response<Body> {
    page("settings", api::models(&control).await)
}

/// Takes a compaction back, as the button on the page of its conversation asks.
pub(super) async fn undo(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    match api::undo(&control, &id, asked.as_deref()).await {
        Ok(_) => moved(&format!("/epitome/conversations/{id}")),
        Err(failure) => failed(&failure),
    }
}

/// Leaves the token in the browser, and goes on to the dashboard.
pub(super) async fn login(
    State(control): State<Arc<Control>>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    let given = query::member(asked.as_deref(), "token").unwrap_or_default();
    if !control.token.is(given.trim()) {
        return unauthorised();
    }
    let mut response = moved("/epitome/");
    if let Ok(cookie) = HeaderValue::from_str(&control.token.cookie(control.address)) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Somebody without the token: what to do.
pub(super) fn unauthorised() -> Response<Body> {
    let shown = json!({ "title": "The dashboard needs its token", "asks_for_token": true, "text":
        "epitome prints a link with it when it starts. Open that link, or paste the token here." });
    html(StatusCode::UNAUTHORIZED, "message", &shown)
}

pub(super) async fn asset(Path(name): Path<String>) -> Response<Body> {
    let (kind, text) = match name.as_str() {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "live.js" => ("text/javascript; charset=utf-8", SCRIPT),
        _ => {
            return failed(&Failure::NotFound("there is no such file".to_owned()));
        }
    };
    let mut response = answer::of(StatusCode::OK, kind, text);
    let kept = HeaderValue::from_static("private, max-age=3600");
    response.headers_mut().insert(CACHE_CONTROL, kept);
    response
}

fn page(name: &str, shown: Result<Value, Failure>) -> Response<Body> {
    match shown {
        Ok(shown) => html(StatusCode::OK, name, &shown),
        Err(failure) => failed(&failure),
    }
}

fn failed(failure: &Failure) -> Response<Body> {
    let shown = json!({ "title": "This cannot be shown", "text": failure.message() });
    html(failure.status(), "message", &shown)
}

fn html(status: StatusCode, name: &str, shown: &Value) -> Response<Body> {
    // The picture is made of numbers only; everything else is escaped by the template.
    let chart = match name {
        "conversation" => chart::growth(shown),
        _ => String::new(),
    };
    let context = json!({ "shown": shown, "page": name, "chart": chart });
    match render(&format!("{name}.html"), &context) {
        Ok(text) => answer::of(status, HTML, text),
        Err(error) => {
            tracing::error!(%error, name, "a page cannot be rendered");
            let text = "this page cannot be shown; the log says why";
            answer::of(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", text)
        }
    }
}

fn moved(to: &str) -> Response<Body> {
    let mut response = answer::of(StatusCode::SEE_OTHER, "text/plain", Body::empty());
    if let Ok(to) = HeaderValue::from_str(to) {
        response.headers_mut().insert(LOCATION, to);
    }
    response
}
