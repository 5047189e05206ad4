//! One, two and four `epitome serve` on one PostgreSQL, with thousands of conversations of mixed sizes behind no balancer at all: the
//! requests of a conversation go to one node after the other.
//!
//! Twice for each number of nodes: at the pace of agents, which work for a second between two requests, and as fast as the machine
//! can, where the store falls behind and what it has no room for is dropped, as clients send it again.
//!
//! Gates at the pace of agents: no request fails, every conversation is stored, the server finds no deadlock, and a request takes at
//! most half as many round trips more with four nodes than with two (one alone has nobody to ask). In a rush only requests and
//! deadlocks are judged. Rates judge nothing: nodes, database, model and clients share one machine. `EPITOME_CONVERSATIONS=N` takes
//! fewer or more for each number of nodes; after 60 seconds no more are begun.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench is a program for developers: it stops at the first surprise"
)]

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use epitome_testkit::generate::{Growth, Kind};
use epitome_testkit::postgres::{self, Database, Relay};
use epitome_testkit::{ModelConfig, ScriptedModel, Wire, client};
use http::Method;
use sqlx::{Connection as _, PgConnection};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const ROLE: &str = "EPITOME_BENCH_ROLE";
const MODEL_PORT: u16 = 17_821;
const FIRST_PORT: u16 = 17_822;
const CONVERSATIONS: u64 = 2_000;
/// How many conversations go on at once, and what is between two requests of one.
const AGENTS: Pace = Pace {
    name: "agents",
    clients: 240,
    pause: Duration::from_secs(1),
};
const RUSH: Pace = Pace {
    name: "a rush",
    clients: 16,
    pause: Duration::ZERO,
};
const LONGEST: Duration = Duration::from_secs(60);
const SAMPLE: Duration = Duration::from_millis(50);
const WINDOW_TOKENS: &str = "16000";
const NODES: [u16; 3] = [1, 2, 4];
/// How many more round trips a request may take with the most nodes than with two.
const MORE_ROUND_TRIPS: f64 = 1.5;

const LOCK_WAITS: &str = "\
    SELECT count(*) FROM pg_stat_activity \
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
const DEADLOCKS: &str = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
const STORED: &str = "SELECT count(*) FROM conversations";
const BYTES: &str = "SELECT pg_database_size(current_database())";

#[derive(Clone, Copy, Debug)]
struct Pace {
    name: &'static str,
    clients: usize,
    pause: Duration,
}

