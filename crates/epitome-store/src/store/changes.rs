//! What changed a conversation, in order.

use crate::{Appended, ChangeRow, ConversationId, NewChange, Result, TenantId};

/// The changes of conversations that have one writer at a time.
pub trait Changes {
    /// Adds a change to a conversation, with the compaction and the entries that belong to it, in one transaction.
    ///
    /// It is stored only if its `seq` is the number of changes that the conversation has, if its compaction is the first
    /// for its epoch, and if the lease whose fence it names has gone to nobody else. Otherwise the answer is
    /// [`Superseded`](Appended::Superseded), and nothing was written. A change of kind
    /// [`Undone`](crate::ChangeKind::Undone) also marks the compaction that it names as undone.
    ///
    /// # Errors
    /// As for [`commit_compaction`](crate::Compactions::commit_compaction), and
    /// [`UnknownCompaction`](crate::Error::UnknownCompaction) when the compaction to undo is not stored.
    /// [`Deleted`](crate::Error::Deleted) when a fork names a parent that is not stored.
    fn append_change(
        &self,
        tenant: &TenantId,
        new: &NewChange,
    ) -> impl Future<Output = Result<Appended>> + Send;

    /// All changes of a conversation, in order.
    fn changes(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<ChangeRow>>> + Send;
}
