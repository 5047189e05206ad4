//! Tools for testing epitome against something that behaves like a provider.
//!
//! - [`server`]: a scripted model on a local port that speaks OpenAI Chat, OpenAI Responses and Anthropic Messages, refuses what
//!   the providers refuse, and records exactly what it received;
//! - [`strict`]: the validity rules of the request formats, as a list of named violations;
//! - [`generate`]: deterministic conversations of several kinds, in every format, and ways to damage them;
//! - [`cases`]: how many cases a property has, and from which seed; [`data`]: real sessions, where they are;
//! - [`client`]: a plain HTTP client that keeps the pieces it received, and a reader of event streams;
//! - [`museum`]: what earlier versions wrote, with what must be true of it;
//! - [`refusals`]: what providers say when they refuse a request, with the sources;
//! - [`postgres`]: a PostgreSQL server, also behind PgBouncer, with a fresh database for each test;
//! - [`stores`]: where tests keep their stores, in files or in PostgreSQL;
//! - [`shape`]: a request as short lines for snapshots;
//! - [`strange`]: things that no format knows, and what must not be torn apart around them;
//! - [`shares`]: how a provider counts over time;
//! - [`expectation`]: tests that must fail until they are struck off a list;
//! - [`tokens`]: the scripted model's own way of counting.
//!
//! Everything here is for development only: functions may panic on misuse, because a broken test should stop.

#![warn(missing_docs)]

pub mod cases;
pub mod client;
pub mod data;
pub mod expectation;
pub mod generate;
pub mod museum;
#[cfg(unix)]
pub mod postgres;
pub mod random;
pub mod refusals;
pub mod server;
pub mod shape;
pub mod shares;
pub mod signature;
#[cfg(unix)]
pub mod stores;
pub mod strange;
pub mod strict;
pub mod tokens;
mod wire;

pub use client::{Event, Received};
pub use generate::{Damage, Kind};
pub use random::Random;
pub use server::{
    Answer, Asked, Call, Chunking, Counts, Delivery, Echo, Fault, Faults, ModelConfig, Recorded,
    Refuses, Reply, Respond, Script, ScriptedModel,
};
pub use shares::Shares;
pub use strict::{Rule, Violation};
pub use wire::Wire;
