use super::{Outcome, Row};
use crate::agents::clients::{CLIENTS, Scenario};

fn record(
    tokens: u64,
    status: u16,
    rules: &str,
    has_tools: bool,
    is_side: bool,
    violations: &str,
) -> String {
    format!(
        r#"{{"number":7,"path":"/v1/messages","model":"m","tokens":{tokens},"window":9,"status":{status},"is_complete":true,
        "violations":[{violations}],"rules":[{rules}],"has_tools":{has_tools},"is_side":{is_side},"bytes":3}}"#
    )
    .replace('\n', " ")
}

fn row(scenario: Scenario, with: Outcome, without: Outcome) -> Row {
    Row::new(&CLIENTS[0], scenario, with, without, 0)
}

fn done(records: &[String]) -> Outcome {
    let mut outcome = Outcome::of_records(&records.join("\n")).unwrap();
    outcome.add_driver(&format!(r#"{{"turns":{},"errors":[]}}"#, CLIENTS[0].turns));
    outcome
}

#[test]
fn a_run_is_good_when_nothing_is_wrong_with_it() {
    let good = [
        record(5, 200, "1", true, false, ""),
        record(900, 400, "1", true, false, ""),
        record(2, 200, "", false, false, ""),
        record(3, 200, "", true, true, ""),
    ];
    let outcome = done(&good);
    assert_eq!(outcome.largest_tokens, 5);
    let row = row(Scenario::Far, outcome, Outcome::default());
    assert!(row.is_good(), "{:?}", row.complaints());
}

#[test]
fn a_lost_rule_and_an_invalid_request_are_not_good() {
    for bad in [
        record(5, 200, "", true, false, ""),
        record(5, 200, "1,2", true, false, ""),
        record(5, 400, "1", true, false, r#""UnansweredCall: x""#),
    ] {
        assert!(!row(Scenario::Far, done(&[bad]), Outcome::default()).is_good());
    }
}

#[test]
fn only_faults_excuse_an_error_that_the_client_has_without_epitome_too() {
    let failed = || {
        let mut outcome = Outcome::of_records(&record(5, 200, "1", true, false, "")).unwrap();
        outcome.add_driver(r#"{"turns":2,"errors":["turn 3: cut"]}"#);
        outcome
    };
    assert!(row(Scenario::Faults, failed(), failed()).is_good());
    assert!(!row(Scenario::Far, failed(), failed()).is_good());
    assert!(!row(Scenario::Faults, failed(), Outcome::default()).is_good());
}

#[test]
fn what_is_invalid_without_epitome_too_is_the_clients_own() {
    let invalid = |rule: &str| done(&[record(5, 400, "1", true, false, &format!("\"{rule}: x\""))]);
    assert!(
        row(
            Scenario::Far,
            invalid("LoneReasoning"),
            invalid("LoneReasoning")
        )
        .is_good()
    );
    assert!(
        !row(
            Scenario::Far,
            invalid("LoneReasoning"),
            invalid("EmptyText")
        )
        .is_good()
    );
}

#[test]
fn a_driver_that_dies_is_an_error() {
    let mut outcome = Outcome::default();
    outcome.add_driver("Traceback");
    assert_eq!(outcome.errors.len(), 1);
}
