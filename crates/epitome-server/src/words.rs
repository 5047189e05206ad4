//! Making stored messages findable by their words, after they are stored.
//!
//! Taking words apart costs more than writing a message down. So it is done in small pieces, behind the writes that
//! requests may wait for.

use epitome::Digest;
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

/// How far messages of an earlier version are indexed. They are gone through once, by their keys: to begin at the first one every
/// time would be to look at all that are done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CatchUp {
    After(Option<Digest>),
    Done,
}

/// Indexes some of the messages that were stored by an earlier version, or shortly before a process ended. Says how far it
/// got.
pub(crate) async fn catch_up(
    store: &AnyStore,
    tenant: &TenantId,
    after: Option<Digest>,
) -> Result<CatchUp> {
    let entries = store.unindexed(tenant, after, CATCH_UP_ENTRIES).await?;
    let last = entries.last().map(|entry| entry.key);
    index(store, tenant, entries).await?;
    Ok(last.map_or(CatchUp::Done, |key| CatchUp::After(Some(key))))
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
