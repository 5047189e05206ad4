//! Compaction over time: a conversation goes on while everything is on disk (SQLite) before it counts, summaries are prepared in the
//! background under a lease, a crash loses nothing, and another process goes on where the first one stopped. Messages go in and
//! requests come out as the provider's own JSON, byte for byte.
//!
//! ```rust
//! use epitome_engine::{AnyStore, Engine, Recovery, Usage, Window, Wire};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let engine = Engine::builder()
//!     .store(AnyStore::open("sqlite::memory:").await?)                   // a file: sqlite:talk.db
//!     .wire(Wire::OpenAiChat)
//!     .window(Window::configured(200_000))
//!     .build()
//!     .await?;
//! let talk = engine.create().await?;                                     // or engine.open(&id)
//! talk.set_frame(r#"{"model":"gpt-5"}"#).await?;                         // what requests have besides their messages
//! talk.push_raw(r#"{"role":"user","content":"Good morning"}"#).await?;   // on disk when this returns
//! talk.prepare_step().await?;                                            // compacts if it must; never waits for a summary
//! let request = talk.request().await;                                    // ready to send
//! assert_eq!(request, r#"{"model":"gpt-5","messages":[{"role":"user","content":"Good morning"}]}"#);
//!
//! talk.push_raw(r#"{"role":"assistant","content":"Good morning!"}"#).await?;
//! talk.observe(Usage { fresh_tokens: 14, ..Usage::default() }, 0.8).await;   // what the provider counted, and the seconds it took
//! let refusal = r#"{"error":{"message":"Rate limit reached"}}"#;         // or, where it refused: is it too long?
//! if talk.overflowed(429, refusal.as_bytes()).await? == Recovery::Retry { /* smaller now: send it again */ }
//! engine.shutdown().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a host needs is at the root, also of the crates below: one `use epitome_engine::{…}` is enough.
//!
//! - start here: [`Engine`], and its [`Conversation`]s; before each request a [`Step`]
//! - what they are told: [`Settings`], [`Window`], [`Wire`], [`Usage`]; where they are kept: [`AnyStore`], [`ConversationId`]
//! - one conversation, compacted now, without any of it: [`once`]
//! - asking a model: [`model`]; having it write summaries: [`summarise`]
//! - all of it from an `epitome.toml`: [`configuration`]
//! - the one place that reads the time: [`Clock`]
//! - what a host hangs on compactions: [`hooks`]; who carries them out: [`runner`]
//! - what is believed of each model at each endpoint: [`known_models`]
//! - what is stored of compactions and changes: [`record`]; stored conversations as people look at them: [`archive`]
//! - memories on disk, one file a day: [`memory_folder`]
//! - the middleware of an agent loop: [`pipeline`], over its [`Statistics`]
#![warn(missing_docs)]

pub mod archive;
mod clock;
pub mod configuration;
pub mod conversation;
mod engine;
pub mod hooks;
pub mod known_models;
pub mod memory_folder;
pub mod model;
pub mod once;
pub mod pipeline;
pub mod record;
mod recount;
pub mod runner;
mod shared;
mod statistics;
pub mod summarise;

pub use clock::Clock;
pub use conversation::{Conversation, ConversationError, Recovery, Step, StepAction};
pub use engine::{Engine, EngineBuilder, EngineError};
pub use hooks::Hooks;
pub use memory_folder::MemoryFolder;
pub use pipeline::Pipeline;
pub use recount::{CountedBy, Recount, recount};
pub use statistics::{Statistics, cost_nanodollars};

pub use epitome::settings::Settings;
pub use epitome::{
    ContextBeta, Design, Event, Message, Meter, PresetName, Reason, Role, Usage, Window,
};
pub use epitome_store::{AnyStore, ConversationId, TenantId};
pub use epitome_wire::Wire;
