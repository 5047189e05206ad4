//! A server from start to graceful end.

use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, RwLock, Weak};
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{any, get};
use epitome_store::{AnyStore, Keys};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access;
use crate::address::bare;
use crate::clock;
use crate::config::{Config, ShownSetting, StartError, StoreLocation};
use crate::control::{self, Control};
use crate::journal::Closing;
use crate::keeper::Action;
use crate::neighbours::{self, Hosts, Own, is_own_address};
use crate::open_store::OpenStore;
use crate::proxy::{self, Proxy, Unpacking};
use crate::serving::{self, Peers};
use crate::status::{self, Status};
use crate::tally::{Reached, Totals};
use crate::tenants::{Founder, fresh_secret};
use crate::token::Token;
use crate::upstream::Upstream;

/// How long background work may go on after the last answer.
const DRAIN: Duration = Duration::from_secs(5);
/// How long it may take to hand back what did not end.
const HAND_BACK: Duration = Duration::from_secs(2);

/// A server that listens already and serves once [`Server::run`] is called.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    proxy: Arc<Proxy>,
    store: Option<Arc<AnyStore>>,
    token: Token,
    tasks: TaskTracker,
    closing: Closing,
}

impl Server {
    /// Opens the store and the port.
    ///
    /// # Errors
    /// [`StartError`] says what to change. A store that can only be read is no reason not to start: requests
    /// go through, and the failures are counted.
    pub async fn bind(config: Config) -> Result<Self, StartError> {
        config.check()?;
        let open = open(&config.store).await?.map(OpenStore::new);
        let tasks = TaskTracker::new();
        let lent = open.as_ref().map(OpenStore::lent).unwrap_or_default();
        let founder = Founder::new(lent, tasks.clone());
        let register = founder.register(&config, &[]).await;
        let closing = founder.closing();
        let listener = TcpListener::bind(config.listen).await;
        let listener = listener.map_err(|source| StartError::Listen {
            address: config.listen,
            source,
        })?;
        let address = listener.local_addr().unwrap_or(config.listen);
        for upstream in [&config.openai_upstream, &config.anthropic_upstream] {
            let own = upstream
                .as_ref()
                .filter(|upstream| is_own_address(upstream, address));
            if let Some(upstream) = own {
                return Err(StartError::OwnUpstream(upstream.clone()));
            }
        }
        let names = config.tenants.hosts.as_slice().into();
        let hosts = match (
            config.listen.ip().is_loopback(),
            config.tenants.hosts.as_slice(),
        ) {
            (true, _) => Hosts::Named(names),
            (false, []) => Hosts::Any,
            (false, _) => Hosts::NamedOrAddress(names),
        };
        let proxy = Proxy {
            register: RwLock::new(Arc::new(register)),
            founder,
            upstream: Upstream::new(),
            openai: config.openai_upstream.as_ref().map(without_user),
            anthropic: config.anthropic_upstream.as_ref().map(without_user),
            inspection_limit_bytes: config.inspection_limit_bytes,
            reached: Reached::default(),
            strangers: AtomicU64::new(0),
            shown: RwLock::default(),
            unpacking: Unpacking::new(),
            own: Own::new(*fresh_secret().first_chunk().unwrap_or(&[0; 8]), hosts),
        };
        Ok(Self {
            listener,
            address,
            proxy: Arc::new(proxy),
            store: open.map(|open| Arc::clone(open.store())),
            token: Token::of(&fresh_secret()),
            tasks,
            closing,
        })
    }

    /// The token that opens the dashboard and the control API; a fresh one for every start unless one was chosen.
    #[must_use]
    pub fn token(&self) -> &str {
        self.token.as_str()
    }

    /// Opens the dashboard and the control API with a token that the user chose.
    #[must_use]
    pub fn with_token(mut self, token: String) -> Self {
        self.token = Token::chosen(token);
        self
    }

    /// Shows these settings on the dashboard, with where each comes from.
    #[must_use]
    pub fn with_settings(self, settings: Vec<ShownSetting>) -> Self {
        self.proxy.show(settings);
        self
    }

