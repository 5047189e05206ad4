//! How the server is doing: for people (`/healthz`), for load balancers (`/readyz`) and for Prometheus (`/metrics`).

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use epitome_wire::Wire;
use http::{StatusCode, Uri};
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;

use crate::advice::advice;
use crate::keeper::Action;
use crate::proxy::Proxy;

/// How long an upstream that did not answer last is waited for.
const PROBE: Duration = Duration::from_secs(1);

/// The APIs by the name of their upstream.
const UPSTREAMS: [(&str, Wire); 2] = [("openai", Wire::OpenAiChat), ("anthropic", Wire::Anthropic)];

/// Whether everything works, and what does not. Always 200: the process lives.
pub(crate) async fn health(State(proxy): State<Arc<Proxy>>) -> impl IntoResponse {
    let body = report(&proxy);
    ([("content-type", "application/json")], body.to_string())
}

/// What `/healthz` says.
pub(crate) fn report(proxy: &Proxy) -> Value {
    let keeper = proxy.keeper();
    let store = keeper.store_health();
    let crew = keeper.crew();
    let counts = proxy.tally.by_reason();
    let mut why = Vec::new();
    if keeper.is_store_gone() {
        why.push(
            "the store was removed or replaced: what is kept now is lost with this process; start epitome again"
                .to_owned(),
        );
    } else if store.is_failing() {
        why.push(
            "the store fails: requests go through, what they need is kept in memory".to_owned(),
        );
    } else if store.late_commits() > 0 {
        why.push(format!(
            "the store is late: {} compactions in use are not on disk yet",
            store.late_commits()
        ));
    }
    for (name, wire) in UPSTREAMS {
        if proxy.tally.reach(wire).is_gone() {
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
            let reach = proxy.tally.reach(*wire);
            let told = json!({
                "answers": reach.answers(), "failures": reach.failures(), "answered_last": !reach.is_gone(),
            });
            ((*name).to_owned(), told)
        })
        .collect();
    json!({
        "status": if why.is_empty() { "ok" } else { "degraded" },
        "why": why,
        "store_failures": store.failures(),
        "store_deadlines": store.deadlines(),
        "store_late_commits": store.late_commits(),
        "store_queued_bytes": store.queued_bytes(),
        "store_dropped": store.dropped(),
        "background": {
            "waiting": crew.waiting, "running": crew.running, "done": crew.done, "taken_over": crew.taken_over,
            "handed_back": crew.handed_back, "left_out": crew.left_out,
        },
        "upstreams": upstreams,
        "requests": sum(&|_| true),
        "acted_on": acted,
        "unhelped": by_reason,
    })
}

/// Whether requests can be forwarded at all. An upstream that did not answer last is tried, so that a server that gets
/// no requests any more finds out when it is back.
pub(crate) async fn ready(State(proxy): State<Arc<Proxy>>) -> impl IntoResponse {
    let mut has_any = false;
    for (_, wire) in UPSTREAMS {
        let Some(base) = proxy.base(wire) else {
            continue;
        };
        has_any = true;
        if !proxy.tally.reach(wire).is_gone() || answers(base).await {
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

/// What Prometheus reads.
pub(crate) async fn metrics(State(proxy): State<Arc<Proxy>>) -> impl IntoResponse {
    let keeper = proxy.keeper();
    let store = keeper.store_health();
    let mut text = Exposition::default();
    text.family(
        "epitome_requests_total",
        "counter",
        "Requests by what was done with them and why.",
    );
    for (action, reason, count) in proxy.tally.by_reason() {
        let labels = format!("action=\"{}\",reason=\"{reason}\"", action.as_str());
        text.sample("epitome_requests_total", &labels, count);
    }
    let crew = keeper.crew();
    text.family(
        "epitome_background_jobs",
        "gauge",
        "Summaries being written by this node, and those that wait for room.",
    );
    for (state, count) in [("running", crew.running), ("waiting", crew.waiting)] {
        let labels = format!("state=\"{state}\"");
        text.sample("epitome_background_jobs", &labels, count as u64);
    }
    text.family(
        "epitome_background_jobs_total",
        "counter",
        "Background work of this node by what came of it.",
    );
    for (end, count) in [
        ("done", crew.done),
        ("taken_over", crew.taken_over),
        ("handed_back", crew.handed_back),
        ("left_out", crew.left_out),
    ] {
        let labels = format!("end=\"{end}\"");
        text.sample("epitome_background_jobs_total", &labels, count);
    }
    text.family(
        "epitome_upstream_requests_total",
        "counter",
        "Requests sent on, by whether an answer came.",
    );
    for (name, wire) in UPSTREAMS {
        let reach = proxy.tally.reach(wire);
        for (answered, count) in [("yes", reach.answers()), ("no", reach.failures())] {
            let labels = format!("upstream=\"{name}\",answered=\"{answered}\"");
            text.sample("epitome_upstream_requests_total", &labels, count);
        }
    }
    let (before, after) = proxy.tally.tokens();
    let (held, cached) = (proxy.tally.held(), proxy.tally.cached());
    let late = store.late_commits() as u64;
    let queued = store.queued_bytes() as u64;
    for (name, kind, help, value) in [
        (
            "epitome_tokens_before_total",
            "counter",
            "Tokens of shortened requests as they came.",
            before,
        ),
        (
            "epitome_tokens_after_total",
            "counter",
            "Tokens of the same requests as they went out.",
            after,
        ),
        (
            "epitome_input_tokens_total",
            "counter",
            "Input tokens of all requests as providers counted them.",
            cached.input_tokens,
        ),
        (
            "epitome_cache_read_tokens_total",
            "counter",
            "Those of them that providers read from their caches.",
            cached.read_tokens,
        ),
        (
            "epitome_cache_write_tokens_total",
            "counter",
            "Those of them that providers wrote to their caches.",
            cached.written_tokens,
        ),
        (
            "epitome_held_requests_total",
            "counter",
            "Requests that were read before they went on.",
            held.requests,
        ),
        (
            "epitome_held_microseconds_total",
            "counter",
            "How long these were held, together.",
            held.sum_us,
        ),
        (
            "epitome_store_failures_total",
            "counter",
            "Reads and writes of the store that failed.",
            store.failures(),
        ),
        (
            "epitome_store_deadlines_total",
            "counter",
            "Answers of the store that were not waited for.",
            store.deadlines(),
        ),
        (
            "epitome_store_dropped_total",
            "counter",
            "Writes left out because too many waited.",
            store.dropped(),
        ),
        (
            "epitome_store_late_commits",
            "gauge",
            "Compactions in use that are not on disk yet.",
            late,
        ),
        (
            "epitome_store_queued_bytes",
            "gauge",
            "Bytes that wait to be written.",
            queued,
        ),
    ] {
        text.family(name, kind, help);
        text.sample(name, "", value);
    }
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([("content-type", kind)], text.0)
}

/// The text that Prometheus reads. All labels are words of our own.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: u64) {
        let _ = match labels {
            "" => writeln!(self.0, "{name} {value}"),
            labels => writeln!(self.0, "{name}{{{labels}}} {value}"),
        };
    }
}
