//! Random traces: a few conversations interleaved over models of different windows, with everything that may confuse a
//! proxy on the way. What comes out is judged by an oracle of its own.
//!
//! `generator` makes a case, which is plain data; `oracle` judges what was seen, which is plain data too; `transport`
//! stands between them and is the only one that knows of sockets.

#[path = "random/generator.rs"]
mod generator;
#[path = "random/oracle.rs"]
mod oracle;
#[path = "random/transport.rs"]
mod transport;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinSet;

use crate::support::number;

/// Cases in an ordinary run; `cargo xtask soak` asks for thousands.
const CASES: u64 = 60;
/// Cases that run at once.
const WORKERS: u64 = 4;

/// All laws of the oracle hold for every case.
pub(super) async fn random_traces() {
    let first = number("EPITOME_SEED").unwrap_or(2_026);
    let cases = number("EPITOME_CASES").unwrap_or(CASES).max(1);
    let next = Arc::new(AtomicU64::new(first));
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        let next = Arc::clone(&next);
        workers.spawn(async move {
            let mut tally = oracle::Tally::default();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= first + cases {
                    return Ok(tally);
                }
                let case = generator::case(seed);
                match transport::run(&case).await {
                    Ok(one) => tally.add(&one),
                    Err(words) => {
                        let again = format!("EPITOME_SEED={seed} EPITOME_CASES=1");
                        return Err(format!("{again}: {words}\n{case:#?}"));
                    }
                }
            }
        });
    }
    let mut tally = oracle::Tally::default();
    while let Some(done) = workers.join_next().await {
        match done.expect("a worker") {
            Ok(one) => tally.add(&one),
            Err(words) => panic!("{words}"),
        }
    }
    println!("{cases} traces: {tally:?}");
    // A generator that never comes near a line would prove nothing.
    assert!(
        tally.bare > 0 && (cases < 20 || tally.compacted > 0),
        "{tally:?}"
    );
    assert!(
        tally.helpless * 5 <= tally.requests,
        "too many that nobody could help: {tally:?}"
    );
}
