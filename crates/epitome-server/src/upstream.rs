//! The way to the provider.

use std::collections::VecDeque;
use std::error::Error;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use epitome_engine::model::https_connector;
use http::header::{CONNECTION, HOST, HeaderMap, HeaderName};
use http::{Method, Request, Response, Uri, Version};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{HttpConnector, HttpInfo};
use hyper_util::rt::TokioExecutor;

/// Headers that are between a client and this proxy.
const OURS: &str = "x-epitome-";

/// Headers that belong to one connection, not to the message.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// So many connections are remembered as ones that have answered: more than a pool keeps.
const REMEMBERED: usize = 512;

/// A pool of connections to providers.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    /// The near ends of connections that have answered before, the newest last.
    used: Arc<Mutex<VecDeque<SocketAddr>>>,
}

/// A request on its way to the provider: everything but its body.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    pub(crate) base: &'a Uri,
    pub(crate) method: Method,
    /// It always begins with `/v1/`.
    pub(crate) path_and_query: &'a str,
    pub(crate) headers: HeaderMap,
}

/// What is left of a request that was not answered.
struct Failed {
    error: UpstreamError,
    /// Whether it went out on a connection from the pool that turned out to be dead.
    was_dead: bool,
}

/// Why no answer came. Says nothing about addresses or keys: it goes to the client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpstreamError {
    #[error("the upstream address and the request path do not make a valid address")]
    Address,
    #[error("the upstream could not be reached")]
    Unreachable,
    #[error("the upstream closed the connection before it answered")]
    Broken,
}

impl Upstream {
    pub(crate) fn new() -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(Duration::from_secs(60))
            .build(https_connector());
        Self {
            client,
            used: Arc::default(),
        }
    }

    /// Sends a request on whose body is not all here. Everything but the connection's own headers goes along, query
    /// included.
    pub(crate) async fn stream(
        &self,
        head: Head<'_>,
        body: Body,
    ) -> Result<Response<Incoming>, UpstreamError> {
        self.send(head, body).await.map_err(|failed| failed.error)
    }

    /// Sends a whole request on. Servers close connections that nobody uses, and may do so just when one is taken from
    /// the pool: then it is sent once more.
    pub(crate) async fn whole<'h>(
        &self,
        head: impl Fn() -> Head<'h>,
        bytes: &Bytes,
    ) -> Result<Response<Incoming>, UpstreamError> {
        match self.send(head(), Body::from(bytes.clone())).await {
            Err(failed) if failed.was_dead => {
                tracing::info!("a pooled connection was dead; the request is sent once more");
                self.stream(head(), Body::from(bytes.clone())).await
            }
            answer => answer.map_err(|failed| failed.error),
        }
    }

    async fn send(&self, head: Head<'_>, body: Body) -> Result<Response<Incoming>, Failed> {
        let uri = join(head.base, head.path_and_query).ok_or(Failed {
            error: UpstreamError::Address,
            was_dead: false,
        })?;
        let mut request = Request::new(body);
        *request.method_mut() = head.method;
        *request.uri_mut() = uri;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = head.headers;
        match self.client.request(request).await {
            Ok(answer) => {
                self.remember(answer.extensions().get::<HttpInfo>());
                Ok(answer)
            }
            Err(error) => {
                tracing::warn!(%error, source = ?error.source(), "upstream failed");
                let kind = match error.is_connect() {
                    true => UpstreamError::Unreachable,
                    false => UpstreamError::Broken,
                };
                Err(Failed {
                    was_dead: was_closed(&error) && self.forget(&error),
                    error: kind,
                })
            }
        }
    }

    /// A connection has answered.
    fn remember(&self, info: Option<&HttpInfo>) {
        let Some(near) = info.map(HttpInfo::local_addr) else {
            return;
        };
        let mut used = self.used();
        if !used.contains(&near) {
            used.push_back(near);
            if used.len() > REMEMBERED {
                used.pop_front();
            }
        }
    }

    /// Forgets the connection of a failure; says whether it had answered before.
    fn forget(&self, error: &hyper_util::client::legacy::Error) -> bool {
        let mut extras = http::Extensions::new();
        if let Some(connected) = error.connect_info() {
            connected.get_extras(&mut extras);
        }
        let near = extras.get::<HttpInfo>().map(HttpInfo::local_addr);
        let mut used = self.used();
        let found = used.iter().position(|known| Some(*known) == near);
        found.is_some_and(|at| used.remove(at).is_some())
    }

    fn used(&self) -> MutexGuard<'_, VecDeque<SocketAddr>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the other side closed a connection before it said anything.
fn was_closed(error: &hyper_util::client::legacy::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        let by_http = error.downcast_ref::<hyper::Error>().is_some_and(|error| {
            error.is_incomplete_message() || error.is_canceled() || error.is_closed()
        });
        let by_system = error.downcast_ref::<std::io::Error>().is_some_and(|error| {
            matches!(
                error.kind(),
                ErrorKind::ConnectionReset
                    | ErrorKind::ConnectionAborted
                    | ErrorKind::BrokenPipe
                    | ErrorKind::UnexpectedEof
            )
        });
        if by_http || by_system {
            return true;
        }
        cause = error.source();
    }
    false
}

/// `base` may or may not end in `/v1`; the request's path always begins with it.
fn join(base: &Uri, path_and_query: &str) -> Option<Uri> {
    let prefix = base.path().trim_end_matches('/');
    let prefix = match prefix.strip_suffix("/v1") {
        Some(shorter) if path_and_query.starts_with("/v1/") => shorter,
        _ => prefix,
    };
    Uri::builder()
        .scheme(base.scheme_str()?)
        .authority(base.authority()?.as_str())
        .path_and_query(format!("{prefix}{path_and_query}"))
        .build()
        .ok()
}

/// The headers that go on to the next hop, in their order.
pub(crate) fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let mut out = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let is_hop = HOP_BY_HOP.contains(&name.as_str()) || named.contains(name);
        let is_ours = name.as_str().starts_with(OURS);
        if !is_hop && !is_ours && name != HOST {
            out.append(name.clone(), value.clone());
        }
    }
    out
}
