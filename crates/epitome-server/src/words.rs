//! Making stored messages findable by their words, after they are stored.
//!
//! Taking words apart costs more than writing a message down. So it is done in small pieces, behind the writes that
//! requests may wait for.

use std::sync::Arc;

use epitome_store::{AnyStore, EntryRow, EntryWords, Result, Search, TenantId};
use epitome_wire::searchable_entry;

/// How many bytes of messages are indexed in one transaction; a compaction may wait for its end.
const PIECE_BYTES: usize = 256 << 10;
/// How many older messages are read at a time.
const CATCH_UP_ENTRIES: u32 = 32;

/// Indexes messages that are stored.
pub(crate) async fn index(
    store: &AnyStore,
    tenant: &TenantId,
    entries: impl IntoIterator<Item = EntryRow>,
) -> Result<()> {
    let mut piece = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        bytes += entry.raw.len();
        piece.push(entry);
        if bytes >= PIECE_BYTES {
            index_piece(store, tenant, std::mem::take(&mut piece)).await?;
            bytes = 0;
        }
    }
    index_piece(store, tenant, piece).await
}

/// Indexes some of the messages that were stored by an earlier version, or shortly before a process ended. Says
/// whether there may be more.
pub(crate) async fn catch_up(store: &Arc<AnyStore>, tenant: &TenantId) -> Result<bool> {
    let entries = store.unindexed(tenant, CATCH_UP_ENTRIES).await?;
    let more = !entries.is_empty();
    index(store, tenant, entries).await?;
    Ok(more)
}

async fn index_piece(store: &AnyStore, tenant: &TenantId, piece: Vec<EntryRow>) -> Result<()> {
    if piece.is_empty() {
        return Ok(());
    }
    // A message that cannot be read is indexed without words, or it would be tried again and again.
    let words = move || {
        let words = piece.iter().map(|entry| EntryWords {
            key: entry.key,
            text: searchable_entry(&entry.wire, &entry.raw).unwrap_or_default(),
        });
        words.collect::<Vec<_>>()
    };
    let words = tokio::task::spawn_blocking(words).await.unwrap_or_default();
    store.index(tenant, &words).await
}
