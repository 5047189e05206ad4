//! What the core promises, in one binary.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stop the test in the same way as the tests"
)]

#[path = "all/conformance.rs"]
mod conformance;
#[path = "all/event.rs"]
mod event;
#[path = "all/files.rs"]
mod files;
#[path = "all/guard.rs"]
mod guard;
#[path = "all/heartbeat.rs"]
mod heartbeat;
#[path = "all/ledger.rs"]
mod ledger;
#[path = "all/log.rs"]
mod log;
#[path = "all/meter.rs"]
mod meter;
#[path = "all/pins.rs"]
mod pins;
#[path = "all/plan.rs"]
mod plan;
#[path = "all/preset_name.rs"]
mod preset_name;
#[path = "all/prune.rs"]
mod prune;
#[path = "all/rounds.rs"]
mod rounds;
#[path = "all/scenarios.rs"]
mod scenarios;
#[path = "all/session.rs"]
mod session;
#[path = "all/split.rs"]
mod split;
#[path = "all/support.rs"]
mod support;
#[path = "all/tables.rs"]
mod tables;
#[path = "all/threshold.rs"]
mod threshold;
#[path = "all/trims.rs"]
mod trims;
#[path = "all/warning.rs"]
mod warning;
