//! The way to the provider.

use std::time::Duration;

use axum::body::Body;
use epitome_engine::model::https_connector;
use http::header::{CONNECTION, HOST, HeaderMap, HeaderName};
use http::{Method, Request, Response, Uri, Version};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
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

/// A pool of connections to providers.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, Body>,
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
        Self { client }
    }

    /// Sends a request on. Everything but the connection's own headers goes along, query included.
    pub(crate) async fn send(
        &self,
        base: &Uri,
        method: Method,
        path_and_query: &str,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let uri = join(base, path_and_query).ok_or(UpstreamError::Address)?;
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = headers;
        self.client.request(request).await.map_err(|error| {
            tracing::warn!(%error, source = ?std::error::Error::source(&error), "upstream failed");
            if error.is_connect() {
                UpstreamError::Unreachable
            } else {
                UpstreamError::Broken
            }
        })
    }
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
