//! Where conversation logs live: a trait for each kind of thing, SQLite or PostgreSQL behind them.
//!
//! - `store`: a trait for each kind of thing that is kept, scoped to a tenant; a [`Store`] keeps them all. Whoever calls a
//!   store imports the traits it uses, so that its imports say what it needs.
//! - `any`: [`AnyStore`], the store that a location such as `sqlite:PATH` or `postgres://…` names.
//! - `sqlite`: [`SqliteStore`], one file (or memory), with a module for each trait.
//! - `postgres`: [`PostgresStore`], one database for many nodes, with a module for each trait.
//! - `rows`: the plain data that goes in and comes out.
//! - `id`: validated names of tenants and conversations.
//! - `error`: [`Error`], one variant for each situation a caller can act on.
//! - `housekeeping`: what both databases do alike when a store is looked after: deleting, sweeping, copies.
//! - `statements`: the SQL that SQLite and PostgreSQL both accept.
//! - `clock`: waiting, for a file that somebody else is creating and for a server that does not answer.
//! - `seal`: encrypting values, with the keys that are given.
//! - `words`: which words a text has, for the index and for queries; `rank`: how well it fits.
//!
//! The log is append-only: nothing rewrites an entry, and only [`Housekeeping`] deletes, on purpose. The crate reads no clock and makes no random
//! numbers but the nonces of encrypted values; times, ids, digests and keys are arguments.
#![warn(missing_docs)]

mod any;
mod bag;
mod clock;
mod error;
mod housekeeping;
mod id;
mod postgres;
mod rank;
mod rows;
mod seal;
mod sqlite;
mod statements;
mod store;
mod words;

pub use any::AnyStore;
pub use epitome::Digest;
pub use error::{Error, Result, Source};
pub use housekeeping::{Cell, SnapshotLine, SnapshotRow};
pub use id::{ConversationId, TenantId};
pub use postgres::PostgresStore;
pub use rows::{
    Append, Appended, BeliefRow, ChainQuestion, ChangeKind, ChangeRow, Claimed, Committed,
    CompactionRow, CompactionState, ConversationRow, CountedRow, Deleted, EntryRow, EntryWords,
    JobClaim, JobRow, JobState, KnownChain, LearnedWindow, MemoryRow, NewChange, NewConversation,
    NodeRow, Oldest, Outcome, OwnedConversation, PinMark, PinRow, Resealed, Restored, Saved,
    SearchHit, SearchScope, StoreStatistics, SweepBefore, Swept, TenantUsage, TurnRow,
};
pub use seal::Keys;
pub use sqlite::SqliteStore;
pub use store::{
    Beliefs, Chains, Changes, Compactions, Conversations, CountedRequests, Entries, Housekeeping,
    Jobs, Leases, Memories, Outcomes, Pins, Search, Store, Tenants, Turns, Usage,
};
