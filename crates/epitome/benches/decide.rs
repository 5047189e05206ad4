//! Deciding does not depend on the length of the history: at 100,000 messages it may cost at most twice
//! what it costs at 100. Both are measured in turn in the same run; the best of all turns counts.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures time and prints it"
)]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use epitome::{Decision, Message, Meter, Role, Session, Window};

const SHORT: usize = 100;
const LONG: usize = 100_000;
const CALLS: u32 = 20_000;
const TURNS: usize = 200;
const LIMIT: f64 = 2.0;

fn main() -> ExitCode {
    let (short, long) = (session(SHORT), session(LONG));
    let (mut best_short, mut best_long) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        best_short = best_short.min(time(&short));
        best_long = best_long.min(time(&long));
    }
    let ratio = best_long.as_secs_f64() / best_short.as_secs_f64();
    let nanoseconds = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(CALLS);
    println!("messages  ns per decide");
    println!("{SHORT:>8}  {:.2}", nanoseconds(best_short));
    println!("{LONG:>8}  {:.2}", nanoseconds(best_long));
    println!("ratio {ratio:.2}, limit {LIMIT}");
    if ratio <= LIMIT {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// A session in which something has to be decided: it is above its hard line.
fn session(messages: usize) -> Session {
    let mut session = Session::new(Window::configured(2_000), Meter::Estimate).without_guard();
    for number in 0..messages {
        let (role, text) = if number % 2 == 0 {
            (
                Role::User,
                format!("Question {number}: what about src/part_{number}.rs, please?"),
            )
        } else {
            (
                Role::Assistant,
                format!("Answer {number}: it is as it was, all {number} tests pass."),
            )
        };
        session.push(Message::text(role, text));
    }
    assert!(
        matches!(session.decide(), Decision::Compact(_)),
        "{messages} messages are above the line"
    );
    session
}

fn time(session: &Session) -> Duration {
    let start = Instant::now();
    for _ in 0..CALLS {
        black_box(black_box(session).decide());
    }
    start.elapsed()
}
