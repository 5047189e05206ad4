use super::Report;
use crate::Verdict;
use crate::suites::build_and_run::Run;
use crate::suites::notices::{Kind, Notice};
use crate::suites::tally::Suite;

fn suite(name: &str, passed: u64, failed: u64) -> Suite {
    Suite {
        name: name.to_owned(),
        passed,
        failed,
        ..Suite::default()
    }
}

fn notice(suite: &str, kind: Kind, reason: &str) -> Notice {
    Notice {
        suite: suite.to_owned(),
        kind,
        reason: reason.to_owned(),
    }
}

fn ran(suites: Vec<Suite>, is_success: bool) -> Run {
    Run::Ran { suites, is_success }
}

#[test]
fn the_table_names_every_suite_that_has_something_to_tell() {
    let broken = Suite {
        is_broken: true,
        ..suite("epitome-cli (command)", 0, 0)
    };
    let suites = vec![
        suite("epitome", 12, 0),
        suite("epitome-wire tests/all", 4, 2),
        suite("xtask documentation", 0, 0),
        broken,
    ];
    let repeated = notice("sdk", Kind::Skipped, "no PyPI");
    let notices = vec![
        repeated.clone(),
        notice("sessions", Kind::DataAbsent, "no ../shared/data"),
        repeated,
    ];
    let report = Report::new(ran(suites, false), notices);
    assert_eq!(
        report.table(),
        "
suites
  epitome                 passed (12)
  epitome-wire tests/all  failed (2 of 6)
  epitome-cli (command)   failed (ended without a result)
  sdk                     could not run: no PyPI
  sessions                real data absent: no ../shared/data
"
    );
    assert_eq!(report.tests_passed(), 16);
}

#[test]
fn only_a_skipped_suite_makes_ci_stricter() {
    let check = |run: Run, kinds: &[Kind], on_a_desk: Verdict, under_ci: Verdict| {
        let notices = kinds.iter().map(|kind| notice("x", *kind, "y")).collect();
        let report = Report::new(run, notices);
        assert_eq!(report.verdict(false), on_a_desk);
        assert_eq!(report.verdict(true), under_ci);
    };
    let good = || ran(Vec::new(), true);
    check(good(), &[], Verdict::Good, Verdict::Good);
    check(good(), &[Kind::DataAbsent], Verdict::Good, Verdict::Good);
    check(good(), &[Kind::Skipped], Verdict::Good, Verdict::Bad);
    check(ran(Vec::new(), false), &[], Verdict::Bad, Verdict::Bad);
    check(Run::DidNotBuild, &[], Verdict::Bad, Verdict::Bad);
}
