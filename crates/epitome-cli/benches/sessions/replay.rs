//! A session through a proxy that runs as a process of its own.

use std::io::{BufRead, BufReader, Error, Result};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use epitome_testkit::{Counts, ModelConfig, Reply, Script, ScriptedModel, Wire, client};
use http::Method;

use super::measure::{Measure, Parts, prepare_line};
use super::recorded::Session;

/// A proxy that is not idle after so many looks is not waited for any longer.
const MOST_LOOKS: u32 = 500;
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);
/// Where the system does not say what a process does.
const UNKNOWN_PAUSE: Duration = Duration::from_millis(50);

/// What became of the requests of a session.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) requests: u64,
    /// The largest request as the client sent it.
    pub(crate) bare_tokens: u64,
    /// Requests that went out otherwise than they came.
    pub(crate) changed: u64,
    /// Requests that did not begin with the one before: the provider's cache was of little use.
    pub(crate) breaks: u64,
    /// Requests that were changed although they would have fitted well.
    pub(crate) early: u64,
    /// Requests that the client got back as too long.
    pub(crate) overflows: u64,
    /// Requests that the client got back for any other reason.
    pub(crate) errors: u64,
    /// Refusals that the client did not see.
    pub(crate) hidden: u64,
    pub(crate) sent_tokens: u64,
    /// What of it stood in the request before in the same place.
    pub(crate) kept_tokens: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.bare_tokens = self.bare_tokens.max(other.bare_tokens);
        self.changed += other.changed;
        self.breaks += other.breaks;
        self.early += other.early;
        self.overflows += other.overflows;
        self.errors += other.errors;
        self.hidden += other.hidden;
        self.sent_tokens += other.sent_tokens;
        self.kept_tokens += other.kept_tokens;
    }
}

/// What a session was sent through, and what came of it.
#[derive(Default)]
pub(crate) struct Replayed {
    pub(crate) tally: Tally,
    /// A line for each break and each refusal.
    pub(crate) notes: Vec<String>,
}

/// Sends every request of a session through a fresh proxy, in order.
pub(crate) async fn replay(
    binary: &Path,
    session: &Session,
    window_tokens: u64,
    measure: &Arc<Measure>,
) -> Result<Replayed> {
    let model = model(window_tokens, measure).await;
    let proxy = Proxy::start(binary, &model.base_url(), window_tokens)?;
    let prepare_tokens = prepare_line(window_tokens, session.output_tokens(window_tokens));
    let mut replayed = Replayed::default();
    let mut before = Parts::default();
    for (number, request) in session.requests(window_tokens).enumerate() {
        let answer = send(proxy.address, session.wire, request.clone()).await?;
        proxy.settle().await;
        let records = model.requests();
        model.clear();
        let bare_tokens = measure.parts(session.wire, &request)?.tokens();
        let tally = &mut replayed.tally;
        tally.requests += 1;
        tally.bare_tokens = tally.bare_tokens.max(bare_tokens);
        let reason = answer.header("x-epitome-reason");
        let note = |what: &str, tokens: u64| {
            let name = &session.name;
            format!(
                "  {name} request {number}: {what}, {bare_tokens} came, {tokens} went, {reason}"
            )
        };
        let refused = records.iter().filter(|record| record.status != Some(200));
        tally.hidden += refused.count() as u64;
        let Some(last) = records.last().filter(|_| answer.status == 200) else {
            tally.hidden = tally.hidden.saturating_sub(1);
            let tokens = records.last().and_then(|record| record.input_tokens);
            let tokens = tokens.unwrap_or_default();
            let output_tokens = session.output_tokens(window_tokens).unwrap_or_default();
            if tokens + output_tokens > window_tokens {
                tally.overflows += 1;
                replayed.notes.push(note("overflow", tokens));
            } else {
                tally.errors += 1;
                let body = String::from_utf8_lossy(&answer.body).into_owned();
                replayed.notes.push(note(&body, tokens));
            }
            continue;
        };
        let now = measure.parts(session.wire, &last.body)?;
        let is_changed = last.body != request;
        tally.changed += u64::from(is_changed);
        tally.early += u64::from(is_changed && bare_tokens <= prepare_tokens);
        tally.sent_tokens += now.tokens();
        tally.kept_tokens += now.kept_tokens(&before);
        if !now.extends(&before) {
            tally.breaks += 1;
            let kept = now.kept_tokens(&before);
            let what = format!("break after {} with {kept} kept", before.tokens());
            replayed.notes.push(note(&what, now.tokens()));
        }
        before = now;
    }
    Ok(replayed)
}

