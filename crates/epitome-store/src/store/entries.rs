//! The log itself: entries, and the nodes that chain them.

use epitome::Digest;

use crate::{Append, Appended, EntryRow, NodeRow, Result, TenantId};

/// The append-only log: entries, and the nodes that chain them.
pub trait Entries {
    /// Adds entries and nodes to the log, in one transaction. What is stored already stays as it is.
    ///
    /// The conversation is created on first use; later, a given label replaces the old one, a parent is set once, and
    /// `touched_ms` only grows. A piece that stands on what was [deleted](crate::Housekeeping::delete_conversation) is
    /// passed over.
    ///
    /// # Errors
    /// [`Conflict`](crate::Error::Conflict) when an entry's key is stored with different bytes,
    /// [`Dangling`](crate::Error::Dangling) when a node's parent, entry or conversation is neither stored nor given.
    fn append(&self, tenant: &TenantId, append: &Append)
    -> impl Future<Output = Result<()>> + Send;

    /// Adds several pieces to the log in one transaction, in order: all of them or none.
    ///
    /// # Errors
    /// As for [`append`](Self::append).
    fn append_all(
        &self,
        tenant: &TenantId,
        appends: &[Append],
    ) -> impl Future<Output = Result<()>> + Send;

    /// Adds to a conversation that has one writer at a time, in one transaction: only if the last node that it appended
    /// itself is still `after`, and otherwise nothing is written. `None` is a conversation with no node of its own.
    ///
    /// # Errors
    /// As for [`append`](Self::append), and [`Deleted`](crate::Error::Deleted).
    fn extend(
        &self,
        tenant: &TenantId,
        append: &Append,
        after: Option<Digest>,
    ) -> impl Future<Output = Result<Appended>> + Send;

    /// An entry by its key, byte for byte as it was first stored.
    fn entry(
        &self,
        tenant: &TenantId,
        key: Digest,
    ) -> impl Future<Output = Result<Option<EntryRow>>> + Send;

    /// The entries from the root to `tip`, byte for byte as they were first stored. Empty when `tip` is unknown.
    fn history(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send;

    /// Those of `digests` that are known nodes, each once, in no particular order. Any number may be asked for.
    fn find_nodes(
        &self,
        tenant: &TenantId,
        digests: &[Digest],
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send;

    /// The nodes from the root to `tip`. Empty when `tip` is unknown.
    fn path(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send;
}
