//! Looking in a stored conversation.

use anyhow::Result;
use epitome_store::{
    CompactionRow, Compactions, ConversationId, Entries, EntryRow, Search, SearchScope, Store,
};
use epitome_wire::{Wire, decode, json, searchable_entry};

use super::{Cover, Found, Hit, excerpt};
use crate::args::StoreArgs;
use crate::history::{path, unknown_session};

/// `None` when there is no such conversation.
pub(super) async fn search(
    at: &StoreArgs,
    id: &ConversationId,
    query: &str,
    most: u32,
) -> Result<Option<Found>> {
    let store = at.open_read_only().await?;
    let tenant = &at.tenant;
    let path = path(&store, tenant, id).await?;
    let Some(end) = path.last() else {
        unknown_session(id);
        return Ok(None);
    };
    let scope = SearchScope::Branch(end.digest);
    let found = store.search(tenant, &scope, query, most).await?;
    let nodes: Vec<_> = path.iter().map(|node| node.digest).collect();
    let compactions = store.compactions_at(tenant, &nodes).await?;
    let mut hits = Vec::new();
    for hit in found {
        let Some(entry) = store.entry(tenant, hit.entry).await? else {
            continue;
        };
        let text = searchable_entry(&entry.wire, &entry.raw)
            .unwrap_or_else(|| String::from_utf8_lossy(&entry.raw).into_owned());
        hits.push(Hit {
            conversation: 1,
            position: u64::from(hit.position) + 1,
            role: role(&entry),
            key: Some(hit.entry.to_string()),
            score: hit.score,
            excerpt: excerpt(&text, query),
            covered_by: cover(&compactions, hit.position),
        });
    }
    store.close().await;
    let several = false;
    Ok(Some(Found { hits, several }))
}

fn role(entry: &EntryRow) -> Option<&'static str> {
    let wire = Wire::ALL.iter().find(|wire| wire.as_str() == entry.wire)?;
    let value = json::read(&entry.raw).ok()?;
    Some(decode(*wire, &value).ok()?.message.role.as_str())
}

/// The newest compaction that stands for the entry at `position`, from 0.
fn cover(compactions: &[CompactionRow], position: u32) -> Option<Cover> {
    let covers = |row: &&CompactionRow| {
        let end = row.head_entries.saturating_add(row.covered_entries);
        (row.head_entries..end).contains(&position)
    };
    let row = compactions.iter().rev().find(covers)?;
    Some(Cover {
        name: row.id.clone(),
        summary: row.summary.clone(),
    })
}
