//! Compaction over time: what the pure core decides is carried out here, while the conversation goes on.
//!
//! - the one place that reads the time: [`Clock`]
//! - what a host hangs on compactions: [`hooks`]
//! - memories on disk, one file a day: [`memory_folder`]
//! - the middleware of an agent loop: [`pipeline`], over its [`Statistics`]
#![warn(missing_docs)]

mod clock;
pub mod hooks;
pub mod memory_folder;
pub mod pipeline;
mod statistics;

pub use clock::Clock;
pub use hooks::Hooks;
pub use memory_folder::MemoryFolder;
pub use pipeline::Pipeline;
pub use statistics::{Statistics, cost_nanodollars};
