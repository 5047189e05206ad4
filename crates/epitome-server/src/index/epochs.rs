//! The epochs that this process knows.

use std::cmp::Reverse;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use epitome::Digest;
use epitome_wire::{Conversation, Prehashed};

use super::Digests;
use crate::epoch::Epoch;

/// Summaries of epochs kept in memory.
const SUMMARY_BYTES: usize = 64 << 20;

/// Epochs by their nodes. When their summaries take too much room the oldest go; the store still has them.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    /// One for each class at a node.
    by_node: Digests<Vec<Arc<Epoch>>>,
    order: VecDeque<(Digest, String)>,
    bytes: usize,
    pub(super) dropped: HashSet<Digest, Prehashed>,
}

impl Epochs {
    fn at(&self, node: &Digest) -> &[Arc<Epoch>] {
        self.by_node.get(node).map_or(&[], Vec::as_slice)
    }

    pub(super) fn insert(&mut self, epoch: Arc<Epoch>) {
        let node = epoch.node;
        if self.at(&node).iter().any(|known| known.id == epoch.id) {
            return;
        }
        let class = epoch.class_name();
        let same_class = self
            .at(&node)
            .iter()
            .find(|known| known.class_name() == class);
        if let Some(replaced) = same_class.map(|known| known.id.clone()) {
            self.remove(&node, &replaced);
        }
        self.bytes += epoch.summary.len();
        self.dropped.remove(&node);
        self.order.push_back((node, epoch.id.clone()));
        self.by_node.entry(node).or_default().push(epoch);
        while self.bytes > SUMMARY_BYTES
            && let Some((oldest, id)) = self.order.pop_front()
        {
            if self.remove(&oldest, &id) {
                self.dropped.insert(oldest);
            }
        }
    }

    pub(super) fn remove(&mut self, node: &Digest, id: &str) -> bool {
        let Some(here) = self.by_node.get_mut(node) else {
            return false;
        };
        let Some(at) = here.iter().position(|epoch| epoch.id == id) else {
            return false;
        };
        let removed = here.swap_remove(at);
        if here.is_empty() {
            self.by_node.remove(node);
        }
        self.bytes -= removed.summary.len();
        true
    }
}

/// The newest epoch on a chain that serves.
pub(super) fn newest(
    epochs: &Epochs,
    conversation: &Conversation,
    serves: impl Fn(&Epoch) -> bool,
) -> Option<Arc<Epoch>> {
    let links = conversation.chain.iter().rev();
    let mut serving = links.flat_map(|(_, digest)| {
        let here = epochs.at(digest).iter().filter(|epoch| serves(epoch));
        let mut here: Vec<_> = here.collect();
        // Several may end with the same shortened result: one that goes further was made later.
        let key = |epoch: &Arc<Epoch>| (epoch.reach(), epoch.id.clone());
        here.sort_by_cached_key(|epoch| Reverse(key(epoch)));
        here
    });
    let newest = serving.next()?;
    if newest.record.pruned_results == 0 {
        return Some(Arc::clone(newest));
    }
    // Old results may have been replaced further on than a summary reaches that was made later.
    let covered = |epoch: &Epoch| epoch.record.covered_links;
    let further = serving.find(|epoch| covered(epoch) > covered(newest));
    further.or(Some(newest)).cloned()
}

#[cfg(test)]
#[path = "epochs_tests.rs"]
mod tests;
