//! What the readers and writers of session files promise, over small, generated and real ones, in one binary.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stop the test in the same way as the tests"
)]

#[path = "all/claude_code.rs"]
mod claude_code;
#[path = "all/codex.rs"]
mod codex;
#[path = "all/opencode.rs"]
mod opencode;
#[path = "all/queue.rs"]
mod queue;
#[path = "all/real.rs"]
mod real;
#[path = "all/repair.rs"]
mod repair;
#[path = "all/small.rs"]
mod small;
#[path = "all/usage.rs"]
mod usage;
#[path = "all/write.rs"]
mod write;
