//! How the server is doing: for people (`/healthz`), for load balancers (`/readyz`) and for Prometheus (`/metrics`).

mod metrics;
mod subject;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use epitome_wire::Wire;
use http::{HeaderMap, StatusCode, Uri};
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;

use crate::advice::advice;
use crate::keeper::Action;
use crate::proxy::Proxy;
use crate::quota::Excess;
use crate::token::Token;
pub(crate) use metrics::metrics;
pub(crate) use subject::Subject;

/// How long an upstream that did not answer last is waited for.
const PROBE: Duration = Duration::from_secs(1);

/// The APIs by the name of their upstream.
const UPSTREAMS: [(&str, Wire); 2] = [("openai", Wire::OpenAiChat), ("anthropic", Wire::Anthropic)];

/// What the handlers share.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    proxy: Arc<Proxy>,
    token: Token,
    address: SocketAddr,
}

impl Status {
    pub(crate) const fn new(proxy: Arc<Proxy>, token: Token, address: SocketAddr) -> Self {
        Self {
            proxy,
            token,
            address,
        }
    }

    /// Whether a request may know more than whether the server works: all may on this machine.
    fn tells(&self, headers: &HeaderMap) -> bool {
        self.address.ip().is_loopback() || self.tells_of_tenants(headers)
    }

    /// Whether a request may know who the tenants are.
    fn tells_of_tenants(&self, headers: &HeaderMap) -> bool {
        self.token.is_in(headers, self.address)
    }
}

/// Whether everything works, and what does not. Always 200: the process lives.
pub(crate) async fn health(State(status): State<Status>, headers: HeaderMap) -> impl IntoResponse {
    let register = status.proxy.register();
    let mut body = report(&status.proxy, &Subject::all(&status.proxy, &register));
    if !status.tells(&headers) {
        body = json!({ "status": body.get("status") });
    }
    ([("content-type", "application/json")], body.to_string())
}

/// What `/healthz` says.
pub(crate) fn report(proxy: &Proxy, of: &Subject<'_>) -> Value {
    let store = of.store();
    let crew = of.crew();
    let totals = of.totals();
    let counts = totals.by_reason();
    let mut why = Vec::new();
    if store.is_gone {
        why.push(
            "the store was removed or replaced: what is kept now is lost with this process; start epitome again"
                .to_owned(),
        );
    } else if store.is_failing {
        why.push(
            "the store fails: requests go through, what they need is kept in memory".to_owned(),
        );
    } else if store.late_commits > 0 {
        why.push(format!(
            "the store is late: {} compactions in use are not on disk yet",
            store.late_commits
        ));
    }
    let mut quotas = Map::new();
    for excess in Excess::ALL {
        let (count, is_used_up) = of.beyond(excess);
        quotas.insert(excess.as_str().to_owned(), count.into());
        if is_used_up {
            let name = excess.as_str();
            why.push(format!(
                "a quota is used up ({name}): requests go through; GET /epitome/v1/tenants says whose"
            ));
        }
    }
    for (name, wire) in UPSTREAMS {
        if of.reached.of(wire).is_gone() {
            why.push(format!(
                "the {name} upstream did not answer the last request"
            ));
        }
    }
    let sum = |is_meant: &dyn Fn(&(Action, epitome::Reason, u64)) -> bool| -> u64 {
        let meant = counts.iter().filter(|row| is_meant(row));
        meant.map(|(.., count)| count).sum()
    };
    let is_unhelped = |row: &(Action, epitome::Reason, u64)| advice(row.1).is_some();
    let acted = sum(&|(action, ..)| matches!(action, Action::Compacted | Action::Observed));
    let unhelped = sum(&is_unhelped);
    if unhelped > 0 && acted == 0 {
        why.push(format!(
            "{unhelped} requests could not be helped and none was: see unhelped"
        ));
    }
    let by_reason: Map<String, Value> = counts
        .iter()
        .filter(|row| is_unhelped(row))
        .map(|(_, reason, _)| {
            // The same reason may stand behind several actions.
            let requests = sum(&|row| row.1 == *reason);
            let told = json!({"requests": requests, "advice": advice(*reason)});
            (reason.as_str().to_owned(), told)
        })
        .collect();
    let upstreams: Map<String, Value> = UPSTREAMS
        .iter()
        .filter(|(_, wire)| proxy.base(*wire).is_some())
        .map(|(name, wire)| {
            let reach = of.reached.of(*wire);
            let told = json!({
                "answers": reach.answers(), "failures": reach.failures(), "answered_last": !reach.is_gone(),
            });
            ((*name).to_owned(), told)
        })
        .collect();
    let mut report = json!({
        "status": if why.is_empty() { "ok" } else { "degraded" },
        "why": why,
        "store_failures": store.failures,
        "store_deadlines": store.deadlines,
        "store_late_commits": store.late_commits,
        "store_queued_bytes": store.queued_bytes,
        "store_dropped": store.dropped,
        "background": {
            "waiting": crew.waiting, "running": crew.running, "done": crew.done, "taken_over": crew.taken_over,
            "handed_back": crew.handed_back, "left_out": crew.left_out,
        },
        "upstreams": upstreams,
        "requests": sum(&|_| true),
        "acted_on": acted,
        "unhelped": by_reason,
        "quota_exceeded": quotas,
    });
    if let (Some(strangers), Value::Object(members)) = (of.strangers, &mut report) {
        members.insert("unknown_tenant".to_owned(), strangers.into());
    }
    report
}

/// Whether requests can be forwarded at all. An upstream that did not answer last is tried, so that a server that gets
/// no requests any more finds out when it is back.
pub(crate) async fn ready(State(status): State<Status>) -> impl IntoResponse {
    let proxy = &status.proxy;
    let mut has_any = false;
    for (_, wire) in UPSTREAMS {
        let Some(base) = proxy.base(wire) else {
            continue;
        };
        has_any = true;
        if !proxy.reached.of(wire).is_gone() || answers(base).await {
            return (StatusCode::OK, "ready\n");
        }
    }
    let why = match has_any {
        true => "no upstream can be reached\n",
        false => {
            "no upstream is set: start epitome with --openai-upstream or --anthropic-upstream\n"
        }
    };
    (StatusCode::SERVICE_UNAVAILABLE, why)
}

async fn answers(base: &Uri) -> bool {
    let Some(host) = base.host() else {
        return false;
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let usual = match base.scheme_str() {
        Some("https") => 443,
        _ => 80,
    };
    let port = base.port_u16().unwrap_or(usual);
    let connected = TcpStream::connect((host, port));
    matches!(crate::clock::within(PROBE, connected).await, Ok(Ok(_)))
}
