use super::{Kind, Notice, parse};

fn notice(suite: &str, kind: Kind, reason: &str) -> Notice {
    Notice {
        suite: suite.to_owned(),
        kind,
        reason: reason.to_owned(),
    }
}

#[test]
fn both_kinds_of_lines_are_understood() {
    let text = "SUITE-SKIPPED sdk: pip could not reach PyPI: timed out\n\nDATA-ABSENT sessions: no ../shared/data\n";
    assert_eq!(
        parse(text),
        [
            notice("sdk", Kind::Skipped, "pip could not reach PyPI: timed out"),
            notice("sessions", Kind::DataAbsent, "no ../shared/data"),
        ]
    );
}

#[test]
fn a_line_of_another_form_is_a_skipped_suite() {
    for line in ["something else", "SUITE-SKIPPED", "SUITE-SKIPPED sdk"] {
        assert_eq!(parse(line), [notice("unnamed", Kind::Skipped, line)]);
    }
}
