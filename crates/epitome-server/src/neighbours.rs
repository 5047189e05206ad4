//! Who may speak to a proxy on this machine: programs of its user, not the web pages that he has open.
//!
//! A page can send requests to an address on this machine, and with a name that resolves to it (rebinding) it could read
//! the answers. What a browser says about such requests (`Origin`, `Sec-Fetch-Site`) and the name that was used
//! (`Host`) tell them apart; pages cannot forge any of these. A proxy with TLS in front has a name of its own, which the
//! settings say. Requests that come back to where they were sent from are known by `Via`, which is only sent to upstreams on
//! this machine: providers get no header that the client did not send. A path that climbs (`/v1/../admin`) is refused too: only `/v1/` belongs to providers.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use http::header::{HOST, ORIGIN, VIA};
use http::{HeaderMap, HeaderValue, Response, StatusCode, Uri};

use crate::config::HostName;
use crate::shape;

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stranger {
    /// It was sent to a name that is not this machine's.
    ForeignHost,
    /// A page of another origin sent it.
    ForeignPage,
    /// It was here before.
    Loop,
    /// Its path climbs: who resolves it would end up somewhere else than it says.
    Climbing,
}

/// Lets through what comes from neighbours.
pub(crate) async fn check(State(own): State<Own>, request: Request, next: Next) -> Response<Body> {
    let Some(stranger) = stranger(request.uri(), request.headers(), &own) else {
        return next.run(request).await;
    };
    let path = request.uri().path();
    tracing::warn!(?stranger, path, "a request is refused");
    let (status, code, message) = match stranger {
        Stranger::ForeignHost => (
            StatusCode::FORBIDDEN,
            "foreign_host",
            "this proxy answers to localhost, loopback addresses and the names in server.hosts only",
        ),
        Stranger::ForeignPage => (
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "this proxy serves no web pages of other origins",
        ),
        Stranger::Loop => (
            StatusCode::LOOP_DETECTED,
            "loop",
            "the upstream of this proxy leads back to it; set --openai-upstream and --anthropic-upstream to the provider",
        ),
        Stranger::Climbing => (
            StatusCode::BAD_REQUEST,
            "dot_segments",
            "a path with `.` or `..` between its slashes is not sent on",
        ),
    };
    let wire = shape::provider(path, request.headers());
    shape::error(wire, status, code, message)
}

/// By what a proxy knows its own requests, and what it may be called.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    mark: String,
    hosts: Hosts,
}

/// The names that a proxy answers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// Those of this machine, and these.
    Named(Arc<[HostName]>),
    /// The same, and addresses: a page can take a name for another machine's, but no address.
    NamedOrAddress(Arc<[HostName]>),
    /// Any: it is reached from elsewhere, and who has no key of a tenant gets nothing.
    Any,
}

impl Hosts {
    fn answer_to(&self, authority: &str) -> bool {
        match self {
            Self::Named(names) => is_this_machine(authority) || is_among(names, authority),
            Self::NamedOrAddress(names) => {
                let is_known = is_this_machine(authority) || is_among(names, authority);
                is_known || is_address(authority)
            }
            Self::Any => true,
        }
    }

    /// Whether a page is one of the proxy itself, where that has other names than this machine; a proxy in front may have written
    /// another `Host`.
    fn serve_page(&self, headers: &HeaderMap) -> bool {
        let only = |name| {
            let mut values = headers.get_all(name).iter();
            let first = values.next()?.to_str().ok()?;
            values.next().is_none().then_some(first)
        };
        let origin = only(ORIGIN).and_then(|origin: &str| Some(origin.split_once("://")?.1));
        let Some(origin) = origin else {
            return false;
        };
        let is_host = only(HOST) == Some(origin);
        match self {
            Self::Named(names) => is_among(names, origin),
            Self::NamedOrAddress(names) => is_among(names, origin) || is_host && is_address(origin),
            Self::Any => is_host,
        }
    }
}

fn is_among(names: &[HostName], authority: &str) -> bool {
    names.iter().any(|name| name.is_of(authority))
}

