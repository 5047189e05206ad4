//! Compaction over time: what the pure core decides is carried out here, while the conversation goes on.
//!
//! - start here: [`Engine`], and its [`Conversation`]s
//! - asking a model: [`model`]; having it write summaries: [`summarise`]
//! - all of it from an `epitome.toml`: [`configuration`]
//! - the one place that reads the time: [`Clock`]
//! - what a host hangs on compactions: [`hooks`]; who carries them out: [`runner`]
//! - what is believed of each model at each endpoint: [`known_models`]
//! - what is stored of compactions and changes: [`record`]
//! - memories on disk, one file a day: [`memory_folder`]
//! - the middleware of an agent loop: [`pipeline`], over its [`Statistics`]
#![warn(missing_docs)]

mod clock;
pub mod configuration;
pub mod conversation;
mod engine;
pub mod hooks;
pub mod known_models;
pub mod memory_folder;
pub mod model;
pub mod pipeline;
pub mod record;
mod recount;
pub mod runner;
mod shared;
mod statistics;
pub mod summarise;

pub use clock::Clock;
pub use conversation::{Conversation, ConversationError};
pub use engine::{Engine, EngineBuilder, EngineError};
pub use hooks::Hooks;
pub use memory_folder::MemoryFolder;
pub use pipeline::Pipeline;
pub use recount::{CountedBy, Recount, recount};
pub use statistics::{Statistics, cost_nanodollars};
