//! The real clients as a suite among the others: the short part of `cargo xtask agents`.

use anyhow::Result;

use super::notices::{Kind, Notice};
use super::report::Report;
use super::tally::Suite;
use crate::agents::{self, Extent};
use crate::project::Project;

/// How it is called in the closing table and as a filter.
pub(super) const SUITE: &str = "agents";

/// Drives the clients and adds what came of it. A client that could not be installed is one that could not be tested.
pub(super) fn add(project: &Project, absent: Option<String>, report: &mut Report) -> Result<()> {
    let findings = agents::execute(project, &Extent::Short)?;
    let failed = findings.failed() as u64;
    report.add_suite(Suite {
        name: format!("{SUITE} (real clients)"),
        passed: findings.rows.len() as u64 - failed,
        failed,
        ..Suite::default()
    });
    let clients = findings.absent.iter();
    let clients = clients.map(|(client, reason)| format!("{client}: {reason}"));
    let files = absent.map(|reason| format!("session files: {reason}"));
    for reason in clients.chain(files) {
        report.add_notice(Notice {
            suite: SUITE.to_owned(),
            kind: Kind::Skipped,
            reason,
        });
    }
    Ok(())
}
