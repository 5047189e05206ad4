//! What the core promises, in one binary.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests stop the test in the same way as the tests"
)]

#[path = "all/bad_input.rs"]
mod bad_input;
#[path = "all/conformance.rs"]
mod conformance;
#[path = "all/event.rs"]
mod event;
#[path = "all/files.rs"]
mod files;
#[path = "all/fuzz.rs"]
mod fuzz;
#[path = "all/gauge.rs"]
mod gauge;
#[path = "all/guard.rs"]
mod guard;
#[path = "all/handover.rs"]
mod handover;
#[path = "all/heartbeat.rs"]
mod heartbeat;
#[path = "all/hostile.rs"]
mod hostile;
#[path = "all/laws.rs"]
mod laws;
#[path = "all/ledger.rs"]
mod ledger;
#[path = "all/log.rs"]
mod log;
#[path = "all/meter.rs"]
mod meter;
#[path = "all/models.rs"]
mod models;
#[path = "all/moves.rs"]
mod moves;
#[path = "all/named_results.rs"]
mod named_results;
#[path = "all/pin_states.rs"]
mod pin_states;
#[path = "all/pins.rs"]
mod pins;
#[path = "all/plan.rs"]
mod plan;
#[path = "all/planted.rs"]
mod planted;
#[path = "all/preset_name.rs"]
mod preset_name;
#[path = "all/provenance.rs"]
mod provenance;
#[path = "all/prune.rs"]
mod prune;
#[path = "all/quotes.rs"]
mod quotes;
#[path = "all/rounds.rs"]
mod rounds;
#[path = "all/scenarios.rs"]
mod scenarios;
#[path = "all/session.rs"]
mod session;
#[path = "all/settings.rs"]
mod settings;
#[path = "all/settings_examples.rs"]
mod settings_examples;
#[path = "all/settings_rows.rs"]
mod settings_rows;
#[path = "all/seventh_design.rs"]
mod seventh_design;
#[path = "all/spirals.rs"]
mod spirals;
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
#[path = "all/unseen.rs"]
mod unseen;
#[path = "all/verify.rs"]
mod verify;
#[path = "all/waiting.rs"]
mod waiting;
#[path = "all/warning.rs"]
mod warning;