#[tokio::main]
async fn main() -> ExitCode {
    if std::env::var(ROLE).is_ok() {
        return serve_model().await;
    }
    let conversations = std::env::var("EPITOME_CONVERSATIONS").ok();
    let conversations = conversations.map_or(CONVERSATIONS, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let _model = Running::start(Command::new(std::env::current_exe().unwrap()).env(ROLE, "model"));
    wait_for(MODEL_PORT).await;
    println!(
        "{:>7} {:>5} {:>13} {:>7} {:>8} {:>9} {:>11} {:>11} {:>10} {:>13} {:>8}",
        "pace",
        "nodes",
        "conversations",
        "stored",
        "requests",
        "compacted",
        "requests/s",
        "round trips",
        "lock waits",
        "bytes each",
        "failures"
    );
    let mut is_good = true;
    for pace in [AGENTS, RUSH] {
        let mut of_two = None;
        for nodes in NODES {
            let Some(database) = postgres::database().await else {
                println!("no PostgreSQL server, so nothing was shown");
                return ExitCode::FAILURE;
            };
            let measured = measure(&database, nodes, pace, conversations, folder.path()).await;
            measured.print(pace, nodes);
            if nodes > 1 {
                of_two.get_or_insert(measured.round_trips);
            }
            is_good &= measured.holds(pace, of_two);
        }
    }
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

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
}

#[derive(Debug)]
struct Measured {
    begun: u64,
    stored: u64,
    requests: u64,
    compacted: u64,
    failures: u64,
    took: Duration,
    /// For each request, what the nodes do of themselves included.
    round_trips: f64,
    /// Waiting statements in a thousand looks.
    lock_waits: u64,
    deadlocks: i64,
    /// What the database takes, for each conversation.
    bytes: i64,
}

impl Measured {
    /// Whether the gates hold; those that do not are told.
    fn holds(&self, pace: Pace, of_two: Option<f64>) -> bool {
        let is_paced = !pace.pause.is_zero();
        let has_grown = of_two.is_some_and(|of_two| self.round_trips > of_two * MORE_ROUND_TRIPS);
        let broken = [
            (self.failures > 0, "no request fails"),
            (self.deadlocks > 0, "no deadlock"),
            (
                is_paced && self.stored != self.begun,
                "every conversation is stored",
            ),
            (
                is_paced && has_grown,
                "round trips of a request do not grow with the nodes",
            ),
        ];
        let broken = broken.iter().filter(|(is_broken, _)| *is_broken);
        for (_, gate) in broken.clone() {
            println!("  FAILED {gate}: {self:?}");
        }
        broken.count() == 0
    }

    fn print(&self, pace: Pace, nodes: u16) {
        println!(
            "{:>7} {nodes:>5} {:>13} {:>7} {:>8} {:>9} {:>11.1} {:>11.1} {:>10} {:>13} {:>8}",
            pace.name,
            self.begun,
            self.stored,
            self.requests,
            self.compacted,
            self.requests as f64 / self.took.as_secs_f64(),
            self.round_trips,
            self.lock_waits,
            self.bytes,
            self.failures
        );
    }
}

/// What the clients have in common.
struct Load {
    nodes: u16,
    pause: Duration,
    conversations: u64,
    next: AtomicU64,
    requests: AtomicU64,
    compacted: AtomicU64,
    failures: AtomicU64,
    until: Instant,
}

async fn measure(
    database: &Database,
    nodes: u16,
    pace: Pace,
    conversations: u64,
    folder: &Path,
) -> Measured {
    let relay = Relay::to(database);
    let mut running = Vec::new();
    for node in 0..nodes {
        running.push(start_node(node, relay.url(), folder));
        // One after the other: the first one makes the schema.
        wait_for(FIRST_PORT + node).await;
    }
    let mut watch = PgConnection::connect(database.url()).await.unwrap();
    let before = relay.round_trips();
    let began = Instant::now();
    let load = Arc::new(Load {
        nodes,
        pause: pace.pause,
        conversations,
        next: AtomicU64::new(0),
        requests: AtomicU64::new(0),
        compacted: AtomicU64::new(0),
        failures: AtomicU64::new(0),
        until: began + LONGEST,
    });
    let mut clients = JoinSet::new();
    for _ in 0..pace.clients {
        clients.spawn(talk(Arc::clone(&load)));
    }
    let (mut looks, mut waiting) = (0, 0);
    let mut took = None;
    let mut last = 0;
    // Writes trail: all is done when nothing goes over the line any more.
    loop {
        let count: i64 = one(&mut watch, LOCK_WAITS).await;
        looks += 1;
        waiting += count.unsigned_abs();
        tokio::time::sleep(SAMPLE).await;
        while clients.try_join_next().is_some() {}
        if clients.is_empty() {
            took.get_or_insert_with(|| began.elapsed());
            tokio::time::sleep(Duration::from_millis(700)).await;
            if relay.round_trips() == last {
                break;
            }
            last = relay.round_trips();
        }
    }
    let begun = load.next.load(Ordering::SeqCst).min(conversations);
    let requests = load.requests.load(Ordering::SeqCst);
    let stored: i64 = one(&mut watch, STORED).await;
    let bytes: i64 = one(&mut watch, BYTES).await;
    Measured {
        begun,
        stored: stored.unsigned_abs(),
        requests,
        compacted: load.compacted.load(Ordering::SeqCst),
        failures: load.failures.load(Ordering::SeqCst),
        took: took.unwrap_or_default(),
        round_trips: (relay.round_trips() - before) as f64 / requests.max(1) as f64,
        lock_waits: waiting * 1_000 / looks,
        deadlocks: one(&mut watch, DEADLOCKS).await,
        bytes: bytes / i64::try_from(begun.max(1)).unwrap(),
    }
}

async fn one(connection: &mut PgConnection, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement)
        .fetch_one(connection)
        .await
        .unwrap()
}

fn start_node(node: u16, store: &str, folder: &Path) -> Running {
    let upstream = format!("http://{}", address(MODEL_PORT));
    let mut command = Command::new(env!("CARGO_BIN_EXE_epitome"));
    command
        .args(["serve", "--quiet", "--window", WINDOW_TOKENS])
        .args(["--listen", &address(FIRST_PORT + node).to_string()])
        .args(["--openai-upstream", &upstream])
        .args(["--anthropic-upstream", &upstream])
        .args(["--store", store])
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("XDG_CONFIG_HOME");
    Running::start(&mut command)
}

/// One conversation after the other, until there are no more or the time is over.
async fn talk(load: Arc<Load>) {
    while Instant::now() < load.until {
        let number = load.next.fetch_add(1, Ordering::SeqCst);
        if number >= load.conversations {
            return;
        }
        // Most are short, some are long, and few grow beyond the window.
        let (least_bytes, requests) = match number % 20 {
            0 => (90_000, 3),
            1..=5 => (25_000, 4),
            _ => (3_000, 3),
        };
        let bodies = Growth::new(Wire::OpenaiChat, Kind::ToolHeavy, number)
            .map(|body| serde_json::to_vec(&body).unwrap())
            .skip_while(|body| body.len() < least_bytes)
            .take(requests);
        for (at, body) in bodies.enumerate() {
            let node = (number + at as u64) % u64::from(load.nodes);
            let port = FIRST_PORT + u16::try_from(node).unwrap();
            post(port, body, &load).await;
            tokio::time::sleep(load.pause).await;
        }
    }
}

async fn post(port: u16, body: Vec<u8>, load: &Load) {
    let headers = [
        ("content-type", "application/json"),
        ("authorization", "Bearer none"),
    ];
    let path = Wire::OpenaiChat.path();
    let answer = client::send(address(port), &Method::POST, path, &headers, body.into()).await;
    load.requests.fetch_add(1, Ordering::SeqCst);
    match answer {
        Ok(answer) if answer.status == 200 && answer.is_complete => {
            if answer.header("x-epitome-action") == "compacted" {
                load.compacted.fetch_add(1, Ordering::SeqCst);
            }
        }
        _ => {
            load.failures.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
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
