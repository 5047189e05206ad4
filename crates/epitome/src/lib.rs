//! Context compaction as pure functions.
#![warn(missing_docs)]

mod digest;

pub use digest::Digest;
