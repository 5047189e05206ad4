//! `cargo xtask test`: prepares, runs everything, and says of every suite whether it passed, failed or could not run.
//!
//! Layout: [`build_and_run`] drives cargo, [`tally`] reads its output, [`notices`] reads what the tests say they could
//! not do, [`report`] puts the three together.

mod build_and_run;
mod notices;
mod report;
mod tally;

use anyhow::Result;

use crate::Verdict;
use crate::needs::{self, FOR_TESTS};
use crate::project::{Project, is_ci};

pub(crate) use build_and_run::{Profile, Selection};
pub(crate) use report::Report;

pub(crate) fn run(project: &Project, filter: Option<&str>) -> Result<Verdict> {
    let report = execute(
        project,
        &Selection {
            profile: Profile::Dev,
            filter,
            environment: &[],
        },
    )?;
    print!("{}", report.table());
    let verdict = match report.verdict(is_ci()) {
        Verdict::Good if report.tests_passed() == 0 => {
            eprintln!("no test ran");
            Verdict::Bad
        }
        verdict => verdict,
    };
    println!("{}", report.conclusion(verdict));
    Ok(verdict)
}

/// Prepares what the tests need and runs the selected ones, with cargo's output on the terminal as it comes.
pub(crate) fn execute(project: &Project, selection: &Selection<'_>) -> Result<Report> {
    let unmet = needs::prepare(project, FOR_TESTS);
    let notice_file = notices::NoticeFile::create()?;
    let run = build_and_run::build_and_run(project, selection, notice_file.path())?;
    let mut notices = notice_file.read()?;
    notices.extend(notices::of_unmet_needs(&unmet));
    Ok(Report::new(run, notices))
}
