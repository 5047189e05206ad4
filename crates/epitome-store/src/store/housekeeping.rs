//! Looking after a store: what it holds, deleting, sweeping, copies.

use std::ops::ControlFlow;

use crate::{
    ConversationId, Deleted, Oldest, OwnedConversation, Resealed, Restored, Result, SnapshotRow,
    StoreStatistics, SweepBefore, Swept, TenantId,
};

/// Looking after a store. All of it works beside a running proxy or engine. Unlike the rest of a store it sees all tenants,
/// and is for whoever runs the database.
pub trait Housekeeping {
    /// How much there is.
    fn statistics(&self) -> impl Future<Output = Result<StoreStatistics>> + Send;

    /// Deletes a conversation with all that belongs to it, in one transaction. `None` when there is none.
    ///
    /// Conversations that branched off stay whole: links they stand on, and compactions and pins that hold for them, become
    /// theirs. Messages go when nobody else has them. What was noted of its requests stays as numbers that belong to nobody.
    /// What was deleted stays so: its name and its last links are marked, without content, and
    /// [`append`](crate::Entries::append) passes over whatever has one of them or stands on it. Another conversation that only
    /// began with the same messages is kept.
    ///
    /// # Errors
    /// [`Forked`](crate::Error::Forked) when an engine's fork is put together from it; nothing is changed then.
    fn delete_conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        at_ms: i64,
    ) -> impl Future<Output = Result<Option<Deleted>>> + Send;

    /// Deletes a conversation that nobody has touched since `before_ms`, as
    /// [`delete_conversation`](Self::delete_conversation) does, but without marks: who goes on with it, or brings it in again,
    /// may. `None` when there is none, or when it was touched since.
    ///
    /// # Errors
    /// As there.
    fn delete_idle_conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        before_ms: i64,
    ) -> impl Future<Output = Result<Option<Deleted>>> + Send;

    /// At most `limit` of the conversations that are wanted, the oldest first.
    fn oldest_conversations(
        &self,
        wanted: Oldest<'_>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<OwnedConversation>>> + Send;

    /// Removes what nobody needs: messages without a conversation, and notes, turns and marks of a certain age.
    fn sweep(&self, before: SweepBefore<'_>) -> impl Future<Output = Result<Swept>> + Send;

    /// Encrypts what is in clear, or encrypted with another key, with the key that writes, and gives free room back to the disk, so
    /// that nothing of it is left there. From then on no other key is needed. Works beside a running proxy or engine; one that
    /// still writes with another key must be ended first, or it goes on doing so.
    ///
    /// # Errors
    /// [`KeyNeeded`](crate::Error::KeyNeeded) when the store was opened without a key. [`Busy`](crate::Error::Busy) as for
    /// [`vacuum`](Self::vacuum): all of it is encrypted then, and doing it again gives the room back.
    fn reseal(&self) -> impl Future<Output = Result<Resealed>> + Send;

    /// Gives free room back to the disk (SQLite: the whole file is written anew; PostgreSQL: to the tables of a store, and to no
    /// others that the database has).
    ///
    /// # Errors
    /// [`Busy`](crate::Error::Busy) when somebody goes on reading what was there before (SQLite), so that it stays on the disk.
    fn vacuum(&self) -> impl Future<Output = Result<()>> + Send;

    /// Everything that is kept, as it was at one moment, whatever is written meanwhile. Leases and the index of words are no
    /// part of it. What is encrypted stays so, and is read with the same keys. A row comes behind those it refers to. Ends early when `each` says so.
    fn snapshot(
        &self,
        each: &mut (dyn FnMut(SnapshotRow) -> ControlFlow<()> + Send),
    ) -> impl Future<Output = Result<()>> + Send;

    /// Brings rows of a snapshot in, in one transaction, in their order. What is there already stays, and so does what was
    /// deleted here; doing it again changes nothing. In a store with a key all of it is encrypted with the one that writes.
    /// Entries are found by words once [`unindexed`](crate::Search::unindexed) ones were given theirs.
    ///
    /// # Errors
    /// [`OtherSecret`](crate::Error::OtherSecret) when a tenant has another secret here: no link would be known again.
    /// [`BadSnapshot`](crate::Error::BadSnapshot) for a row that no snapshot has. [`KeyNeeded`](crate::Error::KeyNeeded) or
    /// [`WrongKey`](crate::Error::WrongKey) when it is encrypted with a key that this store was not opened with.
    fn restore(&self, rows: &[SnapshotRow]) -> impl Future<Output = Result<Restored>> + Send;
}
