use super::{BEGIN, END, HEAD, replaced};
use crate::agents::Scenario;

fn page(rows: &str) -> String {
    format!("Before.\n\n{BEGIN}\n\n{HEAD}\n{rows}\n{END}\n\nBehind.\n")
}

#[test]
fn rows_take_the_place_of_older_ones_in_the_order_of_the_clients() {
    let old = page("| codex | far | old |\n| codex | two | old |\n| aider | far | old |\n");
    let new = ["| codex | far | new |", "| claude-code | far | new |"].map(str::to_owned);
    let expect =
        page("| claude-code | far | new |\n| codex | far | new |\n| aider | far | old |\n");
    assert_eq!(replaced(&old, &new, None), Some(expect));
}

#[test]
fn where_one_scenario_was_driven_the_others_keep_their_rows() {
    let old = page(
        "| aider | far beyond the window | old |\n| aider | started by wrap | old |\n| mini-swe-agent | own compaction | old |\n",
    );
    let new = ["| aider | started by wrap | new |".to_owned()];
    let expect = page(
        "| aider | far beyond the window | old |\n| aider | started by wrap | new |\n| mini-swe-agent | own compaction | old |\n",
    );
    assert_eq!(replaced(&old, &new, Some(Scenario::Wrapped)), Some(expect));
    let first = page("| aider | upstream faults | old |\n");
    let expect = page("| aider | upstream faults | old |\n| aider | started by wrap | new |\n");
    assert_eq!(
        replaced(&first, &new, Some(Scenario::Wrapped)),
        Some(expect)
    );
}

#[test]
fn a_page_without_marks_is_left_alone() {
    assert_eq!(replaced("Nothing.", &[], None), None);
}
