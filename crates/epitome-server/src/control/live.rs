//! What changes, told as it changes: server-sent events with the figures of the overview.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use futures_util::stream;
use http::{Request, Response, StatusCode};
use serde_json::Value;

use super::view::View;
use super::{Control, answer, api};
use crate::clock::sleep;

/// How often it is looked whether anything changed.
const LOOK: Duration = Duration::from_secs(1);
/// After so many looks without news something is sent all the same, so that connections that died are noticed.
const QUIET_LOOKS: u32 = 15;

/// What a stream remembers.
struct Told {
    control: Arc<Control>,
    view: View,
    /// Who looks has to be let in again and again: his key may be withdrawn.
    request: Request<()>,
    last: Option<Value>,
}

pub(super) async fn events(
    State(control): State<Arc<Control>>,
    view: View,
    request: Request<Body>,
) -> Response<Body> {
    let told = Told {
        control,
        view,
        request: request.map(drop),
        last: None,
    };
    let events = stream::unfold(told, next);
    answer::of(
        StatusCode::OK,
        "text/event-stream",
        Body::from_stream(events),
    )
}

async fn next(mut told: Told) -> Option<(Result<Bytes, std::convert::Infallible>, Told)> {
    for _ in 0..QUIET_LOOKS {
        let seen = View::of(&told.control, &told.request).ok()?;
        if !Arc::ptr_eq(&seen.tenant, &told.view.tenant) {
            return None;
        }
        let figures = api::figures(&told.view);
        if told.last.as_ref() != Some(&figures) {
            let event = format!("event: figures\ndata: {figures}\n\n");
            told.last = Some(figures);
            return Some((Ok(Bytes::from(event)), told));
        }
        let ending = told.view.ending.clone();
        tokio::select! {
            () = ending.cancelled() => return None,
            () = sleep(LOOK) => {}
        }
    }
    Some((Ok(Bytes::from_static(b": nothing new\n\n")), told))
}
