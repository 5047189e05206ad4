//! What a compaction without a model costs: counting the messages, planning, and writing the summary. 200,000 tokens may
//! take 100 ms, and a token of 2,000,000 may cost half as much again as one of 200,000.
//!
//! Time is that of the processor, where the system tells it; the best of some turns counts.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark measures time and prints it, and stops where it cannot"
)]

#[path = "compact/conversation.rs"]
mod conversation;
#[path = "compact/recorded.rs"]
mod recorded;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use epitome::{Basis, Compaction, Facts, Log, Message, Meter, Plan, Reason};

use conversation::Style;

/// Tokens of the conversations; the first is what the limit is for.
const SIZES: [u64; 4] = [200_000, 500_000, 1_000_000, 2_000_000];
const TURNS: usize = 3;
/// What one turn works on at least, in tokens.
const TURN_TOKENS: u64 = 2_000_000;
const TARGET_TOKENS: u64 = 8_000;
const LIMIT: Duration = Duration::from_millis(100);
const TARGET: Duration = Duration::from_millis(10);
/// How much more a token of the longest conversation may cost than one of the shortest.
const GROWTH_LIMIT: f64 = 1.5;

fn main() -> ExitCode {
    println!(
        "conversation           tokens        ms  of it counting  ns per token  with verification"
    );
    let mut is_good = true;
    for style in Style::ALL {
        let costs = SIZES.map(|tokens| measure(style.name(), &style.messages(tokens)));
        let [first, .., last] = costs;
        let growth = last.nanos_per_token() / first.nanos_per_token();
        println!("  growth {growth:.2}, limit {GROWTH_LIMIT}");
        is_good &= growth <= GROWTH_LIMIT && first.is_good();
    }
    match recorded::longest() {
        Some((name, messages)) => is_good &= measure(&name, &messages).is_good(),
        None => println!("no recorded session: none is measured"),
    }
    println!("limit {LIMIT:?} for {} tokens, target {TARGET:?}", SIZES[0]);
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// What one conversation took.
struct Cost {
    tokens: u64,
    all: Duration,
}

impl Cost {
    fn nanos_per_token(&self) -> f64 {
        self.all.as_nanos() as f64 / self.tokens as f64
    }

    /// Within the limit, for its size.
    fn is_good(&self) -> bool {
        self.nanos_per_token() <= LIMIT.as_nanos() as f64 / SIZES[0] as f64
    }
}

fn measure(name: &str, messages: &[Message]) -> Cost {
    let log = counted(messages);
    let tokens = log.total_tokens();
    // The system counts in steps of some milliseconds: short work is done often.
    let repeats = u32::try_from(TURN_TOKENS / tokens).map_or(1, |repeats| repeats.max(1));
    let per_run = |work: &dyn Fn()| {
        let turns = (0..TURNS).map(|_| {
            let start = processor_time();
            for _ in 0..repeats {
                work();
            }
            (processor_time() - start) / repeats
        });
        turns.min().unwrap_or_default()
    };
    let counting = per_run(&|| {
        black_box(counted(messages));
    });
    let basis = Basis::new(&log, messages, Meter::Estimate);
    let plan = || Plan::make(&log, TARGET_TOKENS, Reason::Manual).expect("a long conversation");
    let writing = per_run(&|| {
        assert!(black_box(Compaction::extract(plan(), &basis)).is_ok());
    });
    let verified = per_run(&|| {
        assert!(black_box(Compaction::extract_verified(plan(), &basis)).is_ok());
    });
    let cost = Cost {
        tokens,
        all: counting + writing,
    };
    println!(
        "{name:<20} {tokens:>8}  {:>8.1}  {:>14.1}  {:>12.0}  {:>17.1}",
        cost.all.as_secs_f64() * 1e3,
        counting.as_secs_f64() * 1e3,
        cost.nanos_per_token(),
        (counting + verified).as_secs_f64() * 1e3
    );
    cost
}

fn counted(messages: &[Message]) -> Log {
    let mut log = Log::new();
    for message in black_box(messages) {
        log.push(&Facts::of(message, Meter::Estimate));
    }
    log
}

/// What this thread has used of the processor; the time of day where the system does not say.
fn processor_time() -> Duration {
    thread_local! {
        static START: Instant = Instant::now();
    }
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = used.and_then(|used| used.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.with(|start| start.elapsed()), Duration::from_nanos)
}
