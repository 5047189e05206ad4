//! The library over HTTP: a conversation and what is wanted of it in, what `compact --json` prints out. Nothing is stored.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes, to_bytes};
use axum::extract::{Request, State};
use epitome::settings::Settings;
use epitome::{Message, Meter, PresetName, Window, window_of};
use epitome_engine::once::{Ask, CompactObject, Count, Given, When, log_of};
use epitome_wire::{Body, Wire, decode, detect};
use http::{Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Control;
use super::answer::{self, Failure};
use crate::clock::timed;

/// What may be asked for. The names are those of the flags of `epitome compact`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked<'a> {
    /// A request body, or a list of messages.
    #[serde(borrow)]
    conversation: &'a RawValue,
    format: Option<String>,
    preset: Option<String>,
    window: Option<u64>,
    model: Option<String>,
    budget: Option<u64>,
    count: Option<String>,
    focus: Option<String>,
    #[serde(default)]
    auto: bool,
}

pub(super) async fn post_compact(
    State(control): State<Arc<Control>>,
    request: Request,
) -> Response<HttpBody> {
    let limit = control.proxy.inspection_limit_bytes;
    let Ok(bytes) = to_bytes(request.into_body(), limit).await else {
        let message = format!("the request is not whole, or above {limit} bytes");
        return answer::json(Err(Failure::Wrong(message)));
    };
    // It takes as long as a conversation is large: others do not wait for it.
    let done = tokio::task::spawn_blocking(move || compacted(&bytes)).await;
    match done {
        Ok(Ok(body)) => answer::of(StatusCode::OK, "application/json", body),
        Ok(Err(failure)) => answer::json(Err(failure)),
        Err(_) => answer::json(Err(Failure::Refused("the server is ending".to_owned()))),
    }
}

fn compacted(bytes: &Bytes) -> Result<String, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::Wrong(error.to_string());
    let asked: Asked<'_> = serde_json::from_slice(bytes).map_err(|error| wrong(&error))?;
    let settings = Settings::of(match &asked.preset {
        Some(name) => name.parse::<PresetName>().map_err(|error| wrong(&error))?,
        None => PresetName::default(),
    });
    let body = detect(
        &bytes.slice_ref(asked.conversation.get().as_bytes()),
        wire(asked.format.as_deref())?,
    );
    let body = body.map_err(|error| wrong(&error))?.body;
    let messages = messages(&body)?;
    let window = asked.window.map(Window::configured);
    let window = window.or_else(|| asked.model.as_deref().and_then(window_of));
    let ask = Ask {
        settings: &settings,
        window: window.unwrap_or_else(|| settings.design().assumed_window),
        budget_tokens: asked.budget,
        count: count(asked.count.as_deref())?,
        when: match asked.auto {
            true => When::Due,
            false => When::Now,
        },
        focus: asked.focus.as_deref(),
    };
    let log = log_of(&messages, ask.count.meter());
    let given = Given {
        messages: &messages,
        log: &log,
        body: Some(&body),
    };
    let object = object(&ask, given, &body)?;
    serde_json::to_string(&object).map_err(|error| wrong(&error))
}

fn object(ask: &Ask<'_>, given: Given<'_>, body: &Body) -> Result<CompactObject, Failure> {
    let (outcome, elapsed) = timed(|| {
        let plan = ask.plan(given)?;
        ask.carry_out(plan, given)
    });
    let broken = |error: &dyn std::fmt::Display| {
        Failure::Refused(format!("the result cannot be written: {error}"))
    };
    let told = |elapsed: Duration| {
        let design = ask.settings.design();
        CompactObject::of(
            body.wire().as_str(),
            design,
            given,
            outcome.as_ref(),
            elapsed,
        )
    };
    let Ok(compaction) = &outcome else {
        let told = told(elapsed).with_messages(body);
        return told.map_err(|error| broken(&error));
    };
    let view = compaction.view(given.log.len());
    let rendered = body.render(&view, &compaction.summary.text);
    let rendered = rendered.map_err(|error| broken(&error))?.into_bytes();
    let rendered = detect(&rendered, Some(body.wire())).map_err(|error| broken(&error))?;
    let told = told(elapsed).with_messages(&rendered.body);
    told.map_err(|error| broken(&error))
}

fn messages(body: &Body) -> Result<Vec<Message>, Failure> {
    let read = (0..body.len()).map(|index| {
        let at = |error: &dyn std::fmt::Display| {
            Failure::Wrong(format!("message {}: {error}", index + 1))
        };
        let value = body.read(index).map_err(|error| at(&error))?;
        let decoded = decode(body.wire(), &value).map_err(|error| at(&error))?;
        Ok(decoded.message)
    });
    read.collect()
}

fn wire(format: Option<&str>) -> Result<Option<Wire>, Failure> {
    let Some(format) = format.filter(|format| *format != "auto") else {
        return Ok(None);
    };
    let found = Wire::ALL.iter().find(|wire| wire.as_str() == format);
    let names: Vec<&str> = Wire::ALL.iter().map(|wire| wire.as_str()).collect();
    let unknown = || {
        let names = names.join(", ");
        Failure::Wrong(format!("`{format}` is no format: use auto, {names}"))
    };
    found.copied().map(Some).ok_or_else(unknown)
}

fn count(name: Option<&str>) -> Result<Count, Failure> {
    Ok(match name {
        None | Some("auto") => Count::AsTheDesign,
        Some("chars4") => Count::By(Meter::Chars4),
        Some("o200k") => Count::By(Meter::O200k),
        Some("cl100k") => Count::By(Meter::Cl100k),
        Some(other) => {
            let message = format!("`{other}` is no count: use auto, chars4, o200k or cl100k");
            return Err(Failure::Wrong(message));
        }
    })
}
