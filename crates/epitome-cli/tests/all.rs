//! The command as scripts and people call it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests stop the test in the same way as the tests"
)]

#[path = "all/agents.rs"]
mod agents;
#[path = "all/bad_files.rs"]
mod bad_files;
#[path = "all/borrow.rs"]
mod borrow;
#[path = "all/cache_usage.rs"]
mod cache_usage;
#[path = "all/check.rs"]
mod check;
#[path = "all/compact.rs"]
mod compact;
#[path = "all/compact_to.rs"]
mod compact_to;
#[path = "all/config.rs"]
mod config;
#[path = "all/doctor.rs"]
mod doctor;
#[path = "all/encrypted.rs"]
mod encrypted;
#[path = "all/eval.rs"]
mod eval;
#[path = "all/history.rs"]
mod history;
#[path = "all/homes.rs"]
mod homes;
#[path = "all/hostile_data.rs"]
mod hostile_data;
#[path = "all/hostile_project.rs"]
mod hostile_project;
#[path = "all/inspect.rs"]
mod inspect;
#[path = "all/manners.rs"]
mod manners;
#[path = "all/money.rs"]
mod money;
#[path = "all/museum.rs"]
mod museum;
#[path = "all/own_compactions.rs"]
mod own_compactions;
#[path = "all/pages.rs"]
mod pages;
#[path = "all/pins.rs"]
mod pins;
#[path = "all/recall.rs"]
mod recall;
#[path = "all/records.rs"]
mod records;
#[path = "all/replay.rs"]
mod replay;
#[path = "all/responses.rs"]
mod responses;
#[path = "all/serve.rs"]
mod serve;
#[path = "all/sessions.rs"]
mod sessions;
#[path = "all/store.rs"]
mod store;
#[path = "all/summarizer.rs"]
mod summarizer;
#[path = "all/support.rs"]
mod support;
#[path = "all/tenants.rs"]
mod tenants;
#[path = "all/terminal.rs"]
mod terminal;
#[path = "all/verify.rs"]
mod verify;
#[path = "all/versions.rs"]
mod versions;
#[path = "all/wrap.rs"]
mod wrap;
#[path = "all/writing.rs"]
mod writing;
