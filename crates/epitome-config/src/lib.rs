//! `epitome.toml`: what can be set, where each value comes from, and what is wrong with it.
//!
//! - where to look: [`Sources`]; what came of it: [`Loaded`]; a problem with its file and line: [`Problem`]
//! - for whom: [`Loaded::for_agent`], then [`ForAgent::for_model`], gives [`Resolved`]
//! - the sections, typed: [`Summarizer`], [`Memory`], [`Hook`], [`Server`], [`Tenant`]
//! - whose file it is: [`SetBy`] of each setting, [`Trusted`] projects
//! - a changed file, found by asking: [`Watch`]
//! - for editors and for people: [`schema`], [`example`]
//!
//! Layers, lowest first: the preset's defaults, the system's file, the user's file, the project's file (or, instead of
//! the three, one file that is named), `EPITOME_*` variables, flags. The settings of the presets themselves are rows of
//! [`epitome::settings`]; those of the sections are rows of `sections.rs`.
//!
//! The project's file is found by searching and belongs to whoever wrote that folder. Until the user trusts it, it sets sizes
//! and presets; what it says beyond that is left out and told. A setting is its owner's unless its row says otherwise.
//!
//! This crate reads files and nothing else: variables, folders and flags are handed to it.
#![warn(missing_docs)]

mod address;
mod check;
mod example;
mod field;
mod item;
mod layers;
mod load;
mod names;
mod notation;
mod origin;
mod problem;
mod read;
mod resolve;
mod row;
mod schema;
mod scope;
mod sections;
mod sources;
mod standing;
mod tree;
mod trust;
mod variables;
mod walk;
mod watch;

pub use address::Address;
pub use example::example;
pub use field::{Digests, Texts, VariableName};
pub use item::Entry;
pub use load::Loaded;
pub use origin::Origin;
pub use problem::{ConfigError, Problem, ProblemKind};
pub use resolve::{ForAgent, Resolved};
pub use row::{Form, Row, SetBy};
pub use schema::schema;
pub use scope::Scope;
pub use sections::{
    Hook, HookEvent, KeySource, Memory, Period, RequestForm, Server, Spend, Summarizer,
    SummarizerKind, Tenant,
};
pub use sources::{FILE_NAME, Files, Flag, Sources, TRUSTED_NAME};
pub use standing::Standing;
pub use trust::Trusted;
pub use variables::{may_be_secret, variable_of, variables};
pub use watch::Watch;
