//! Looking in a stored conversation.

use anyhow::Result;
use epitome_engine::archive::{Found, Within, recall};
use epitome_store::{ConversationId, Store};

use crate::args::StoreArgs;
use crate::history::{full_session, unknown_session};

/// `None` when there is no such conversation.
pub(super) async fn search(
    at: &StoreArgs,
    id: &ConversationId,
    query: &str,
    most: u32,
) -> Result<Option<Found>> {
    let store = at.open_read_only().await?;
    let found = match full_session(&store, &at.tenant, id).await? {
        Some(id) => recall(&store, &at.tenant, Within::Conversation(&id), query, most).await?,
        None => None,
    };
    if found.is_none() {
        unknown_session(id);
    }
    store.close().await;
    Ok(found)
}
