//! The testkit's own tests, in one binary.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests stop the test in the same way as the tests"
)]

#[path = "all/faults.rs"]
mod faults;
#[path = "all/generators.rs"]
mod generators;
#[path = "all/hooks.rs"]
mod hooks;
#[path = "all/overflow.rs"]
mod overflow;
#[path = "all/responses.rs"]
mod responses;
#[path = "all/rules.rs"]
mod rules;
#[path = "all/server.rs"]
mod server;
#[path = "all/streams.rs"]
mod streams;
