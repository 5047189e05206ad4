use super::{BEGIN, END, HEAD, replaced};

#[test]
fn rows_take_the_place_of_older_ones_in_the_order_of_the_clients() {
    let page = |rows: &str| format!("Before.\n\n{BEGIN}\n\n{HEAD}\n{rows}\n{END}\n\nBehind.\n");
    let old = page("| codex | far | old |\n| codex | two | old |\n| aider | far | old |\n");
    let new = ["| codex | far | new |", "| claude-code | far | new |"].map(str::to_owned);
    let expect =
        page("| claude-code | far | new |\n| codex | far | new |\n| aider | far | old |\n");
    assert_eq!(replaced(&old, &new), Some(expect));
}

#[test]
fn a_page_without_marks_is_left_alone() {
    assert_eq!(replaced("Nothing.", &[]), None);
}
