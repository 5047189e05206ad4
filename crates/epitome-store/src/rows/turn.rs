//! A turn of a conversation whose history the provider keeps.

use std::collections::HashMap;

use bytes::Bytes;

/// A request with its answer, by the id that the provider gave the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// The id of the answer.
    pub id: String,
    /// The answer that the request went on from.
    pub previous: Option<String>,
    /// What the turn added: a JSON array of what the client sent and what the model answered.
    pub items: Bytes,
    /// The compaction that the provider's history begins with.
    pub compaction: Option<String>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

impl TurnRow {
    /// The turns that lead to an answer, the first one first; none where one of them is missing.
    pub(crate) fn in_order(rows: Vec<Self>, id: &str) -> Vec<Self> {
        let by_id = rows.into_iter().map(|row| (row.id.clone(), row));
        let mut by_id: HashMap<String, Self> = by_id.collect();
        let mut line = Vec::with_capacity(by_id.len());
        let mut next = Some(id.to_owned());
        while let Some(id) = next {
            // Each once: whatever is stored, this ends.
            let Some(turn) = by_id.remove(&id) else {
                return Vec::new();
            };
            next = turn.previous.clone();
            line.push(turn);
        }
        line.reverse();
        line
    }
}
