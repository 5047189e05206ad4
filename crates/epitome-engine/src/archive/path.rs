//! The nodes that a conversation leads through.

use epitome_store::{AnyStore, Changes, ConversationId, Conversations, Entries, NodeRow, TenantId};

use super::ArchiveError;
use crate::record::ForkPlace;

/// How many forks of forks without entries of their own are followed.
pub const MOST_FORKS: usize = 64;

/// The nodes of a conversation, from the first to its own last one; or, when it has none of its own, to where it
/// branched off. Empty when there is no such conversation.
///
/// # Errors
/// [`ArchiveError`] when the store does not answer, or a fork cannot be read.
pub async fn path(
    store: &AnyStore,
    tenant: &TenantId,
    id: &ConversationId,
) -> Result<Vec<NodeRow>, ArchiveError> {
    let mut id = id.clone();
    let mut shared = usize::MAX;
    for _ in 0..MOST_FORKS {
        if let Some(tip) = store.tip(tenant, &id).await? {
            let mut path = store.path(tenant, tip.digest).await?;
            path.truncate(shared);
            return Ok(path);
        }
        let changes = store.changes(tenant, &id).await?;
        let Some(forked) = ForkPlace::of(&changes)? else {
            break;
        };
        id = ConversationId::new(&forked.parent)?;
        shared = shared.min(forked.entries);
    }
    Ok(Vec::new())
}
