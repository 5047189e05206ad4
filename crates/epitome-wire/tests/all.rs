//! What the wire crate promises, over generated and real conversations, in one binary.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests stop the test in the same way as the tests, and say what they skip"
)]

#[path = "all/answers.rs"]
mod answers;
#[path = "all/budgets.rs"]
mod budgets;
#[path = "all/canonical.rs"]
mod canonical;
#[path = "all/chains.rs"]
mod chains;
#[path = "all/cuts.rs"]
mod cuts;
#[path = "all/detection.rs"]
mod detection;
#[path = "all/documents.rs"]
mod documents;
#[path = "all/encodings.rs"]
mod encodings;
#[path = "all/fixtures.rs"]
mod fixtures;
#[path = "all/json.rs"]
mod json;
#[path = "all/laws.rs"]
mod laws;
#[path = "all/malformed.rs"]
mod malformed;
#[path = "all/malformed_anthropic.rs"]
mod malformed_anthropic;
#[path = "all/malformed_openai.rs"]
mod malformed_openai;
#[path = "all/media.rs"]
mod media;
#[path = "all/mutation.rs"]
mod mutation;
#[path = "all/overflow.rs"]
mod overflow;
#[path = "all/presets.rs"]
mod presets;
#[path = "all/prunes.rs"]
mod prunes;
#[path = "all/refusals.rs"]
mod refusals;
#[path = "all/repairs.rs"]
mod repairs;
#[path = "all/responses.rs"]
mod responses;
#[path = "all/sessions.rs"]
mod sessions;
#[path = "all/spelling.rs"]
mod spelling;
#[path = "all/splices.rs"]
mod splices;
#[path = "all/strange.rs"]
mod strange;
#[path = "all/streams.rs"]
mod streams;
#[path = "all/traffic.rs"]
mod traffic;
#[path = "all/usage.rs"]
mod usage;
#[path = "all/validity.rs"]
mod validity;
