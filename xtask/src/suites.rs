//! `cargo xtask test`: prepares, runs everything, and says of every suite whether it passed, failed or could not run.
//!
//! Layout: [`build_and_run`] drives cargo, [`on_postgres`] runs a part again on another database, [`clients`] the real clients,
//! [`documentation`] the commands that pages show, [`tally`] reads its output, [`notices`] reads what the tests say they could not
//! do, [`report`] puts them together.

mod build_and_run;
mod clients;
mod documentation;
mod notices;
mod on_postgres;
mod report;
mod tally;

use anyhow::Result;

use crate::Verdict;
use crate::agents;
use crate::needs::{self, FOR_TESTS};
use crate::project::{Project, is_ci};

pub(crate) use build_and_run::{Profile, Selection};
use on_postgres::Again;
pub(crate) use report::Report;

pub(crate) fn run(project: &Project, filter: Option<&str>) -> Result<Verdict> {
    // The tests of session files run the agents; a filter that leaves them out need not wait for them.
    let has_clients = filter.is_none_or(|filter| filter == clients::SUITE);
    let installed = has_clients.then(|| agents::for_session_files(project));
    let (folder, absent) = match installed.transpose()? {
        Some(Ok(folder)) => (folder.to_string_lossy().into_owned(), None),
        Some(Err(reason)) => (String::new(), Some(reason)),
        None => (String::new(), None),
    };
    let environment = [("EPITOME_AGENTS", folder.as_str())];
    let mut report = execute(
        project,
        &Selection {
            profile: Profile::Dev,
            filter,
            environment: if folder.is_empty() { &[] } else { &environment },
        },
    )?;
    if has_clients && report.was_built() {
        clients::add(project, absent, &mut report)?;
    }
    if filter.is_none_or(|filter| filter == documentation::SUITE) && report.was_built() {
        documentation::add(project, &mut report)?;
    }
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
    let is_absent = unmet.iter().any(|need| need.suites.contains(&"postgres"));
    let again = match selection.profile {
        _ if is_absent => Again::Not,
        Profile::Dev => Again::Short,
        Profile::Release => Again::Whole,
    };
    let run = build_and_run::build_and_run(project, selection, notice_file.path(), again)?;
    let mut notices = notice_file.read()?;
    notices.extend(notices::of_unmet_needs(&unmet));
    Ok(Report::new(run, notices))
}
