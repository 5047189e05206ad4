//! What a session costs as it grows: a push of 4 KB must not depend on the history, and the plan and view of 100,000
//! messages may take ten milliseconds. Short and long are measured in turn; the best of all turns counts.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures time and prints it"
)]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use epitome::{Facts, Log, Message, Meter, Plan, Reason, Role, Session, View, Window};

const SHORT: usize = 100;
const LONG: usize = 100_000;
const TURNS: usize = 40;
const PUSHES: usize = 200;
const PUSH_LIMIT: f64 = 2.0;
const PLAN_LIMIT: Duration = Duration::from_millis(10);
const PLAN_TARGET: Duration = Duration::from_millis(1);

fn main() -> ExitCode {
    let push_is_good = push();
    let plan_is_good = plan();
    if push_is_good && plan_is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn push() -> bool {
    let (short, long) = (session(SHORT), session(LONG));
    let (mut best_short, mut best_long) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        best_short = best_short.min(time_pushes(&short));
        best_long = best_long.min(time_pushes(&long));
    }
    let ratio = best_long.as_secs_f64() / best_short.as_secs_f64();
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / PUSHES as f64;
    println!("messages  µs per push of 4 KB");
    println!("{SHORT:>8}  {:.2}", micros(best_short));
    println!("{LONG:>8}  {:.2}", micros(best_long));
    println!("ratio {ratio:.2}, limit {PUSH_LIMIT}");
    ratio <= PUSH_LIMIT
}

fn time_pushes(session: &Session) -> Duration {
    // Room that grows by doubling is paid for by whoever comes first; that is not the question here.
    let mut session = session.clone();
    for number in 0..PUSHES {
        session.push(message(number, 4_096));
    }
    let messages: Vec<Message> = (0..PUSHES).map(|number| message(number, 4_096)).collect();
    let start = Instant::now();
    for message in messages {
        session.push(black_box(message));
    }
    start.elapsed()
}

fn plan() -> bool {
    let mut log = Log::new();
    for number in 0..LONG {
        log.push(&Facts::of(&message(number, 60), Meter::Estimate));
    }
    let mut best = Duration::MAX;
    for _ in 0..TURNS {
        let start = Instant::now();
        let plan = Plan::make(black_box(&log), 50_000, Reason::Manual);
        let view = plan.map(|plan| View::of(&plan, log.len(), &[]));
        best = best.min(start.elapsed());
        assert!(black_box(view).is_ok_and(|view| view.items.len() == 3));
    }
    println!(
        "plan and view of {LONG} messages: {:.3} ms, limit {:?}, target {:?}",
        best.as_secs_f64() * 1e3,
        PLAN_LIMIT,
        PLAN_TARGET
    );
    best <= PLAN_LIMIT
}

fn session(messages: usize) -> Session {
    let mut session = Session::new(Window::configured(1_000_000), Meter::Estimate);
    for number in 0..messages {
        session.push(message(number, 60));
    }
    session
}

fn message(number: usize, bytes: usize) -> Message {
    let role = if number.is_multiple_of(2) {
        Role::User
    } else {
        Role::Assistant
    };
    let line = format!("Number {number} is about src/part_{number}.rs. ");
    Message::text(role, line.repeat(bytes.div_ceil(line.len())))
}
