//! What people change: taking a compaction back, dropping a pin, only watching.

use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery};
use epitome_engine::archive::{self, Regardless, Undo};
use epitome_store::PinMark;
use http::Response;
use serde_json::{Value, json};

use super::answer::{self, Failure};
use super::api::{is_watching, known, no_conversation, store};
use super::query;
use super::view::View;
use crate::clock::now_ms;
use crate::config::Mode;

pub(super) async fn post_undo(
    control: View,
    Path(id): Path<String>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    answer::json(undo(&control, &id, asked.as_deref()).await)
}

pub(super) async fn post_drop(
    control: View,
    Path(id): Path<String>,
    RawQuery(asked): RawQuery,
    body: Bytes,
) -> Response<Body> {
    let given = Given::of(asked, &body);
    answer::json(mark(&control, &id, &given, PinMark::Dropped).await)
}

pub(super) async fn post_restore(
    control: View,
    Path(id): Path<String>,
    RawQuery(asked): RawQuery,
    body: Bytes,
) -> Response<Body> {
    let given = Given::of(asked, &body);
    answer::json(mark(&control, &id, &given, PinMark::Restored).await)
}

pub(super) async fn post_observe(
    control: View,
    RawQuery(asked): RawQuery,
    body: Bytes,
) -> Response<Body> {
    answer::json(observe(&control, &Given::of(asked, &body)))
}

/// What a request gives: in a form, or behind the question mark.
pub(super) struct Given {
    query: Option<String>,
    form: String,
}

impl Given {
    pub(super) fn of(query: Option<String>, body: &[u8]) -> Self {
        Self {
            query,
            form: String::from_utf8_lossy(body).into_owned(),
        }
    }

    pub(super) fn member(&self, name: &str) -> Option<String> {
        query::member(Some(&self.form), name).or_else(|| query::member(self.query.as_deref(), name))
    }
}

/// Takes the newest compaction back; with `force=1` also where the conversation may not fit without it.
pub(super) async fn undo(control: &View, id: &str, asked: Option<&str>) -> Result<Value, Failure> {
    let id = known(id)?;
    let regardless = match query::number(asked, "force") {
        Some(1) => Regardless::OfSize,
        _ => Regardless::No,
    };
    let undo = archive::undo(
        store(control)?,
        &control.tenant.id,
        &id,
        regardless,
        now_ms(),
    )
    .await?;
    Err(Failure::Refused(match undo {
        Undo::Done(undone) => {
            return Ok(json!({
                "session": id.as_str(),
                "undone": undone.id,
                "tokens_before": undone.tokens_before,
                "tokens_after": undone.tokens_after,
            }));
        }
        Undo::UnknownConversation => return Err(no_conversation(&id)),
        Undo::NothingInForce => format!("no compaction of {id} is in force"),
        Undo::DoesNotFit {
            id,
            tokens,
            allowed_tokens,
        } => format!(
            "without {id} the conversation takes {tokens} tokens, and {allowed_tokens} are allowed; undo it all the same with force=1"
        ),
        Undo::Unreadable(error) => format!(
            "{error}; whether the conversation fits without it is not known; undo it all the same with force=1"
        ),
    }))
}

/// Says of a pin, by its words in `text`, that it is none, or that it is one after all.
pub(super) async fn mark(
    control: &View,
    id: &str,
    given: &Given,
    mark: PinMark,
) -> Result<Value, Failure> {
    let store = store(control)?;
    let id = known(id)?;
    let Some(text) = given.member("text").filter(|text| !text.trim().is_empty()) else {
        let wrong = "which one? text=WORDS, word for word as the list of pins has it";
        return Err(Failure::Wrong(wrong.to_owned()));
    };
    let list = archive::pins(store, &control.tenant.id, &id).await?;
    let list = list.ok_or_else(|| no_conversation(&id))?;
    // Browsers send line ends of forms in a way of their own.
    let plain = |text: &str| text.replace("\r\n", "\n").trim().to_owned();
    let wanted = plain(&text);
    let found = list.pins.iter().find(|pin| plain(&pin.text) == wanted);
    let found = found.filter(|pin| mark == PinMark::Dropped || pin.is_dropped());
    let found = found.ok_or_else(|| {
        Failure::NotFound(format!(
            "{id} has no pin with these words to be {}",
            mark.as_str()
        ))
    })?;
    archive::mark_pin(store, &control.tenant.id, &id, found, mark, now_ms()).await?;
    Ok(json!({ "session": id.as_str(), mark.as_str(): found.text }))
}

/// Only watches (`on=1`) or acts (`on=0`) from the next request on, until the configuration changes or the server ends.
pub(super) fn observe(control: &View, given: &Given) -> Result<Value, Failure> {
    let mode = match given.member("on").as_deref() {
        Some("1") => Mode::Observe,
        Some("0") => Mode::Act,
        _ => return Err(Failure::Wrong("on=1 or on=0?".to_owned())),
    };
    if !control.is_operators() {
        return Err(Failure::OperatorsOnly);
    }
    control.proxy.switch(mode);
    let observe = is_watching(control);
    tracing::info!(observe, "switched on the dashboard");
    Ok(json!({ "observe": observe }))
}
