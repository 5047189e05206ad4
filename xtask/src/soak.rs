//! `cargo xtask soak`: the test suite with many generated cases, round after round with a new seed.

#[cfg(test)]
#[path = "soak_tests.rs"]
mod tests;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::Verdict;
use crate::clock;
use crate::project::Project;
use crate::suites::{self, Profile, Selection};

const DEFAULT_CASES: &str = "10000";

/// One round at least; further rounds, each with the next seed, begin until the minutes are over or one fails.
pub(crate) fn run(project: &Project, minutes: u64) -> Result<Verdict> {
    let begin = clock::now();
    let first_seed = match std::env::var("EPITOME_SEED") {
        Ok(text) => text
            .parse()
            .with_context(|| format!("EPITOME_SEED={text} is not a number"))?,
        Err(_) => seed_from(begin),
    };
    let cases = std::env::var("EPITOME_CASES").unwrap_or_else(|_| DEFAULT_CASES.to_owned());
    println!(
        "soak: commit {}, seed {first_seed}, {cases} cases, {minutes} minutes",
        commit(project)
    );

    let mut rounds = 0_u64;
    let mut tests_passed = 0;
    let mut seed = first_seed;
    let verdict = loop {
        println!("\nsoak: round {}, seed {seed}", rounds + 1);
        let seed_text = seed.to_string();
        let report = suites::execute(
            project,
            &Selection {
                profile: Profile::Release,
                filter: None,
                environment: &[("EPITOME_SEED", &seed_text), ("EPITOME_CASES", &cases)],
            },
        )?;
        rounds += 1;
        tests_passed += report.tests_passed();
        print!("{}", report.table());
        if report.verdict(crate::project::is_ci()) == Verdict::Bad {
            eprintln!(
                "soak: to repeat: EPITOME_SEED={seed} EPITOME_CASES={cases} cargo test --workspace --release --locked"
            );
            break Verdict::Bad;
        }
        if is_over(begin, clock::now(), minutes) {
            break Verdict::Good;
        }
        seed = seed.wrapping_add(1);
    };
    println!(
        "soak: commit {}, seeds {first_seed} to {seed}, {cases} cases, {rounds} rounds, {tests_passed} tests passed",
        commit(project)
    );
    Ok(verdict)
}

fn seed_from(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

fn is_over(begin: SystemTime, now: SystemTime, minutes: u64) -> bool {
    // A clock that was set back ends the run rather than extending it without limit.
    now.duration_since(begin).map_or(true, |elapsed| {
        elapsed >= Duration::from_secs(minutes.saturating_mul(60))
    })
}

fn commit(project: &Project) -> String {
    let mut git = project.command("git");
    git.args(["describe", "--always", "--dirty"]);
    match git.output() {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => "unknown".to_owned(),
    }
}
