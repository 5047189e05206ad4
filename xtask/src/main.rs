//! The developer task runner: `cargo xtask lint|test|agents|bench|fuzz|soak|museum|screenshots|docs|fresh|dist`.
//!
//! [`task`] reads the command line, [`project`] starts programs in the workspace root, [`needs`] finds or installs what
//! they rely on; each command has the module of its name ([`suites`] is `test`).

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people"
)]

mod agents;
mod bench;
mod clock;
mod dist;
mod docs;
mod fresh;
mod fuzz;
mod lint;
mod museum;
mod needs;
mod project;
mod screenshots;
mod soak;
mod suites;
mod task;

use std::process::ExitCode;

use anyhow::Result;

use crate::project::Project;
use crate::task::{Task, USAGE};

const WRONG_CALL: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = match task::parse(&arguments) {
        Ok(task) => task,
        Err(complaint) => {
            eprintln!("error: {complaint}\n\n{USAGE}");
            return ExitCode::from(WRONG_CALL);
        }
    };
    match perform(&task) {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// How a task ended; the exit code says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Good,
    Bad,
}

impl Verdict {
    fn good_if(condition: bool) -> Self {
        if condition { Self::Good } else { Self::Bad }
    }
}

fn perform(task: &Task) -> Result<Verdict> {
    if *task == Task::Help {
        print!("{USAGE}");
        return Ok(Verdict::Good);
    }
    let project = Project::find()?;
    match task {
        Task::Help => Ok(Verdict::Good),
        Task::Lint => lint::run(&project),
        Task::Test { filter: None } => {
            let tests = suites::run(&project, None)?;
            let fuzz = fuzz::run(&project, None, fuzz::SECONDS_IN_TEST)?;
            Ok(Verdict::good_if(
                tests == Verdict::Good && fuzz == Verdict::Good,
            ))
        }
        Task::Test { filter } => suites::run(&project, filter.as_deref()),
        Task::Agents(extent) => agents::run(&project, extent),
        Task::Fuzz { name, seconds } => fuzz::run(&project, name.as_deref(), *seconds),
        Task::Bench { name, against } => bench::run(&project, name.as_deref(), against.as_deref()),
        Task::Museum { name } => museum::run(&project, name),
        Task::Screenshots => screenshots::run(&project),
        Task::Docs => docs::run(&project),
        Task::Fresh => fresh::run(&project),
        Task::Dist => dist::run(&project),
        Task::Soak { minutes } => {
            let tests = soak::run(&project, *minutes)?;
            let fuzz = fuzz::run(&project, None, fuzz::SECONDS_IN_SOAK)?;
            let fresh = fresh::run(&project)?;
            let all = [tests, fuzz, fresh];
            Ok(Verdict::good_if(
                all.iter().all(|one| *one == Verdict::Good),
            ))
        }
    }
}
