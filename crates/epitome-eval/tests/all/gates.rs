use epitome_eval::{Entry, Gates, Rule, problems};

use crate::support::{assistant, call, history, result, system, user};

fn rules(entries: &[Entry]) -> Vec<Rule> {
    problems(entries).into_iter().map(|p| p.rule).collect()
}

#[test]
fn each_rule_has_its_problem() {
    let good = [
        system("s"),
        user("u"),
        call("1", "read", "{}"),
        result("1", "r"),
    ];
    assert!(rules(&good).is_empty());
    assert_eq!(rules(&[assistant("a")]), [Rule::FirstIsUser]);
    assert_eq!(
        rules(&[user("u"), call("1", "x", "{}")]),
        [Rule::CallsAnswered]
    );
    assert_eq!(
        rules(&[user("u"), result("1", "r")]),
        [Rule::ResultsHaveCalls]
    );
    assert_eq!(rules(&[user(" \n")]), [Rule::NotEmpty]);
    assert_eq!(rules(&[user("u"), system("s")]), [Rule::SystemInFront]);
    let odd = [user("u"), call("1", "x", "not json"), result("1", "r")];
    assert_eq!(rules(&odd), [Rule::ArgumentsAreJson]);
    let mut twice = call("1", "x", "{}");
    twice.tool_calls.push(twice.tool_calls[0].clone());
    let twice = [user("u"), twice, result("1", "r"), result("1", "r")];
    assert_eq!(rules(&twice), [Rule::IdsDiffer]);
}

#[test]
fn the_built_in_summariser_passes_the_gates() {
    let mut entries = vec![user(
        "Count the files under src/ and keep notes in NOTES.md.",
    )];
    for number in 0..60 {
        let id = number.to_string();
        entries.push(call(
            &id,
            "read",
            &format!(r#"{{"path":"src/part_{number}.rs"}}"#),
        ));
        entries.push(result(&id, &"fn work() { todo() }\n".repeat(20)));
    }
    let history = history(&entries);
    let gates = Gates::of(&history, 1..=history.len(), &[1_000, 3_000]);
    assert_eq!(gates.tried, 2 * entries.len());
    assert!(gates.outputs > 100, "{gates:?}");
    let broken = [
        gates.newly_invalid,
        gates.over_budget,
        gates.not_repeatable,
        gates.not_idempotent,
        gates.inventing,
    ];
    assert_eq!(broken, [0; 5], "{gates:?}");
}
