//! What both databases do alike when a store is looked after, written once: statements that both accept, and a macro for each
//! verb that carries them out on either kind of connection.
//!
//! - `delete`: a conversation and what belongs to it; `deleted`: what was deleted and does not come back;
//! - `statistics`, `sweep`: how much there is, and what nobody needs;
//! - `snapshot`: everything at one moment, row by row, and bringing such rows in; `lines`: the same as lines of text;
//! - `sealed`: which values are encrypted; `reseal`: encrypting them again with another key; `secret`: secrets of tenants.

pub(crate) mod delete;
pub(crate) mod deleted;
mod lines;
pub(crate) mod reseal;
pub(crate) mod restore;
pub(crate) mod sealed;
pub(crate) mod secret;
pub(crate) mod snapshot;
pub(crate) mod statistics;
pub(crate) mod sweep;

pub use lines::SnapshotLine;
pub use snapshot::{Cell, SnapshotRow};
