//! Any history, any settings, any order of calls on the core.

#![no_main]

#[path = "../../crates/epitome/tests/all/fuzz/drive.rs"]
mod drive;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drive::run(bytes));