    /// Where it listens; the port is the real one where port 0 was asked for.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What changes its settings while it runs.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        Reloader {
            proxy: Arc::downgrade(&self.proxy),
        }
    }

    /// Serves until `shutdown` is done, then lets running answers and writes finish. Connections without a whole request do
    /// not hold it up.
    ///
    /// # Errors
    /// None for now: where the system has no room for connections it is asked again.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let ending = CancellationToken::new();
        let status = Router::new()
            .route("/healthz", get(status::health))
            .route("/readyz", get(status::ready))
            .route("/metrics", get(status::metrics))
            .with_state(Status::new(
                Arc::clone(&self.proxy),
                self.token.clone(),
                self.address,
            ));
        let control = control::router(Control::new(
            Arc::clone(&self.proxy),
            self.store,
            self.token,
            self.address,
            ending.clone(),
        ));
        let router = Router::new()
            .route("/v1/{*path}", any(proxy::handle))
            .with_state(Arc::clone(&self.proxy))
            .merge(status)
            .merge(control)
            .fallback(nothing_here)
            .layer(from_fn_with_state(
                self.proxy.own.clone(),
                neighbours::check,
            ))
            .layer(from_fn(access::log));
        let shutdown = async move {
            shutdown.await;
            ending.cancel();
        };
        let peers = match self.proxy.register().tells_apart() {
            true => Peers::Told,
            false => Peers::Untold,
        };
        serving::serve(self.listener, router, peers, shutdown).await;
        drop(self.proxy);
        self.tasks.close();
        self.closing.begin_nothing();
        if clock::within(DRAIN, self.tasks.wait()).await.is_ok() {
            return Ok(());
        }
        self.closing.hand_back();
        if clock::within(HAND_BACK, self.tasks.wait()).await.is_err() {
            tracing::warn!("background work did not end in time; the next request makes up for it");
        }
        Ok(())
    }
}

/// What a server did with requests since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// All that came.
    pub requests: u64,
    /// Those that were shortened.
    pub shortened: u64,
    /// What the shortened ones took as they came.
    pub tokens_before: u64,
    /// What they took as they went out.
    pub tokens_after: u64,
}

/// Changes the settings of a running server, and says what it did.
#[derive(Clone, Debug)]
pub struct Reloader {
    /// Weak, so that a server ends when it is told to.
    proxy: Weak<Proxy>,
}

impl Reloader {
    /// What was done so far; `None` once the server has ended.
    #[must_use]
    pub fn figures(&self) -> Option<Figures> {
        let proxy = self.proxy.upgrade()?;
        let register = proxy.register();
        let totals = Totals::of(register.all().iter().map(|tenant| &*tenant.tally));
        let counts = totals.by_reason();
        let (tokens_before, tokens_after) = totals.tokens;
        let shortened = counts
            .iter()
            .filter(|(action, ..)| *action == Action::Compacted);
        Some(Figures {
            requests: counts.iter().map(|(.., count)| count).sum(),
            shortened: shortened.map(|(.., count)| count).sum(),
            tokens_before,
            tokens_after,
        })
    }

    /// From the next request on: design and its settings, windows, summariser, tenants, and whether it only watches. Where it
    /// listens, where it sends and where it keeps conversations stays until a restart.
    ///
    /// # Errors
    /// What is wrong with the tenants. They stay as they were, and so does everything else.
    pub async fn reload(
        &self,
        config: &Config,
        settings: Vec<ShownSetting>,
    ) -> Result<(), StartError> {
        config.tenants.check()?;
        if let Some(proxy) = self.proxy.upgrade() {
            proxy.reconfigure(config).await?;
            proxy.show(settings);
        }
        Ok(())
    }
}

/// Only `/v1/` belongs to providers; nothing else is sent to them, least of all with the client's key.
async fn nothing_here() -> impl IntoResponse {
    let body = serde_json::json!({"error": {"message": "not found: providers' APIs are under /v1/, the dashboard under /epitome/", "type": "not_found"}});
    (
        http::StatusCode::NOT_FOUND,
        [
            ("content-type", "application/json"),
            ("x-epitome-action", "passthrough"),
            ("x-epitome-reason", "not_found"),
        ],
        body.to_string(),
    )
}

/// Where requests go. Providers take keys in headers, which clients send; what stands in an address is kept nowhere.
fn without_user(upstream: &http::Uri) -> http::Uri {
    let bare = bare(upstream);
    if bare != *upstream {
        tracing::warn!(upstream = %bare, "user and password in an upstream address are not sent: clients send their keys");
    }
    bare
}

async fn open(location: &StoreLocation) -> Result<Option<Arc<AnyStore>>, StartError> {
    let (url, keys) = match location {
        StoreLocation::None => return Ok(None),
        StoreLocation::Url(url) => (url, Keys::none()),
        StoreLocation::Encrypted { url, keys } => (url, keys.clone()),
    };
    let store = AnyStore::open_with(url, &keys).await;
    let store = store.map_err(|source| StartError::Store {
        location: url.clone(),
        source,
    })?;
    Ok(Some(Arc::new(store)))
}
