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
use std::time::Instant;

use epitome_store::{AnyStore, Store};
use epitome_testkit::postgres::{self, Relay};
use measured::CALLS;

const FEW: u64 = 100;
const MANY: u64 = 10_000;
/// How much slower a call may be among the many.
const GATE: f64 = 2.0;

/// A store to measure, and how many conversations it has.
struct Filled {
    store: AnyStore,
    url: String,
    conversations: u64,
    /// Counts what goes over the line, where there is one.
    relay: Option<Relay>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let many = std::env::var("EPITOME_CONVERSATIONS").ok();
    let many = many.map_or(MANY, |many| many.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite:{}/{name}.db", folder.path().display());
    let few = Filled::new("SQLite", url("few"), FEW, None).await;
    let all = Filled::new("SQLite", url("many"), many, None).await;
    let mut is_good = compare("SQLite", &few, &all).await;
    let (Some(few), Some(all)) = (postgres::database().await, postgres::database().await) else {
        println!("PostgreSQL: no server, so nothing was shown");
        return ExitCode::FAILURE;
    };
    let mut filled = Vec::new();
    for (database, conversations) in [(&few, FEW), (&all, many)] {
        let relay = Relay::to(database);
        let url = database.url().to_owned();
        filled.push(Filled::new("PostgreSQL", url, conversations, Some(relay)).await);
    }
    if let [few, all] = filled.as_slice() {
        is_good &= compare("PostgreSQL", few, all).await;
    }
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

impl Filled {
    /// Fills a new store, and opens it for measuring.
    async fn new(name: &str, url: String, conversations: u64, relay: Option<Relay>) -> Self {
        let started = Instant::now();
        filling::fill(&url, conversations).await;
        let store = AnyStore::open(&url).await.unwrap();
        let statistics = epitome_store::Housekeeping::statistics(&store)
            .await
            .unwrap();
        println!(
            "{name}: {} messages in {} conversations, {} bytes on disk for each of them, written in {} s",
            statistics.entries,
            statistics.conversations,
            statistics.disk_bytes / statistics.conversations.max(1),
            started.elapsed().as_secs()
        );
        store.close().await;
        // One connection, so that a call begins when all of the one before is over.
        let url = match &relay {
            Some(relay) => format!("{}&max_connections=1", relay.url()),
            None => url,
        };
        Self {
            store: AnyStore::open(&url).await.unwrap(),
            url,
            conversations,
            relay,
        }
    }

    fn round_trips(&self) -> u64 {
        self.relay.as_ref().map_or(0, Relay::round_trips)
    }
}

/// Prints a line for each call, and says whether all of them keep to the gate.
async fn compare(name: &str, few: &Filled, many: &Filled) -> bool {
    let mut is_good = true;
    println!("{name}: median among few, among many, ratio; round trips of each call");
    for call in CALLS {
        // What is prepared when it is asked for the first time is prepared in both.
        for at in 0..call.times() / 10 {
            measured::once(call, few, 1_000_000 + at).await;
            measured::once(call, many, 1_000_000 + at).await;
        }
        let (mut among_few, mut among_many) = (Vec::new(), Vec::new());
        let (mut trips_few, mut trips_many) = (0, 0);
        for at in 0..call.times() {
            let before = (few.round_trips(), many.round_trips());
            among_few.push(measured::once(call, few, at).await);
            among_many.push(measured::once(call, many, at).await);
            trips_few += few.round_trips() - before.0;
            trips_many += many.round_trips() - before.1;
        }
        among_few.sort();
        among_many.sort();
        let middle = among_few.len() / 2;
        let (few_took, many_took) = (
            among_few.get(middle).copied().unwrap(),
            among_many.get(middle).copied().unwrap(),
        );
        let ratio = many_took.as_secs_f64() / few_took.as_secs_f64();
        // The end of one call may be counted with the next.
        let each = |trips: u64| trips.div_ceil(call.times());
        let trips = match few.relay {
            Some(_) => format!("  {} and {}", each(trips_few), each(trips_many)),
            None => String::new(),
        };
        let is_constant = each(trips_few).abs_diff(each(trips_many)) == 0;
        let verdict = match (ratio <= GATE, is_constant) {
            (true, true) => "",
            (false, _) => "  above the gate",
            (true, false) => "  round trips grow",
        };
        is_good &= verdict.is_empty();
        let call = call.name();
        println!("  {call:<34} {few_took:>10.1?} {many_took:>10.1?}  {ratio:>5.2}{trips}{verdict}");
    }
    is_good
}
