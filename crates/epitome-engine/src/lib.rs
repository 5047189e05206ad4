//! Compaction over time: what the pure core decides is carried out here, while the conversation goes on.
//!
//! - asking a model: [`model`]; having it write summaries: [`summarise`]
//! - the one place that reads the time: [`Clock`]
#![warn(missing_docs)]

mod clock;
pub mod model;
mod recount;
pub mod summarise;

pub use clock::Clock;
pub use recount::{CountedBy, Recount, recount};
