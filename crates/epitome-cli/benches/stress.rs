//! `epitome serve` under everything at once: 2,000 idle connections, clients that send a byte a second, 50 that are busy,
//! and a store that is locked for 30 seconds, on a full disk, and gone.
//!
//! Gates: every request is answered, `/healthz` says what is wrong with the store, every compaction that was used is stored
//! in the end, and the process never takes more than 200 MB. Times are printed and judge nothing.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench is a program for developers: it stops at the first surprise"
)]

use std::collections::BTreeSet;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use epitome_store::{AnyStore, CompactionState, Compactions, ConversationId, Store, TenantId};
use epitome_testkit::generate::{Growth, Kind};
use epitome_testkit::{ModelConfig, ScriptedModel, Wire, client};
use http::Method;
use serde_json::Value;
use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const ROLE: &str = "EPITOME_BENCH_ROLE";
const MODEL_PORT: u16 = 17_811;
const PROXY_PORT: u16 = 17_812;
const IDLE: usize = 2_000;
const SLOW: usize = 100;
const BUSY: u64 = 50;
const WINDOW_TOKENS: &str = "16000";
/// A busy client begins a conversation with a request of about the first size, and another one beyond the second.
const BODY_BYTES: std::ops::Range<usize> = 40_000..120_000;
const PAUSE: Duration = Duration::from_millis(200);
const CALM: Duration = Duration::from_secs(10);
const LOCKED: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(120);
const MOST_MB: u64 = 200;
/// A soft limit that many systems have; the command has to ask for more.
const DESCRIPTORS: u32 = 1_024;

fn main() -> ExitCode {
    match std::env::var(ROLE).as_deref() {
        Ok("model") => serve_model(),
        _ => drive(),
    }
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

#[tokio::main(flavor = "current_thread")]
async fn serve_model() -> ExitCode {
    let config = ModelConfig {
        unchecked: true,
        keeps_records: false,
        ..ModelConfig::default()
    };
    let _model = ScriptedModel::bind(address(MODEL_PORT), config).await;
    std::future::pending::<()>().await;
    ExitCode::SUCCESS
}

/// A process that ends with the bench.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(quiet.stderr(Stdio::null()).spawn().unwrap())
    }

    /// The most memory that it ever had.
    fn peak_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
        kilobytes.parse::<u64>().unwrap() / 1_024
    }
}

/// A small file system of its own, so that it can be full.
struct Disk(PathBuf);

impl Disk {
    fn mount(folder: &Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=256m", "tmpfs"]);
        let done = mount.arg(folder).stderr(Stdio::null()).status();
        let is_done = done.is_ok_and(|status| status.success());
        is_done.then(|| Self(folder.to_owned()))
    }

    fn store(&self) -> PathBuf {
        self.0.join("log.db")
    }

    /// Takes all room that is left.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = std::fs::File::create(&path).unwrap();
        for length in [1 << 20, 1 << 12, 1] {
            let zeros = vec![0; length];
            while file.write_all(&zeros).is_ok() {}
        }
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.0).status().ok();
    }
}

/// What the busy clients saw.
#[derive(Default)]
struct Seen {
    times: Vec<Duration>,
    failures: Vec<String>,
    /// Conversations of which a compaction was used.
    compacted: BTreeSet<String>,
}

/// Gates, as they are judged.
#[derive(Default)]
struct Verdict(Vec<String>);

impl Verdict {
    fn judge(&mut self, holds: bool, gate: &str) {
        println!("  {} {gate}", if holds { "ok    " } else { "FAILED" });
        if !holds {
            self.0.push(gate.to_owned());
        }
    }
}

