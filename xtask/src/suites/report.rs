//! The closing table of a test run, and its verdict.

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;

use std::fmt::Write;

use super::build_and_run::Run;
use super::notices::{Kind, Notice};
use super::tally::Suite;
use crate::Verdict;

#[derive(Debug)]
pub(crate) struct Report {
    run: Run,
    notices: Vec<Notice>,
}

impl Report {
    pub(crate) fn new(run: Run, mut notices: Vec<Notice>) -> Self {
        notices.sort();
        notices.dedup();
        Self { run, notices }
    }

    /// Adds a suite that cargo knows nothing of.
    pub(super) fn add_suite(&mut self, suite: Suite) {
        if let Run::Ran { suites, is_success } = &mut self.run {
            *is_success &= !suite.is_failed();
            suites.push(suite);
        }
    }

    pub(super) fn add_notice(&mut self, notice: Notice) {
        self.notices.push(notice);
        self.notices.sort();
        self.notices.dedup();
    }

    pub(super) const fn was_built(&self) -> bool {
        matches!(self.run, Run::Ran { .. })
    }

    /// Under CI a suite that could not run is a failure; absent real data never is.
    pub(crate) fn verdict(&self, is_ci: bool) -> Verdict {
        let is_success = matches!(
            self.run,
            Run::Ran {
                is_success: true,
                ..
            }
        );
        Verdict::good_if(is_success && !(is_ci && self.has_skipped()))
    }

    pub(crate) fn tests_passed(&self) -> u64 {
        self.suites().iter().map(|suite| suite.passed).sum()
    }

    /// The last line of the run.
    pub(crate) fn conclusion(&self, verdict: Verdict) -> String {
        let count = self.tests_passed();
        match verdict {
            Verdict::Bad => format!("test: failed ({count} tests passed)"),
            Verdict::Good if self.has_skipped() => {
                format!(
                    "test: {count} tests passed, but not every suite could run; under CI=true this fails"
                )
            }
            Verdict::Good => format!("test: {count} tests passed"),
        }
    }

    pub(crate) fn table(&self) -> String {
        let mut rows: Vec<(&str, String)> = Vec::new();
        if let Run::DidNotBuild = self.run {
            rows.push(("build", "failed".to_owned()));
        }
        for suite in self.suites().iter().filter(|suite| !suite.is_empty()) {
            rows.push((&suite.name, outcome(suite)));
        }
        for Notice {
            suite,
            kind,
            reason,
        } in &self.notices
        {
            let outcome = match kind {
                Kind::Skipped => format!("could not run: {reason}"),
                Kind::DataAbsent => format!("real data absent: {reason}"),
            };
            rows.push((suite, outcome));
        }
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut table = String::from("\nsuites\n");
        for (name, outcome) in rows {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "  {name:<width$}  {outcome}");
        }
        table
    }

    fn has_skipped(&self) -> bool {
        self.notices
            .iter()
            .any(|notice| notice.kind == Kind::Skipped)
    }

    fn suites(&self) -> &[Suite] {
        match &self.run {
            Run::Ran { suites, .. } => suites,
            Run::DidNotBuild => &[],
        }
    }
}

fn outcome(suite: &Suite) -> String {
    let ignored = match suite.ignored {
        0 => String::new(),
        count => format!(", {count} ignored"),
    };
    if !suite.is_failed() {
        return format!("passed ({}{ignored})", suite.passed);
    }
    if suite.failed == 0 {
        return "failed (ended without a result)".to_owned();
    }
    format!(
        "failed ({} of {}{ignored})",
        suite.failed,
        suite.passed + suite.failed
    )
}
