//! A proxy in front of a scripted model, for one test.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use epitome_server::{
    Config, ConfiguredWindows, INSPECTION_LIMIT_BYTES, Mode, Reloader, Server, ShownSetting,
    StoreLocation, TenantSettings,
};
use epitome_store::{
    AnyStore, CompactionRow, CompactionState, Compactions, Conversations, Store, TenantId,
};
use epitome_testkit::client::{self, Received};
use epitome_testkit::{ModelConfig, Recorded, ScriptedModel, Wire, stores};
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

/// A number from the environment.
pub(crate) fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    let parsed = value.parse().ok();
    Some(parsed.unwrap_or_else(|| panic!("{name}={value} is not a number")))
}

/// A running proxy. Stops gracefully with [`Proxy::stop`], at once when dropped.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    /// What opens the control API.
    pub(crate) token: String,
    /// What changes its settings.
    pub(crate) reloader: Reloader,
    shutdown: Option<oneshot::Sender<()>>,
    task: JoinHandle<io::Result<()>>,
}

/// Settings for a proxy in front of `upstream` for both APIs, without a store.
pub(crate) fn config(upstream: SocketAddr) -> Config {
    let upstream: http::Uri = format!("http://{upstream}").parse().unwrap();
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        openai_upstream: Some(upstream.clone()),
        anthropic_upstream: Some(upstream),
        store: StoreLocation::None,
        window_tokens: None,
        windows: ConfiguredWindows::none(),
        mode: Mode::Act,
        settings: epitome::settings::Settings::of(epitome::PresetName::Default),
        summariser: None,
        hooks: epitome_engine::Hooks::default(),
        pruning: epitome_server::Pruning::Off,
        inspection_limit_bytes: INSPECTION_LIMIT_BYTES,
        tenants: TenantSettings::default(),
    }
}

impl Proxy {
    pub(crate) async fn start(config: Config) -> Self {
        Self::start_showing(config, Vec::new()).await
    }