#[tokio::main]
async fn drive() -> ExitCode {
    allow_connections();
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(folder.path()) else {
        println!("could not mount a small file system to fill: run as root");
        return ExitCode::FAILURE;
    };
    let _model = Running::start(Command::new(std::env::current_exe().unwrap()).env(ROLE, "model"));
    let proxy = start_proxy(&disk);
    wait_for(MODEL_PORT).await;
    wait_for(PROXY_PORT).await;
    let mut verdict = Verdict::default();

    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut clients = JoinSet::new();
    for number in 0..IDLE {
        clients.spawn(idle(number));
    }
    for number in 0..SLOW {
        clients.spawn(slow(number));
    }
    for number in 0..BUSY {
        clients.spawn(busy(number, Arc::clone(&seen)));
    }
    println!(
        "{IDLE} idle connections, {SLOW} that send a byte a second, {BUSY} busy clients\n\
         {:>10} {:>9} {:>8} {:>8} {:>8} {:>8}",
        "store", "requests", "median", "99 %", "longest", "peak MB"
    );

    tokio::time::sleep(CALM).await;
    row("works", &seen, &proxy, &mut verdict);
    // Whoever only waits is not thrown out; after two minutes he would be.
    verdict.judge(
        clients.try_join_next().is_none(),
        "no connection was closed",
    );
    // A commit that is under way this moment counts as late.
    recovered(&mut verdict).await;

    let location = format!("sqlite:{}", disk.store().display());
    let mut lock = SqliteConnection::connect(&location).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut lock)
        .await
        .unwrap();
    let health_said = said_within(LOCKED).await;
    row("locked", &seen, &proxy, &mut verdict);
    verdict.judge(health_said, "health says that the store is late or fails");
    lock.close().await.unwrap();
    recovered(&mut verdict).await;

    take(&seen);
    let filler = disk.fill();
    let health_said = said_within(CALM).await;
    row("full", &seen, &proxy, &mut verdict);
    verdict.judge(health_said, "health says that the store fails");
    std::fs::remove_file(filler).unwrap();
    recovered(&mut verdict).await;

    take(&seen);
    let used = seen.lock().unwrap().compacted.clone();
    let stored = stored(&location, &used).await;
    println!("{} conversations were shortened", used.len());
    verdict.judge(used.len() >= 50, "enough of them to tell");
    verdict.judge(
        stored == used.len(),
        &format!("{stored} of them are stored as published"),
    );

    for file in std::fs::read_dir(&disk.0).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    let health_said = said_within(CALM).await;
    row("gone", &seen, &proxy, &mut verdict);
    verdict.judge(health_said, "health says that the store is gone");
    verdict.judge(proxy.peak_mb() <= MOST_MB, &format!("at most {MOST_MB} MB"));
    match verdict.0.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The command as users start it, on a system that gives it few descriptors.
fn start_proxy(disk: &Disk) -> Running {
    let mut command = Command::new("sh");
    let limited = format!("ulimit -S -n {DESCRIPTORS}; exec \"$0\" \"$@\"");
    let upstream = format!("http://{}", address(MODEL_PORT));
    command
        .args([
            "-c",
            &limited,
            env!("CARGO_BIN_EXE_epitome"),
            "serve",
            "--quiet",
        ])
        .args(["--listen", &address(PROXY_PORT).to_string()])
        .args([
            "--openai-upstream",
            &upstream,
            "--anthropic-upstream",
            &upstream,
        ])
        .args(["--window", WINDOW_TOKENS])
        .args(["--store", &format!("sqlite:{}", disk.store().display())])
        .current_dir(&disk.0)
        .env("HOME", &disk.0)
        .env_remove("XDG_CONFIG_HOME");
    Running::start(&mut command)
}

/// This process has as many connections as the other.
fn allow_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, all).ok();
}

