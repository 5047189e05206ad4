//! What the configuration promises, in one binary.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests stop the test in the same way as the tests"
)]

#[path = "all/load.rs"]
mod load;
#[path = "all/support.rs"]
mod support;