/// A provider that takes what fits, counts it truly, and says little.
async fn model(window_tokens: u64, measure: &Arc<Measure>) -> ScriptedModel {
    let measure = Arc::clone(measure);
    ScriptedModel::start(ModelConfig {
        window_tokens,
        counts: Counts::by(move |asked| {
            measure
                .parts(asked.wire, asked.body)
                .map_or(asked.plain_tokens, |parts| parts.tokens())
        }),
        script: Script::by(|_| Reply::text("Done.")),
        ..ModelConfig::default()
    })
    .await
}

async fn send(address: SocketAddr, wire: Wire, body: Bytes) -> Result<client::Received> {
    let headers: &[(&str, &str)] = match wire {
        Wire::OpenaiChat | Wire::OpenaiResponses => &[("authorization", "Bearer test-key")],
        Wire::Anthropic => &[
            ("x-api-key", "test-key"),
            ("anthropic-version", "2023-06-01"),
        ],
    };
    client::send(address, &Method::POST, wire.path(), headers, body).await
}

/// A running `epitome serve` that keeps nothing.
struct Proxy {
    child: Child,
    address: SocketAddr,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Proxy {
    fn start(binary: &Path, upstream: &str, window_tokens: u64) -> Result<Self> {
        let mut command = Command::new(binary);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("EPITOME_")) {
            command.env_remove(name);
        }
        let mut child = command
            // Whoever measures may have a configuration.
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .args(["serve", "--listen", "127.0.0.1:0", "--store", "none"])
            .args(["--openai-upstream", upstream])
            .args(["--anthropic-upstream", upstream])
            .args(["--window", &window_tokens.to_string()])
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = child.stderr.take();
        let mut lines = stderr
            .map(|stderr| BufReader::new(stderr).lines())
            .into_iter()
            .flatten();
        let address = lines.by_ref().find_map(|line| {
            let line = line.ok()?;
            line.rsplit_once("http://")?.1.parse().ok()
        });
        // What is not read would stop it at last.
        std::thread::spawn(move || lines.for_each(drop));
        let Some(address) = address else {
            child.kill().ok();
            child.wait()?;
            let binary = binary.display();
            return Err(Error::other(format!("{binary} serve did not start")));
        };
        Ok(Self { child, address })
    }

    /// Waits until it does nothing: people and tools take seconds, and background work is done by then.
    async fn settle(&self) {
        let mut idle = 0;
        for _ in 0..MOST_LOOKS {
            let Some(is_idle) = is_idle(self.child.id()) else {
                return tokio::time::sleep(UNKNOWN_PAUSE).await;
            };
            idle = if is_idle { idle + 1 } else { 0 };
            if idle == 2 {
                return;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }
}

/// Whether no thread of a process runs or would like to.
fn is_idle(process: u32) -> Option<bool> {
    for thread in std::fs::read_dir(format!("/proc/{process}/task")).ok()? {
        // A thread may be gone by now.
        let Ok(stat) = std::fs::read_to_string(thread.ok()?.path().join("stat")) else {
            continue;
        };
        let (_, state) = stat.rsplit_once(") ")?;
        if state.starts_with(['R', 'D']) {
            return Some(false);
        }
    }
    Some(true)
}
