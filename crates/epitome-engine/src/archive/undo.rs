//! Taking the newest compaction of a conversation back.

use epitome_store::{
    AnyStore, Appended, ChangeKind, ChangeRow, Changes, CompactionRow, CompactionState,
    Compactions, ConversationId, Conversations, NewChange, TenantId,
};

use super::{ArchiveError, path};
use crate::record::{ChangePlace, Record, RecordError};

/// How often another writer may be faster.
const ATTEMPTS: usize = 5;

/// Whether a compaction is taken back although the conversation may not fit without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regardless {
    /// Then it stays.
    No,
    /// Somebody said so.
    OfSize,
}

/// What came of taking a compaction back.
#[derive(Debug)]
pub enum Undo {
    /// It is no longer shown, from the next request on.
    Done(Undone),
    /// There is no such conversation.
    UnknownConversation,
    /// No compaction of it is in force.
    NothingInForce,
    /// Without it the conversation takes more than was allowed.
    DoesNotFit {
        /// The compaction.
        id: String,
        /// What the conversation takes without it.
        tokens: u64,
        /// What was allowed where it was made.
        allowed_tokens: u64,
    },
    /// What is stored of it cannot be read, so that nobody knows whether the conversation fits without it.
    Unreadable(RecordError),
}

/// A compaction that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Which one.
    pub id: String,
    /// What the conversation took with it.
    pub tokens_before: u64,
    /// What it takes now.
    pub tokens_after: u64,
}

/// Takes the newest compaction in force of a conversation back, as a change that can be seen later.
///
/// # Errors
/// [`ArchiveError`] when the store does not answer or somebody else keeps changing the conversation.
pub async fn undo(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
    regardless: Regardless,
    now_ms: i64,
) -> Result<Undo, ArchiveError> {
    if store.conversation(tenant, id).await?.is_none() {
        return Ok(Undo::UnknownConversation);
    }
    let rows = store.compactions_of(tenant, id).await?;
    let in_force = |row: &CompactionRow| row.state == CompactionState::Published;
    let Some(row) = rows.into_iter().rfind(in_force) else {
        return Ok(Undo::NothingInForce);
    };
    if regardless == Regardless::No {
        let allowed = match Record::of(&row) {
            Ok(record) => record.hard_tokens(),
            Err(error) => return Ok(Undo::Unreadable(error)),
        };
        if let Some(allowed_tokens) = allowed.filter(|allowed| row.tokens_before > *allowed) {
            return Ok(Undo::DoesNotFit {
                id: row.id,
                tokens: row.tokens_before,
                allowed_tokens,
            });
        }
    }
    append(store, tenant, &row, now_ms).await?;
    Ok(Undo::Done(Undone {
        id: row.id,
        tokens_before: row.tokens_after,
        tokens_after: row.tokens_before,
    }))
}

/// Notes it as a change, so that it can be seen later that it was undone and when.
async fn append(
    store: &AnyStore,
    tenant: &TenantId,
    row: &CompactionRow,
    at_ms: i64,
) -> Result<(), ArchiveError> {
    for _ in 0..ATTEMPTS {
        let changes = store.changes(tenant, &row.conversation).await?;
        let entries = path(store, tenant, &row.conversation).await?.len();
        let change = NewChange::from(ChangeRow {
            conversation: row.conversation.clone(),
            seq: u32::try_from(changes.len()).unwrap_or(u32::MAX),
            kind: ChangeKind::Undone,
            compaction: Some(row.id.clone()),
            body: ChangePlace { entries }.write()?,
            at_ms,
        });
        if store.append_change(tenant, &change).await? == Appended::Stored {
            return Ok(());
        }
    }
    Err(ArchiveError::Busy)
}
