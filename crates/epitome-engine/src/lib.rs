//! Compaction over time: what the pure core decides is carried out here, while the conversation goes on.
//!
//! - who writes summaries: [`model`]
//! - the one place that reads the time: [`Clock`]
#![warn(missing_docs)]

mod clock;
pub mod model;

pub use clock::Clock;
