//! Verifying a summary stays well below what anybody waits for: a source of 200,000 tokens is read and a summary of it
//! checked in at most 50 ms, and a source four times as long takes at most six times as long. The best of all turns
//! counts.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures time and prints it"
)]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use epitome::verify::Verification;
use epitome::{Block, Call, Message, Meter, ResultPart, Role, ToolResult};

const TOKENS: u64 = 200_000;
const TURNS: usize = 12;
const LIMIT: Duration = Duration::from_millis(50);
/// How much longer a source is, and how much longer it may take.
const LONGER: u64 = 4;
const SLOWER: u32 = 6;

fn main() -> ExitCode {
    let short = measured(TOKENS / LONGER);
    let long = measured(TOKENS);
    println!(
        "limit {LIMIT:.0?} for {TOKENS} tokens, and {SLOWER} times what a {LONGER}th of it takes"
    );
    if long <= LIMIT && long <= short * SLOWER {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The best time for a source of so many tokens.
fn measured(tokens: u64) -> Duration {
    let messages = conversation(tokens);
    let source: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    let summary = summary();
    let (mut best_read, mut best_check) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        let start = Instant::now();
        let verification = Verification::of(black_box(&source), None);
        let read = start.elapsed();
        black_box(verification.check(black_box(&summary)));
        best_read = best_read.min(read);
        best_check = best_check.min(start.elapsed() - read);
    }
    let whole = best_read + best_check;
    println!(
        "{tokens:>7} tokens: source read in {best_read:.1?}, summary checked in {best_check:.1?}, together {whole:.1?}"
    );
    whole
}

/// Steps that read and edit files, as agents make them.
fn conversation(wanted: u64) -> Vec<Message> {
    let mut messages = vec![Message::text(
        Role::User,
        "Make the import of invoices faster. Never touch the files under migrations/.",
    )];
    let mut tokens = 0;
    let mut step = 0;
    while tokens < wanted {
        let id = format!("call_{step}");
        let call = Message {
            role: Role::Assistant,
            blocks: vec![
                Block::Text(format!("Now part {step} of the import, then its tests.")),
                Block::Call(Call::new(
                    id.clone(),
                    "read_file",
                    format!(r#"{{"path":"src/import/part_{step}.rs","offset":{step}}}"#),
                )),
            ],
        };
        let lines: Vec<String> = (0..120)
            .map(|line| {
                let number = step * 7 + line;
                format!("{line:>6}→    let invoice_{number} = read_batch(&store, {number}, Mode::Fast)?; // took {line} ms")
            })
            .collect();
        let result = Message {
            role: Role::Tool,
            blocks: vec![Block::Result(ToolResult {
                call_id: id.into(),
                parts: vec![ResultPart::Text(lines.join("\n"))],
                is_error: false,
            })],
        };
        tokens += Meter::Estimate.message(&call) + Meter::Estimate.message(&result);
        messages.extend([call, result]);
        step += 1;
    }
    messages
}

fn summary() -> String {
    let lines: Vec<String> = (0..120)
        .map(|line| {
            format!("- `src/import/part_{line}.rs` reads invoice_{line} with read_batch; the user asked for a faster import (line {line}).")
        })
        .collect();
    format!("# Summary\n\n{}\n", lines.join("\n"))
}
