//! What belongs to one conversation costs the same among 1,000,000 messages in 10,000 conversations as among 10,000 in 100.
//!
//! On SQLite and on PostgreSQL: the two stores are asked by turns, so that a busy machine slows both, and the medians are
//! compared. On PostgreSQL the round trips are counted too, and must be as many. `EPITOME_CONVERSATIONS=N` takes fewer or more.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench is a program for developers: it stops at the first surprise, and reads the clock"
)]

#[path = "scale/filling.rs"]
mod filling;
#[path = "scale/measured.rs"]
mod measured;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use epitome_store::{AnyStore, Housekeeping};
use epitome_testkit::postgres::{self, Relay};
use measured::{CALLS, Call};

const FEW: u64 = 100;
const MANY: u64 = 10_000;
/// How much slower a call may be among the many.
const GATE: f64 = 2.0;

/// A store to measure, and how many conversations it has.
struct Filled {
    store: AnyStore,
    url: String,
    conversations: u64,
}

/// The same through something that counts what goes over the line, which takes its time.
struct Counted {
    filled: Filled,
    relay: Relay,
}

/// How often a call is made to learn how many round trips it takes.
const COUNTED_CALLS: u64 = 8;

#[tokio::main]
async fn main() -> ExitCode {
    let many = std::env::var("EPITOME_CONVERSATIONS").ok();
    let many = many.map_or(MANY, |many| many.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite:{}/{name}.db", folder.path().display());
    let few = Filled::new("SQLite", url("few"), FEW).await;
    let all = Filled::new("SQLite", url("many"), many).await;
    let mut is_good = compare("SQLite", &few, &all).await;
    let (Some(few), Some(all)) = (postgres::database().await, postgres::database().await) else {
        println!("PostgreSQL: no server, so nothing was shown");
        return ExitCode::FAILURE;
    };
    let relays = [Relay::to(&few), Relay::to(&all)];
    let few = Filled::new("PostgreSQL", few.url().to_owned(), FEW).await;
    let all = Filled::new("PostgreSQL", all.url().to_owned(), many).await;
    is_good &= compare("PostgreSQL", &few, &all).await;
    let [for_few, for_all] = relays;
    let few = Counted::new(for_few, FEW).await;
    let all = Counted::new(for_all, many).await;
    is_good &= count(&few, &all).await;
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

impl Filled {
    /// Fills a new store, and opens it for measuring.
    async fn new(name: &str, url: String, conversations: u64) -> Self {
        let started = Instant::now();
        filling::fill(&url, conversations).await;
        let store = AnyStore::open(&url).await.unwrap();
        let statistics = store.statistics().await.unwrap();
        println!(
            "{name}: {} messages in {} conversations, {} bytes on disk for each of them, written in {} s",
            statistics.entries,
            statistics.conversations,
            statistics.disk_bytes / statistics.conversations.max(1),
            started.elapsed().as_secs()
        );
        Self {
            store,
            url,
            conversations,
        }
    }
}

impl Counted {
    /// One connection, so that a call begins when all of the one before is over.
    async fn new(relay: Relay, conversations: u64) -> Self {
        let url = format!("{}&max_connections=1", relay.url());
        let filled = Filled {
            store: AnyStore::open(&url).await.unwrap(),
            url,
            conversations,
        };
        Self { filled, relay }
    }

    /// How many round trips a call takes; the end of the last one is counted with the next.
    async fn round_trips(&self, call: Call) -> u64 {
        measured::once(call, &self.filled, 2_000_000).await;
        let before = self.relay.round_trips();
        for at in 0..COUNTED_CALLS {
            measured::once(call, &self.filled, 3_000_000 + at).await;
        }
        let taken = self.relay.round_trips() - before;
        (taken + COUNTED_CALLS / 2) / COUNTED_CALLS
    }
}

/// Prints a line for each call, and says whether all of them keep to the gate.
async fn compare(name: &str, few: &Filled, many: &Filled) -> bool {
    let mut is_good = true;
    println!("{name}: median among few, among many, ratio");
    for call in CALLS {
        // What is prepared when it is asked for the first time is prepared in both.
        for at in 0..call.times() / 10 {
            measured::once(call, few, 1_000_000 + at).await;
            measured::once(call, many, 1_000_000 + at).await;
        }
        let (mut among_few, mut among_many) = (Vec::new(), Vec::new());
        for at in 0..call.times() {
            among_few.push(measured::once(call, few, at).await);
            among_many.push(measured::once(call, many, at).await);
        }
        let (few_took, many_took) = (median(among_few), median(among_many));
        let ratio = many_took.as_secs_f64() / few_took.as_secs_f64();
        let verdict = if ratio <= GATE {
            ""
        } else {
            "  above the gate"
        };
        is_good &= ratio <= GATE;
        let call = call.name();
        println!("  {call:<26} {few_took:>10.1?} {many_took:>10.1?}  {ratio:>5.2}{verdict}");
    }
    is_good
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap()
}

/// The same for round trips, which must be as many.
async fn count(few: &Counted, many: &Counted) -> bool {
    let mut is_good = true;
    println!("PostgreSQL: round trips among few, among many");
    for call in CALLS {
        let (among_few, among_many) = (few.round_trips(call).await, many.round_trips(call).await);
        let is_same = among_few == among_many;
        let verdict = if is_same { "" } else { "  not constant" };
        is_good &= is_same;
        println!(
            "  {:<26} {among_few:>4} {among_many:>4}{verdict}",
            call.name()
        );
    }
    is_good
}
