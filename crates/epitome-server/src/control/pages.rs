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
use super::view::{View, choice_name};
use super::{Control, api, chart, query, rounds};
use crate::clock::now_ms;
use crate::token::{cookie, cookie_name};

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

pub(super) async fn overview(control: View) -> Response<Body> {
    page(&control, "overview", api::overview(&control).await)
}

pub(super) async fn conversations(control: View, RawQuery(asked): RawQuery) -> Response<Body> {
    page(
        &control,
        "conversations",
        api::conversations(&control, asked.as_deref()).await,
    )
}

pub(super) async fn conversation(control: View, Path(id): Path<String>) -> Response<Body> {
    page(
        &control,
        "conversation",
        api::conversation(&control, &id).await,
    )
}

pub(super) async fn compaction(control: View, Path(id): Path<String>) -> Response<Body> {
    let mut shown = rounds::compaction(&control, &id).await;
    if let Ok(Value::Object(members)) = &mut shown {
        let record = members.get("record").filter(|record| !record.is_null());
        let text = record.and_then(|record| serde_json::to_string_pretty(record).ok());
        let text = text.unwrap_or_else(|| "nothing is kept of it".to_owned());
        members.insert("record_text".to_owned(), text.into());
    }
    page(&control, "compaction", shown)
}

pub(super) async fn recall(control: View, RawQuery(asked): RawQuery) -> Response<Body> {
    let words = query::member(asked.as_deref(), "q").unwrap_or_default();
    page(
        &control,
        "recall",
        match words.trim() {
            "" => Ok(json!({ "query": "", "hits": [] })),
            _ => api::recall(&control, None, asked.as_deref()).await,
        },
    )
}

pub(super) async fn settings(control: View) -> Response<Body> {
    page(&control, "settings", api::settings(&control).await)
}

pub(super) async fn message(
    control: View,
    Path((id, position)): Path<(String, String)>,
) -> Response<Body> {
    page(
        &control,
        "entry",
        api::message(&control, &id, &position).await,
    )
}

pub(super) async fn drop_pin(control: View, Path(id): Path<String>, body: Bytes) -> Response<Body> {
    mark(&control, &id, &body, PinMark::Dropped).await
}

pub(super) async fn restore_pin(
    control: View,
    Path(id): Path<String>,
    body: Bytes,
) -> Response<Body> {
    mark(&control, &id, &body, PinMark::Restored).await
}

async fn mark(control: &View, id: &str, body: &[u8], mark: PinMark) -> Response<Body> {
    match steer::mark(control, id, &Given::of(None, body), mark).await {
        Ok(_) => moved(&format!("/epitome/conversations/{id}#pins")),
        Err(failure) => failed(&failure),
    }
}

pub(super) async fn observe(control: View, body: Bytes) -> Response<Body> {
    match steer::observe(&control, &Given::of(None, &body)) {
        Ok(_) => moved("/epitome/settings"),
        Err(failure) => failed(&failure),
    }
}

/// Takes a compaction back, as the button on the page of its conversation asks.
pub(super) async fn undo(
    control: View,
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

/// Leaves in the browser what tells who looks, and goes on to what was asked for.
fn let_in(control: &Control, given: &Given) -> Response<Body> {
    let next = given.member("next").unwrap_or_default();
    let token = given.member("token").unwrap_or_default();
    let (token, secret) = (token.trim(), control.token.as_str());
    let left = match control.token.is(token) {
        true => Some(control.token.cookie(control.address)),
        false => {
            let session = control.proxy.register().session(token, secret);
            session.map(|session| cookie(&cookie_name(control.address), &session))
        }
    };
    let Some(left) = left else {
        return unauthorised(Some(&next));
    };
    leaving(moved(own_page(&next).unwrap_or(HOME)), &left)
}

/// The operator looks at another tenant from now on.
pub(super) async fn choose_tenant(
    State(control): State<Arc<Control>>,
    view: View,
    body: Bytes,
) -> Response<Body> {
    let name = Given::of(None, &body).member("tenant").unwrap_or_default();
    if !view
        .tenants()
        .iter()
        .any(|tenant| tenant.id.as_str() == name)
    {
        return failed(&Failure::NotFound(
            "there is no tenant with this name".to_owned(),
        ));
    }
    leaving(moved(HOME), &cookie(&choice_name(&control), &name))
}

fn leaving(mut response: Response<Body>, cookie: &str) -> Response<Body> {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
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
    html(StatusCode::UNAUTHORIZED, "message", &shown, None)
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

fn page(view: &View, name: &str, shown: Result<Value, Failure>) -> Response<Body> {
    match shown {
        Ok(shown) => html(StatusCode::OK, name, &shown, Some(view)),
        Err(failure) => failed(&failure),
    }
}

fn failed(failure: &Failure) -> Response<Body> {
    let shown = json!({ "title": "This cannot be shown", "text": failure.message() });
    html(failure.status(), "message", &shown, None)
}

fn html(status: StatusCode, name: &str, shown: &Value, view: Option<&View>) -> Response<Body> {
    // The picture is made of numbers only; everything else is escaped by the template.
    let chart = match name {
        "conversation" => chart::growth(shown),
        "compaction" => chart::sizes(shown),
        _ => String::new(),
    };
    let viewer = view.map(viewer_object);
    let context = json!({
        "shown": shown, "page": name, "chart": chart, "now_ms": now_ms(), "viewer": viewer,
    });
    match render(&format!("{name}.html"), &context) {
        Ok(text) => answer::of(status, HTML, text),
        Err(error) => {
            tracing::error!(%error, name, "a page cannot be rendered");
            let text = "this page cannot be shown; the log says why";
            answer::of(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", text)
        }
    }
}

/// Who looks, and at whom, where there is more than one to look at.
fn viewer_object(view: &View) -> Value {
    let tells_apart = view.proxy.register().tells_apart();
    let tenants = view.tenants();
    let others: Vec<&str> = tenants.iter().map(|tenant| tenant.id.as_str()).collect();
    json!({
        "is_operator": view.is_operators(),
        "tenant": tells_apart.then_some(view.tenant.id.as_str()),
        "tenants": others,
    })
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
