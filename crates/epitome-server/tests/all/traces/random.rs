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
/// A worker that has seen so many broken cases has seen enough.
const MOST_BROKEN: usize = 8;

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
            let mut broken = Vec::new();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= first + cases || broken.len() > MOST_BROKEN {
                    return (tally, broken);
                }
                match transport::run(&generator::case(seed)).await {
                    Ok(one) => tally.add(&one),
                    Err(words) => broken.push((seed, words)),
                }
            }
        });
    }
    let mut tally = oracle::Tally::default();
    let mut broken = Vec::new();
    while let Some(done) = workers.join_next().await {
        let (one, others) = done.expect("a worker");
        tally.add(&one);
        broken.extend(others);
    }
    broken.sort();
    for (seed, words) in &broken {
        println!("EPITOME_SEED={seed} EPITOME_CASES=1: {words}");
    }
    if let Some((seed, words)) = broken.first() {
        panic!(
            "{} broken, the first: EPITOME_SEED={seed} EPITOME_CASES=1: {words}\n{:#?}",
            broken.len(),
            generator::case(*seed)
        );
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