async fn wait_for(port: u16) {
    for _ in 0..600 {
        if TcpStream::connect(address(port)).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!("nothing listens on port {port}");
    std::process::exit(1);
}

/// Connects and says nothing; every other one asks once before. Ends when the server closes the connection.
async fn idle(number: usize) {
    let mut stream = TcpStream::connect(address(PROXY_PORT)).await.unwrap();
    let mut buffer = [0; 4_096];
    if number.is_multiple_of(2) {
        let head = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(head).await.unwrap();
        let read = stream.read(&mut buffer).await.unwrap();
        let answer = buffer.get(..read).unwrap_or_default();
        assert!(
            answer.starts_with(b"HTTP/1.1 200"),
            "an idle client is answered"
        );
    }
    while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}

/// Sends a head, or a body, a byte a second.
async fn slow(number: usize) {
    let mut stream = TcpStream::connect(address(PROXY_PORT)).await.unwrap();
    let head: &[u8] =
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n";
    let at_once = if number.is_multiple_of(2) {
        head.len()
    } else {
        0
    };
    stream
        .write_all(head.get(..at_once).unwrap())
        .await
        .unwrap();
    for byte in head.iter().skip(at_once).chain(std::iter::repeat(&b' ')) {
        if stream.write_all(&[*byte]).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// One conversation after the other, each growing beyond the window.
async fn busy(number: u64, seen: Arc<Mutex<Seen>>) {
    for round in 0.. {
        let seed = number * 1_000 + round;
        let bodies = Growth::new(Wire::OpenaiChat, Kind::ToolHeavy, seed)
            .map(|body| serde_json::to_vec(&body).unwrap())
            .skip_while(|body| body.len() < BODY_BYTES.start)
            .take_while(|body| body.len() < BODY_BYTES.end);
        for body in bodies {
            post(body, &seen).await;
            tokio::time::sleep(PAUSE).await;
        }
    }
}

async fn post(body: Vec<u8>, seen: &Mutex<Seen>) {
    let began = Instant::now();
    let headers = [
        ("content-type", "application/json"),
        ("authorization", "Bearer none"),
    ];
    let path = Wire::OpenaiChat.path();
    let answer = client::send(
        address(PROXY_PORT),
        &Method::POST,
        path,
        &headers,
        body.into(),
    )
    .await;
    let mut seen = seen.lock().unwrap();
    seen.times.push(began.elapsed());
    match answer {
        Ok(answer) if answer.status == 200 && answer.is_complete => {
            if answer.header("x-epitome-action") == "compacted" {
                let conversation = answer.header("x-epitome-conversation");
                seen.compacted.insert(conversation.to_owned());
            }
        }
        Ok(answer) => seen.failures.push(format!("status {}", answer.status)),
        Err(error) => seen.failures.push(error.to_string()),
    }
}

/// What was seen since the last time.
fn take(seen: &Mutex<Seen>) -> (Vec<Duration>, Vec<String>) {
    let mut seen = seen.lock().unwrap();
    (
        std::mem::take(&mut seen.times),
        std::mem::take(&mut seen.failures),
    )
}

fn row(store: &str, seen: &Mutex<Seen>, proxy: &Running, verdict: &mut Verdict) {
    let (mut times, failures) = take(seen);
    times.sort_unstable();
    let at = |share: usize| {
        let time = times
            .get(times.len() * share / 1_000)
            .or_else(|| times.last());
        format!(
            "{:.0} ms",
            time.copied().unwrap_or_default().as_secs_f64() * 1e3
        )
    };
    println!(
        "{store:>10} {:>9} {:>8} {:>8} {:>8} {:>8}",
        times.len(),
        at(500),
        at(990),
        at(1_000),
        proxy.peak_mb()
    );
    let first = failures.first().map_or("", String::as_str);
    verdict.judge(!times.is_empty(), "there were requests");
    verdict.judge(
        failures.is_empty(),
        &format!("{} were not answered {first}", failures.len()),
    );
}

struct Health(Value);

impl Health {
    fn is_degraded(&self) -> bool {
        self.0["status"] == "degraded"
    }

    /// Whether what is wrong is the store.
    fn blames_the_store(&self) -> bool {
        self.is_degraded() && self.0["why"].to_string().contains("the store")
    }

    fn is_well(&self) -> bool {
        !self.is_degraded() && self.0["store_late_commits"] == 0
    }
}

async fn health() -> Health {
    let answer = client::send(
        address(PROXY_PORT),
        &Method::GET,
        "/healthz",
        &[],
        "".into(),
    )
    .await;
    Health(answer.expect("health is always answered").json())
}

/// Waits as long as it says, and tells whether health blamed the store meanwhile.
async fn said_within(time: Duration) -> bool {
    let began = Instant::now();
    let mut is_said = false;
    while began.elapsed() < time {
        is_said |= health().await.blames_the_store();
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    is_said
}

/// Waits until nothing is late any more.
async fn recovered(verdict: &mut Verdict) {
    let began = Instant::now();
    let mut now = health().await;
    while !now.is_well() && began.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(100)).await;
        now = health().await;
    }
    let seconds = began.elapsed().as_secs_f64();
    verdict.judge(
        now.is_well(),
        &format!("well again after {seconds:.1} s {}", now.0["why"]),
    );
}

/// How many conversations have a compaction that is in force.
async fn stored(location: &str, used: &BTreeSet<String>) -> usize {
    let store = AnyStore::open_read_only(location).await.unwrap();
    let tenant = TenantId::local();
    let mut count = 0;
    for conversation in used {
        let id = ConversationId::new(conversation).unwrap();
        // The last ones may have been used a moment ago.
        for _ in 0..600 {
            let rows = store.compactions_of(&tenant, &id).await.unwrap();
            let is_stored = rows
                .iter()
                .any(|row| row.state == CompactionState::Published);
            if is_stored {
                count += 1;
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    store.close().await;
    count
}
