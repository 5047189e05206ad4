//! The measures on examples worked out by hand, and against the scripts they were first written in.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "helpers of tests stop the test in the same way as the tests, and say what they skip"
)]

#[path = "all/any_budget.rs"]
mod any_budget;
#[path = "all/baselines.rs"]
mod baselines;
#[path = "all/gates.rs"]
mod gates;
#[path = "all/idents.rs"]
mod idents;
#[path = "all/labels.rs"]
mod labels;
#[path = "all/needs.rs"]
mod needs;
#[path = "all/oracle.rs"]
mod oracle;
#[path = "all/planted.rs"]
mod planted;
#[path = "all/questions.rs"]
mod questions;
#[path = "all/support.rs"]
mod support;
#[path = "all/tables.rs"]
mod tables;
#[path = "all/words.rs"]
mod words;
