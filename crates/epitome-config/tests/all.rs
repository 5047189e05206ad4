//! What the configuration promises, in one binary.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stop the test in the same way as the tests"
)]

#[path = "all/environment.rs"]
mod environment;
#[path = "all/examples.rs"]
mod examples;
#[path = "all/layers.rs"]
mod layers;
#[path = "all/load.rs"]
mod load;
#[path = "all/problems.rs"]
mod problems;
#[path = "all/schema.rs"]
mod schema;
#[path = "all/secrets.rs"]
mod secrets;
#[path = "all/support.rs"]
mod support;
#[path = "all/tenants.rs"]
mod tenants;
#[path = "all/trust.rs"]
mod trust;
#[path = "all/watch.rs"]
mod watch;
