//! What providers counted for requests on a chain, here and on other nodes.

use epitome::{CountedSize, Digest};
use epitome_store::CountedRow;

use super::{Index, Inner, Node, Written};

/// Anchors are looked for among so many of the newest links.
pub(crate) const ANCHORED_LINKS: usize = 16;
/// So many of them are handed out.
const ANCHORS: usize = 4;

/// What the provider counted for a request that ended here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) anchor: CountedSize,
    /// The epoch that the request was sent under.
    pub(crate) epoch: Option<String>,
    /// Its system prompt and tools.
    pub(crate) kind: u64,
}

impl From<CountedRow> for Counted {
    fn from(row: CountedRow) -> Self {
        Self {
            anchor: CountedSize {
                real_tokens: row.real_tokens,
                estimated_tokens: row.estimated_tokens,
            },
            epoch: row.compaction,
            kind: row.kind,
        }
    }
}

impl Index {
    /// What the provider counted for the request that ended at `tip`.
    pub(crate) fn anchor(&self, tip: &Digest, counted: Counted) {
        if let Some(node) = self.lock().node(tip) {
            node.anchor = Some(counted);
        }
    }

    /// Takes over what was counted where other nodes asked; what this one saw counted stays. Only the newest links of a chain
    /// are learned from a store, and what was counted may stand before them.
    pub(crate) fn learn_counted(&self, rows: Vec<CountedRow>) {
        let mut inner = self.lock();
        for row in rows {
            if inner.node(&row.node).is_none() {
                let node = Node {
                    conversation: row.conversation.clone(),
                    written: Written::No,
                    touched_ms: 0,
                    kind: 0,
                    anchor: None,
                };
                inner.young.insert(row.node, node);
            }
            if let Some(node) = inner.node(&row.node) {
                node.touched_ms = node.touched_ms.max(row.at_ms);
                node.anchor.get_or_insert_with(|| row.into());
            }
        }
    }

    /// The newest counts of requests of this kind on the first `known_links` of a chain.
    pub(crate) fn counts(
        &self,
        chain: &[(usize, Digest)],
        known_links: usize,
        kind: u64,
    ) -> Vec<Counted> {
        self.lock().counts(chain.iter().take(known_links), kind)
    }
}

impl Inner {
    /// The newest counts of requests of this kind on a chain.
    pub(super) fn counts<'c>(
        &mut self,
        links: impl DoubleEndedIterator<Item = &'c (usize, Digest)>,
        kind: u64,
    ) -> Vec<Counted> {
        links
            .rev()
            .take(ANCHORED_LINKS)
            .filter_map(|(_, digest)| self.node(digest)?.anchor.clone())
            .filter(|counted| counted.kind == kind)
            .take(ANCHORS)
            .collect()
    }
}