    /// The same, with settings that the dashboard shows.
    #[expect(clippy::disallowed_methods, reason = "a test owns its runtime")]
    pub(crate) async fn start_showing(config: Config, settings: Vec<ShownSetting>) -> Self {
        let server = Server::bind(config).await.unwrap();
        let server = server.with_settings(settings);
        let address = server.address();
        let token = server.token().to_owned();
        let reloader = server.reloader();
        let (shutdown, stop) = oneshot::channel::<()>();
        let task = tokio::spawn(server.run(async move {
            stop.await.ok();
        }));
        Self {
            address,
            token,
            reloader,
            shutdown: Some(shutdown),
            task,
        }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends the proxy and waits until its writes are done.
    pub(crate) async fn stop(mut self) {
        self.shutdown.take();
        (&mut self.task).await.unwrap().unwrap();
    }

    /// Posts a request as JSON; the test fails when there is no answer at all.
    pub(crate) async fn post(&self, wire: Wire, request: &Value) -> Received {
        client::post(self.address, wire, request).await.unwrap()
    }

    /// Posts exact bytes.
    pub(crate) async fn post_bytes(&self, wire: Wire, body: impl Into<Bytes>) -> Received {
        self.send(&Method::POST, wire.path(), &[], body).await
    }

    /// Sends anything.
    pub(crate) async fn send(
        &self,
        method: &Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Received {
        client::send(self.address, method, path, headers, body.into())
            .await
            .unwrap()
    }

    /// What `/healthz` says.
    pub(crate) async fn health(&self) -> Value {
        let received = self.send(&Method::GET, "/healthz", &[], "").await;
        assert_eq!(received.status, 200);
        received.json()
    }

    /// The process lives: `/healthz` answers and ordinary requests of both APIs work.
    pub(crate) async fn assert_works(&self) {
        self.health().await;
        for wire in Wire::ALL {
            let request = request(wire, "m", [user("hello, are you there?")]);
            let received = self.post(wire, &request).await;
            assert_eq!(received.status, 200, "{wire:?}: {received:?}");
            assert_eq!(action(&received), ("passthrough", "below_line"));
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A scripted model and a proxy in front of it.
pub(crate) async fn pair(
    model: ModelConfig,
    adjust: impl FnOnce(&mut Config),
) -> (ScriptedModel, Proxy) {
    let model = ScriptedModel::start(model).await;
    let mut config = config(model.address());
    adjust(&mut config);
    (model, Proxy::start(config).await)
}

/// What the proxy says it did, and why.
pub(crate) fn action(received: &Received) -> (&str, &str) {
    (
        received.header("x-epitome-action"),
        received.header("x-epitome-reason"),
    )
}

/// The conversation the proxy says it is.
pub(crate) fn conversation(received: &Received) -> String {
    let id = received.header("x-epitome-conversation");
    assert!(!id.is_empty(), "no conversation: {received:?}");
    id.to_owned()
}

/// The last request that reached the model.
pub(crate) fn last(model: &ScriptedModel) -> Recorded {
    model.requests().pop().unwrap()
}

pub(crate) fn user(text: impl Into<String>) -> Value {
    json!({"role": "user", "content": text.into()})
}

pub(crate) fn assistant(text: impl Into<String>) -> Value {
    json!({"role": "assistant", "content": text.into()})
}

/// A plain request for a short answer.
pub(crate) fn request(wire: Wire, model: &str, messages: impl IntoIterator<Item = Value>) -> Value {
    let messages: Vec<Value> = messages.into_iter().collect();
    match wire {
        Wire::OpenaiChat => json!({"model": model, "messages": messages}),
        Wire::OpenaiResponses => json!({"model": model, "input": messages}),
        Wire::Anthropic => json!({"model": model, "max_tokens": 256, "messages": messages}),
    }
}

/// About `tokens` tokens of words that depend on `seed`.
pub(crate) fn prose(seed: u64, tokens: usize) -> String {
    let mut random = epitome_testkit::Random::new(seed);
    let words = [
        "anchor", "basin", "copper", "delta", "ember", "fjord", "gravel", "harbor", "island",
        "jetty", "kelp", "lagoon",
    ];
    let mut text = String::new();
    while text.len() < tokens * 4 {
        text.push_str(words[random.between(0, words.len() - 1)]);
        text.push_str(if random.chance(12) { ".\n" } else { " " });
    }
    text
}

/// A short task, `turns` exchanges of about `tokens` tokens each way, and a last question.
pub(crate) fn history(seed: u64, turns: usize, tokens: usize) -> Vec<Value> {
    let mut messages = vec![user(format!("Task {seed}.")), assistant("Yes.")];
    for turn in 0..turns as u64 {
        let seed = seed * 1_000 + turn * 2;
        messages.push(user(format!(
            "Question {turn} of {seed}: {}",
            prose(seed, tokens)
        )));
        messages.push(assistant(format!(
            "Answer {turn}: {}",
            prose(seed + 1, tokens)
        )));
    }
    messages.push(user(format!("Last question of {seed}?")));
    messages
}

/// A folder with a store in it, or in its stead.
pub(crate) struct Folder {
    folder: TempDir,
    /// Where the store is.
    url: String,
}

impl Folder {
    /// A store as this run wants it (`EPITOME_TEST_STORE`).
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = stores::location(&folder.path().join("log.db"));
        Self { folder, url }
    }

    /// A store that is a file whatever the run wants, for tests of what happens to files.
    pub(crate) fn with_file() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("log.db").display());
        Self { folder, url }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("log.db")
    }

    pub(crate) fn location(&self) -> StoreLocation {
        StoreLocation::Url(self.url.clone())
    }

    pub(crate) async fn open(&self) -> AnyStore {
        AnyStore::open(&self.url).await.unwrap()
    }

    /// Waits until the trailing writes have brought a conversation into the store.
    pub(crate) async fn wait_for_conversation(&self) {
        self.wait_for("local").await;
    }

    /// The same for a tenant.
    pub(crate) async fn wait_for(&self, tenant: &str) {
        let store = self.open().await;
        let tenant: TenantId = tenant.parse().unwrap();
        for _ in 0..6_000 {
            let rows = store.conversations(&tenant, 1).await.unwrap();
            if rows.iter().any(|row| row.nodes > 0) {
                return store.close().await;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("nothing was written");
    }

    /// Waits until a compaction is marked as one that is in force.
    pub(crate) async fn wait_for_publication(&self) {
        for _ in 0..6_000 {
            let rows = self.compactions().await;
            if rows
                .iter()
                .any(|row| row.state == CompactionState::Published)
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("nothing was published");
    }

    /// All compactions of all conversations, oldest first.
    pub(crate) async fn compactions(&self) -> Vec<CompactionRow> {
        let store = self.open().await;
        let tenant = TenantId::local();
        let mut rows = Vec::new();
        for conversation in store.conversations(&tenant, 1_000).await.unwrap() {
            rows.extend(
                store
                    .compactions_of(&tenant, &conversation.id)
                    .await
                    .unwrap(),
            );
        }
        store.close().await;
        rows.sort_by_key(|row| row.created_ms);
        rows
    }
}

/// A request taken apart without the product's own reader.
#[derive(serde::Deserialize)]
struct Raw<'a> {
    #[serde(borrow, alias = "input")]
    messages: Vec<&'a RawValue>,
}

/// The messages of a body, byte for byte.
pub(crate) fn raw_messages(body: &[u8]) -> Vec<&str> {
    let raw: Raw<'_> = serde_json::from_slice(body).unwrap();
    raw.messages.into_iter().map(RawValue::get).collect()
}

/// How a summary of ours begins.
const SUMMARY_MARK: &str = "[Conversation summary, epitome 1, ";

/// The summary message of a forwarded body, if there is one.
pub(crate) fn summary(body: &[u8]) -> Option<String> {
    raw_messages(body)
        .into_iter()
        .find(|message| message.contains(SUMMARY_MARK))
        .map(ToOwned::to_owned)
}

/// Checks that `forwarded` is `original` with exactly one message inserted and some left out: everything else is
/// the client's own bytes, in order.
pub(crate) fn assert_splice(original: &[u8], forwarded: &[u8]) {
    let before = raw_messages(original);
    let after = raw_messages(forwarded);
    let mut rest = before.iter();
    let mut inserted = 0;
    for message in &after {
        if message.contains(SUMMARY_MARK) {
            inserted += 1;
        } else {
            let is_own = |own: &&str| own == message || is_trimmed(own, message);
            assert!(rest.any(is_own), "not the client's: {message}");
        }
    }
    assert_eq!(inserted, 1, "inserted messages");
    assert!(after.len() < before.len() + 1);
    let (newest, sent) = (before[before.len() - 1], after[after.len() - 1]);
    assert!(
        newest == sent || is_trimmed(newest, sent),
        "the newest: {sent}"
    );
    let around = |body: &[u8], messages: &[&str]| {
        let text = std::str::from_utf8(body).unwrap().to_owned();
        let first = text.find(messages[0]).unwrap();
        let last = messages[messages.len() - 1];
        let end = text.rfind(last).unwrap() + last.len();
        (text[..first].to_owned(), text[end..].to_owned())
    };
    assert_eq!(around(original, &before), around(forwarded, &after));
}

/// Whether `message` is `own` with the middle of some texts left out, each at a marker: on a line of its own, or inside
/// the arguments of a call (issue 15, any budget) on the same line.
fn is_trimmed(own: &str, message: &str) -> bool {
    const END: &str = " characters left out …]";
    let mut pieces = Vec::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once(END) {
        let Some((kept, _)) = before.rsplit_once("[… ") else {
            return false;
        };
        let parted = [("\\n", "\\n"), (" ", " ")].into_iter();
        let mut parted = parted.filter_map(|(front, back)| {
            Some((kept.strip_suffix(front)?, after.strip_prefix(back)?))
        });
        let Some((kept, after)) = parted.next() else {
            return false;
        };
        pieces.push(kept);
        rest = after;
    }
    let Some(mut own) = pieces.first().and_then(|first| own.strip_prefix(first)) else {
        return false;
    };
    for piece in &pieces[1..] {
        match own.split_once(piece) {
            Some((_, after)) => own = after,
            None => return false,
        }
    }
    own.ends_with(rest)
}

/// An answer whose body is still on its way. Dropping it hangs up.
pub(crate) struct Open {
    pub(crate) response: Response<Incoming>,
    _connection: JoinSet<hyper::Result<()>>,
}

/// Sends a request and gives the answer before its body has arrived.
pub(crate) async fn open<B>(address: SocketAddr, request: Request<B>) -> Open
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let mut set = JoinSet::new();
    set.spawn(connection);
    Open {
        response: sender.send_request(request).await.unwrap(),
        _connection: set,
    }
}

impl Open {
    /// The next piece of the body, or nothing when it does not come at all.
    pub(crate) async fn piece(&mut self) -> Option<Bytes> {
        let frame = self.response.body_mut().frame();
        let frame = tokio::time::timeout(Duration::from_secs(60), frame).await;
        frame.ok()??.ok()?.into_data().ok()
    }
}

/// Waits until `holds`, and gives up after a minute.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never happened: {what}");
}

/// The same for what has to be waited for.
pub(crate) async fn eventually_async(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..6_000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never happened: {what}");
}

/// Reads one request with a length from a client of a server that is written by hand; all of its bytes.
pub(crate) fn read_request(stream: &mut std::net::TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .map_or(0, |length| length.trim().parse().unwrap());
            if bytes.len() >= end + 4 + length {
                return bytes;
            }
        }
        match stream.read(&mut buffer).unwrap() {
            0 => return bytes,
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Says that a suite could not run, and why.
pub(crate) fn report_skip(suite: &str, reason: &str) {
    let line = format!("SUITE-SKIPPED {suite}: {reason}");
    eprintln!("{line}");
    if let Some(report) = std::env::var_os("EPITOME_SKIP_REPORT") {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(report);
        let mut file = file.expect("the report of skipped suites can be written");
        writeln!(file, "{line}").expect("the report of skipped suites can be written");
    }
}
