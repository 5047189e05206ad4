//! The commands that README and `docs/` show, as a suite among the others.

use anyhow::Result;

use super::report::Report;
use super::tally::Suite;
use crate::docs;
use crate::project::Project;

/// How it is called in the closing table and as a filter.
pub(super) const SUITE: &str = "docs";

/// Runs the pages with the command that the tests have built, and adds what came of it.
pub(super) fn add(project: &Project, report: &mut Report) -> Result<()> {
    let pages = docs::run_pages(project)?;
    let failed = pages.iter().filter(|page| !page.is_good).count() as u64;
    let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    report.add_suite(Suite {
        name: format!("{SUITE} ({})", names.join(", ")),
        passed: pages.len() as u64 - failed,
        failed,
        ..Suite::default()
    });
    Ok(())
}
