//! What Prometheus reads.

use std::fmt::Write as _;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};

use super::subject::Subject;
use super::{Status, UPSTREAMS};
use crate::quota::Excess;
use crate::tally::Totals;

/// What Prometheus reads.
pub(crate) async fn metrics(State(status): State<Status>, headers: HeaderMap) -> Response {
    if !status.tells(&headers) {
        let why =
            "metrics need the token that `epitome serve` prints: Authorization: Bearer TOKEN\n";
        return (StatusCode::UNAUTHORIZED, why).into_response();
    }
    let register = status.proxy.register();
    let of = Subject::all(&status.proxy, &register);
    let (store, totals) = (of.store(), of.totals());
    let mut text = Exposition::default();
    text.family(
        "epitome_requests_total",
        "counter",
        "Requests by what was done with them and why.",
    );
    for (action, reason, count) in totals.by_reason() {
        let labels = format!("action=\"{}\",reason=\"{reason}\"", action.as_str());
        text.sample("epitome_requests_total", &labels, count);
    }
    text.family(
        "epitome_upstream_requests_total",
        "counter",
        "Requests sent on, by whether an answer came.",
    );
    for (name, wire) in UPSTREAMS {
        let reach = of.reached.of(wire);
        for (answered, count) in [("yes", reach.answers()), ("no", reach.failures())] {
            let labels = format!("upstream=\"{name}\",answered=\"{answered}\"");
            text.sample("epitome_upstream_requests_total", &labels, count);
        }
    }
    let (before, after) = totals.tokens;
    let (held, cached) = (totals.held, totals.cached);
    let (late, queued) = (store.late_commits, store.queued_bytes);
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
            store.failures,
        ),
        (
            "epitome_store_deadlines_total",
            "counter",
            "Answers of the store that were not waited for.",
            store.deadlines,
        ),
        (
            "epitome_store_dropped_total",
            "counter",
            "Writes left out because too many waited.",
            store.dropped,
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
    text.of_tenants(&of, status.tells_of_tenants(&headers));
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([("content-type", kind)], text.0).into_response()
}

/// The text that Prometheus reads. All labels are words of our own, or names of tenants, which have no letters to escape.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    /// What is beyond quotas, and who is unknown; by tenant only for who may know of them.
    fn of_tenants(&mut self, of: &Subject<'_>, may_be_named: bool) {
        let Some(strangers) = of.strangers else {
            return;
        };
        let (name, help) = (
            "epitome_unknown_tenant_requests_total",
            "Requests of nobody that is known.",
        );
        self.family(name, "counter", help);
        self.sample(name, "", strangers);
        let name = "epitome_quota_exceeded_requests_total";
        let help = "Requests that went through and of which something was left out, by the quota that is used up.";
        self.family(name, "counter", help);
        for excess in Excess::ALL {
            let labels = format!("quota=\"{}\"", excess.as_str());
            self.sample(name, &labels, of.beyond(excess).0);
        }
        if !may_be_named {
            return;
        }
        let name = "epitome_tenant_requests_total";
        self.family(name, "counter", "Requests by tenant.");
        for tenant in of.tenants {
            let labels = format!("tenant=\"{}\"", tenant.id);
            let requests = Totals::of([&*tenant.tally]).requests();
            self.sample(name, &labels, requests);
        }
        let name = "epitome_tenant_quota_exceeded_requests_total";
        self.family(name, "counter", "The same as above by tenant.");
        for tenant in of.tenants {
            for excess in Excess::ALL {
                let labels = format!("tenant=\"{}\",quota=\"{}\"", tenant.id, excess.as_str());
                self.sample(name, &labels, tenant.quota.exceeded(excess));
            }
        }
    }

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
