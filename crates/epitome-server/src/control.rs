//! What people and scripts see and steer under `/epitome/`: the control API, and a dashboard over the same answers.
//!
//! - `view`: who may look at what; `answer`: what leaves, with the headers that keep it safe
//! - `api`: the answers, as JSON, `rounds`: those about one compaction, `steer`: what people change; `pages`: the same for people,
//!   rendered here; `live`: what changes, as it changes
//! - `compact`: the library over HTTP
//!
//! A page is an answer of the API put into a template, so that both always say the same.

mod answer;
mod api;
mod chart;
mod compact;
mod live;
mod pages;
mod query;
mod rounds;
mod saying;
mod steer;
mod templates;
mod tenants;
mod view;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::routing::{get, post};
use epitome_store::AnyStore;
use http::{Method, Response};
use tokio_util::sync::CancellationToken;

use crate::proxy::Proxy;
use crate::token::Token;
use answer::Failure;
use view::{Unseen, View};

/// What the handlers share.
#[derive(Debug)]
pub(crate) struct Control {
    proxy: Arc<Proxy>,
    store: Option<Arc<AnyStore>>,
    token: Token,
    address: SocketAddr,
    /// Streams of news end with the server.
    ending: CancellationToken,
}

impl Control {
    pub(crate) fn new(
        proxy: Arc<Proxy>,
        store: Option<Arc<AnyStore>>,
        token: Token,
        address: SocketAddr,
        ending: CancellationToken,
    ) -> Self {
        Self {
            proxy,
            store,
            token,
            address,
            ending,
        }
    }
}

/// Everything under `/epitome`.
pub(crate) fn router(control: Control) -> Router {
    let control = Arc::new(control);
    Router::new()
        .route("/epitome", get(pages::home))
        .route("/epitome/", get(pages::overview))
        .route("/epitome/login", get(pages::login).post(pages::log_in))
        .route("/epitome/conversations", get(pages::conversations))
        .route("/epitome/conversations/{id}", get(pages::conversation))
        .route(
            "/epitome/conversations/{id}/messages/{position}",
            get(pages::message),
        )
        .route("/epitome/conversations/{id}/undo", post(pages::undo))
        .route(
            "/epitome/conversations/{id}/pins/drop",
            post(pages::drop_pin),
        )
        .route(
            "/epitome/conversations/{id}/pins/restore",
            post(pages::restore_pin),
        )
        .route("/epitome/observe", post(pages::observe))
        .route("/epitome/tenant", post(pages::choose_tenant))
        .route("/epitome/compactions/{id}", get(pages::compaction))
        .route("/epitome/recall", get(pages::recall))
        .route("/epitome/settings", get(pages::settings))
        .route("/epitome/assets/{name}", get(pages::asset))
        .route("/epitome/openapi.json", get(api::description))
        .route("/epitome/v1/overview", get(api::get_overview))
        .route("/epitome/v1/jobs", get(api::get_jobs))
        .route("/epitome/v1/events", get(live::events))
        .route("/epitome/v1/tenants", get(tenants::get_tenants))
        .route("/epitome/v1/conversations", get(api::get_conversations))
        .route("/epitome/v1/conversations/{id}", get(api::get_conversation))
        .route(
            "/epitome/v1/conversations/{id}/compactions",
            get(api::get_compactions),
        )
        .route(
            "/epitome/v1/conversations/{id}/recall",
            get(api::get_recall_within),
        )
        .route(
            "/epitome/v1/conversations/{id}/messages/{position}",
            get(api::get_message),
        )
        .route("/epitome/v1/conversations/{id}/pins", get(api::get_pins))
        .route(
            "/epitome/v1/conversations/{id}/pins/drop",
            post(steer::post_drop),
        )
        .route(
            "/epitome/v1/conversations/{id}/pins/restore",
            post(steer::post_restore),
        )
        .route(
            "/epitome/v1/conversations/{id}/undo",
            post(steer::post_undo),
        )
        .route("/epitome/v1/settings", get(api::get_settings))
        .route("/epitome/v1/observe", post(steer::post_observe))
        .route("/epitome/v1/compactions/{id}", get(api::get_compaction))
        .route("/epitome/v1/recall", get(api::get_recall))
        .route("/epitome/v1/models", get(api::get_models))
        .route("/epitome/v1/compact", post(compact::post_compact))
        .with_state(Arc::clone(&control))
        .layer(from_fn_with_state(control, check))
}

/// Lets through who has the token. What needs none tells nothing about conversations.
async fn check(
    State(control): State<Arc<Control>>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let path = request.uri().path();
    let is_open = path == "/epitome/login"
        || path.starts_with("/epitome/assets/")
        || (request.method() == Method::POST
            && path == "/epitome/v1/compact"
            && control.address.ip().is_loopback());
    let unseen = match View::of(&control, &request) {
        Ok(view) => {
            request.extensions_mut().insert(view);
            None
        }
        Err(unseen) => Some(unseen),
    };
    if is_open || unseen.is_none() {
        return answer::guarded(next.run(request).await);
    }
    if unseen == Some(Unseen::NoTenant) {
        let failure = Failure::NotFound("there is no tenant with this name".to_owned());
        return answer::guarded(answer::json(Err(failure)));
    }
    let path = request.uri().path();
    let is_for_programs = path.starts_with("/epitome/v1/") || path == "/epitome/openapi.json";
    answer::guarded(match is_for_programs {
        true => answer::unauthorised(),
        false => pages::unauthorised(request.uri().path_and_query().map(|path| path.as_str())),
    })
}
