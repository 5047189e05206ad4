//! Which entries a compaction stands for.

use std::ops::Range;

use epitome_store::CompactionRow;
use serde::Deserialize;

/// What a proxy writes about it.
#[derive(Deserialize)]
struct Links {
    covered_links: Option<u32>,
}

/// The entries that a compaction stands for, from 0.
///
/// Rows of proxies count the task among the covered ones up to version 0.1, although it stands in front: their record tells
/// where the span ends.
#[must_use]
pub fn span(row: &CompactionRow) -> Range<u32> {
    let told = row.head_entries.saturating_add(row.covered_entries);
    let links = serde_json::from_str::<Links>(&row.record).ok();
    let end = match links.and_then(|links| links.covered_links) {
        Some(covered) => told.min(covered),
        None => told,
    };
    row.head_entries.min(end)..end
}