impl Own {
    pub(crate) fn new(secret: [u8; 8], hosts: Hosts) -> Self {
        let digits: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            mark: format!("epitome-{digits}"),
            hosts,
        }
    }

    /// Whether it may be called anything.
    pub(crate) fn answers_to_any(&self) -> bool {
        self.hosts == Hosts::Any
    }

    /// Marks a request as one that this proxy sent on, where it could come back.
    pub(crate) fn mark(&self, upstream: &Uri, headers: &mut HeaderMap) {
        let is_here = upstream.host().is_some_and(is_this_machine);
        let via = HeaderValue::from_str(&format!("1.1 {}", self.mark));
        if let Ok(via) = via
            && is_here
        {
            headers.append(VIA, via);
        }
    }

    fn is_in(&self, headers: &HeaderMap) -> bool {
        let values = headers.get_all(VIA).iter();
        let mut hops = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        hops.any(|hop| hop.trim().ends_with(&self.mark))
    }
}

fn stranger(uri: &Uri, headers: &HeaderMap, own: &Own) -> Option<Stranger> {
    if own.is_in(headers) {
        return Some(Stranger::Loop);
    }
    let every = |name, is_good: &dyn Fn(&str) -> bool| {
        let mut values = headers.get_all(name).iter();
        values.all(|value| value.to_str().is_ok_and(is_good))
    };
    let answers_to = |authority: &str| own.hosts.answer_to(authority);
    let is_named_here = uri
        .authority()
        .is_none_or(|named| answers_to(named.as_str()));
    // Where any name will do, so will what is none.
    if !own.answers_to_any() && (!is_named_here || !every(HOST, &answers_to)) {
        return Some(Stranger::ForeignHost);
    }
    let is_page = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site == "cross-site" || site == "same-site");
    let is_stranger = match headers.contains_key(ORIGIN) {
        true => !every(ORIGIN, &is_neighbour) && !own.hosts.serve_page(headers),
        false => is_page,
    };
    if is_stranger {
        return Some(Stranger::ForeignPage);
    }
    climbs(uri.path()).then_some(Stranger::Climbing)
}

/// Whether a path has segments that mean another place, however they are spelled.
fn climbs(path: &str) -> bool {
    if !path.contains("/.") && !path.contains(['%', '\\']) {
        return false;
    }
    let spelled = path.to_ascii_lowercase();
    let plain = spelled
        .replace("%2e", ".")
        .replace("%2f", "/")
        .replace("%5c", "\\");
    let mut segments = plain.split(['/', '\\']);
    segments.any(|segment| {
        let name = segment.split(';').next().unwrap_or_default();
        name == "." || name == ".."
    })
}

/// Whether an origin is a page on this machine, or no page at all: applications have schemes of their own.
fn is_neighbour(origin: &str) -> bool {
    match origin.split_once("://") {
        Some(("http" | "https", authority)) => is_this_machine(authority),
        Some(_) => true,
        // A page that does not say where it is from says "null".
        None => false,
    }
}

/// Whether an authority, with or without a port, is an address and no name.
fn is_address(authority: &str) -> bool {
    let parsed = authority.parse::<http::uri::Authority>();
    parsed.is_ok_and(|parsed| {
        let host = parsed.host();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        !authority.contains('@') && bare.parse::<std::net::IpAddr>().is_ok()
    })
}

/// Whether an authority, with or without a port, is a name of this machine.
fn is_this_machine(authority: &str) -> bool {
    let Ok(uri) = format!("http://{authority}/").parse::<Uri>() else {
        return false;
    };
    let is_plain = uri
        .authority()
        .is_some_and(|parsed| parsed.as_str() == authority);
    let host = uri.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = bare
        .parse::<std::net::IpAddr>()
        .is_ok_and(|address| address.is_loopback());
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    is_plain
        && !authority.contains('@')
        && (is_loopback || host == "localhost" || host.ends_with(".localhost"))
}

/// Whether an upstream is where a proxy listens itself.
pub(crate) fn is_own_address(upstream: &Uri, listen: std::net::SocketAddr) -> bool {
    let default_port = match upstream.scheme_str() {
        Some("https") => 443,
        _ => 80,
    };
    upstream.port_u16().unwrap_or(default_port) == listen.port()
        && upstream.host().is_some_and(is_this_machine)
}

#[cfg(test)]
#[path = "neighbours_tests.rs"]
mod tests;
