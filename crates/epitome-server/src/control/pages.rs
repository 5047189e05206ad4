//! The dashboard: answers of the API, put into templates.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use epitome_store::PinMark;
use http::header::{CACHE_CONTROL, HeaderValue, LOCATION, SET_COOKIE};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::answer::{self, Failure};
use super::steer::{self, Given};
use super::templates::render;
use super::{Control, api, chart, query, rounds};
use crate::clock::now_ms;

/// The overview.
const HOME: &str = "/epitome/";
const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = include_str!("../../pages/style.css");
const SCRIPT: &str = include_str!("../../pages/live.js");
const ICON: &str = include_str!("../../pages/icon.svg");

/// The dashboard is one slash further.
pub(super) async fn home() -> Response<Body> {
    moved(HOME)
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
    let mut shown = rounds::compaction(&control, &id).await;
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
    page("settings", api::settings(&control).await)
}

pub(super) async fn message(
    State(control): State<Arc<Control>>,
    Path((id, position)): Path<(String, String)>,
) -> Response<Body> {
    page("entry", api::message(&control, &id, &position).await)
}

pub(super) async fn drop_pin(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response<Body> {
    mark(&control, &id, &body, PinMark::Dropped).await
}

pub(super) async fn restore_pin(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response<Body> {
    mark(&control, &id, &body, PinMark::Restored).await
}

async fn mark(control: &Control, id: &str, body: &[u8], mark: PinMark) -> Response<Body> {
    match steer::mark(control, id, &Given::of(None, body), mark).await {
        Ok(_) => moved(&format!("/epitome/conversations/{id}#pins")),
        Err(failure) => failed(&failure),
    }
}

pub(super) async fn observe(State(control): State<Arc<Control>>, body: Bytes) -> Response<Body> {
    match steer::observe(&control, &Given::of(None, &body)) {
        Ok(_) => moved("/epitome/settings"),
        Err(failure) => failed(&failure),
    }
}

/// Takes a compaction back, as the button on the page of its conversation asks.
pub(super) async fn undo(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    match steer::undo(&control, &id, asked.as_deref()).await {
        Ok(_) => moved(&format!("/epitome/conversations/{id}")),
        Err(failure) => failed(&failure),
    }
}

/// The link that the server prints at its start.
pub(super) async fn login(
    State(control): State<Arc<Control>>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    let_in(&control, &Given::of(asked, &[]))
}

/// The form that asks for the token.
pub(super) async fn log_in(State(control): State<Arc<Control>>, body: Bytes) -> Response<Body> {
    let_in(&control, &Given::of(None, &body))
}

/// Leaves the token in the browser, and goes on to what was asked for.
fn let_in(control: &Control, given: &Given) -> Response<Body> {
    let next = given.member("next").unwrap_or_default();
    let token = given.member("token").unwrap_or_default();
    if !control.token.is(token.trim()) {
        return unauthorised(Some(&next));
    }
    let mut response = moved(own_page(&next).unwrap_or(HOME));
    if let Ok(cookie) = HeaderValue::from_str(&control.token.cookie(control.address)) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// A path that is a page of the dashboard, and cannot be read as anything else. An answer of the API is no page, nor is
/// logging in.
fn own_page(path: &str) -> Option<&str> {
    let is_plain = |letter: char| letter.is_ascii_graphic() && letter != '\\';
    let is_page = path.starts_with(HOME)
        && !path.starts_with("/epitome/v1/")
        && !path.starts_with("/epitome/login")
        && path.chars().all(is_plain)
        && !path.contains("//")
        && !path.contains("/.");
    is_page.then_some(path)
}

/// Somebody without the token: what to do. What was asked for is opened afterwards.
pub(super) fn unauthorised(asked: Option<&str>) -> Response<Body> {
    let shown = json!({ "title": "The dashboard needs its token", "asks_for_token": true, "text":
        "epitome prints a link with it when it starts. Open that link, or paste the token here.",
        "next": asked.and_then(own_page) });
    html(StatusCode::UNAUTHORIZED, "message", &shown)
}

pub(super) async fn asset(Path(name): Path<String>) -> Response<Body> {
    let (kind, text) = match name.as_str() {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "live.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "icon.svg" => ("image/svg+xml", ICON),
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
        "compaction" => chart::sizes(shown),
        _ => String::new(),
    };
    let context = json!({ "shown": shown, "page": name, "chart": chart, "now_ms": now_ms() });
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

#[cfg(test)]
mod tests {
    use super::own_page;

    #[test]
    fn only_pages_of_ours_are_opened_after_logging_in() {
        for good in [
            "/epitome/",
            "/epitome/conversations?q=a%20b",
            "/epitome/compactions/x",
        ] {
            assert_eq!(own_page(good), Some(good));
        }
        for bad in [
            "",
            "/",
            "/v1/models",
            "//evil.example/epitome/",
            "https://evil.example/epitome/",
            "/epitome//evil.example",
            "/epitome/../v1/x",
            "/epitome/\\evil",
            "/epitome/ x",
            "/epitome/v1/overview",
            "/epitome/login?token=x",
            "/epitome/\r\nset-cookie: x",
        ] {
            assert_eq!(own_page(bad), None, "{bad}");
        }
    }
}
