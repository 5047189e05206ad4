//! Which conversation is this? Chains seen by this process, and the epochs in force on them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::Digest;
use epitome_store::ConversationId;
use epitome_wire::{Conversation, Prehashed};

use crate::epoch::Epoch;

/// About this many links are remembered; older ones are found in the store.
const CAPACITY: usize = 400_000;
/// A client that re-makes up to this many messages at the end of a long chain goes on with the same
/// conversation; one that drops more of them has made a fork.
const REMADE_TAIL: usize = 4;
const LONG_CHAIN: usize = 8;
/// Summaries of epochs kept in memory.
const SUMMARY_BYTES: usize = 64 << 20;

type Digests<T> = HashMap<Digest, T, Prehashed>;

/// Chains seen by this process.
#[derive(Debug, Default)]
pub(crate) struct Index {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    young: Digests<Node>,
    old: Digests<Node>,
    tips: HashMap<ConversationId, Tip>,
    old_tips: HashMap<ConversationId, Tip>,
    published: Epochs,
    prepared: Epochs,
    refused: HashSet<Digest, Prehashed>,
    preparing: HashSet<ConversationId>,
}

/// Epochs by their nodes. When their summaries take too much room the oldest go; the store still has them.
#[derive(Debug, Default)]
struct Epochs {
    by_node: Digests<Arc<Epoch>>,
    order: VecDeque<Digest>,
    bytes: usize,
    dropped: HashSet<Digest, Prehashed>,
}

impl Epochs {
    fn get(&self, node: &Digest) -> Option<&Arc<Epoch>> {
        self.by_node.get(node)
    }

    fn insert(&mut self, epoch: Arc<Epoch>) {
        if self
            .get(&epoch.node)
            .is_some_and(|known| known.id == epoch.id)
        {
            return;
        }
        self.bytes += epoch.summary.len();
        self.dropped.remove(&epoch.node);
        self.order.push_back(epoch.node);
        if let Some(replaced) = self.by_node.insert(epoch.node, epoch) {
            self.bytes -= replaced.summary.len();
        }
        while self.bytes > SUMMARY_BYTES
            && let Some(oldest) = self.order.pop_front()
        {
            if self.remove(&oldest) {
                self.dropped.insert(oldest);
            }
        }
    }

    fn remove(&mut self, node: &Digest) -> bool {
        let removed = self.by_node.remove(node);
        self.bytes -= removed.as_ref().map_or(0, |epoch| epoch.summary.len());
        removed.is_some()
    }
}

/// What is known of a link.
#[derive(Clone, Debug)]
struct Node {
    conversation: ConversationId,
    written: Written,
    touched_ms: i64,
    anchor: Option<Anchor>,
}

/// Where a conversation has got to.
#[derive(Clone, Copy, Debug)]
struct Tip {
    digest: Digest,
    links: usize,
}

/// How far a link is on its way to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Not at all.
    No,
    /// In the queue of the writer.
    Queued,
    /// There for certain.
    Stored,
}

/// What the provider counted for a request that ended here.
#[derive(Clone, Debug)]
pub(crate) struct Anchor {
    pub(crate) real_tokens: u64,
    pub(crate) estimated_tokens: u64,
    pub(crate) epoch: Option<String>,
}

/// Where a request belongs.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) conversation: ConversationId,
    /// The conversation it branched off from.
    pub(crate) parent: Option<ConversationId>,
    /// How many links are in the store for certain.
    pub(crate) stored_links: usize,
    /// How many links are in the store or on their way.
    pub(crate) queued_links: usize,
    /// When the last known link was last seen.
    pub(crate) touched_ms: Option<i64>,
    /// The newest count of the provider on this chain, and the link it belongs to.
    pub(crate) anchor: Option<Anchor>,
}

impl Index {
    /// How many links in front are known: the longest known prefix.
    pub(crate) fn known_links(&self, chain: &[(usize, Digest)]) -> usize {
        let mut inner = self.lock();
        chain
            .iter()
            .rposition(|(_, digest)| inner.node(digest).is_some())
            .map_or(0, |at| at + 1)
    }

    /// Takes over links that a store knows.
    pub(crate) fn learn(&self, links: impl IntoIterator<Item = (Digest, ConversationId)>) {
        let mut inner = self.lock();
        for (digest, conversation) in links {
            let node = Node {
                conversation,
                written: Written::Stored,
                touched_ms: 0,
                anchor: None,
            };
            inner.young.entry(digest).or_insert(node);
        }
    }

    /// Attaches a request to its longest known prefix, and remembers its links. `fresh` names the
    /// conversation if it is a new one.
    pub(crate) fn attach(
        &self,
        chain: &[(usize, Digest)],
        fresh: ConversationId,
        now_ms: i64,
    ) -> Place {
        let mut inner = self.lock();
        let known = chain
            .iter()
            .rposition(|(_, digest)| inner.node(digest).is_some());
        let last_known = known.and_then(|at| {
            let (_, digest) = chain.get(at)?;
            Some((at, *digest, inner.node(digest)?.clone()))
        });
        let (conversation, parent, touched_ms) = match &last_known {
            None => (fresh, None, None),
            Some((at, digest, node)) => {
                let owner = node.conversation.clone();
                let touched = (node.touched_ms > 0).then_some(node.touched_ms);
                if inner.continues(&owner, digest, *at, chain) {
                    (owner, None, touched)
                } else {
                    (fresh, Some(owner), touched)
                }
            }
        };
        let known_links = known.map_or(0, |at| at + 1);
        let stored_links = inner.written_links(chain, known_links, |w| w == Written::Stored);
        let queued_links = inner.written_links(chain, known_links, |w| w != Written::No);
        let anchor = chain
            .iter()
            .take(known_links)
            .rev()
            .take(2 * LONG_CHAIN)
            .find_map(|(_, digest)| inner.node(digest)?.anchor.clone());
        for (_, digest) in chain.iter().skip(known_links) {
            let node = Node {
                conversation: conversation.clone(),
                written: Written::No,
                touched_ms: now_ms,
                anchor: None,
            };
            inner.young.insert(*digest, node);
        }
        if let Some((_, tip)) = chain.last() {
            if let Some(node) = inner.node(tip) {
                node.touched_ms = now_ms;
            }
            // A request that brings nothing new is a retry, or another conversation that has only begun.
            if known_links < chain.len() || inner.tip(&conversation).is_none() {
                let tip = Tip {
                    digest: *tip,
                    links: chain.len(),
                };
                inner.tips.insert(conversation.clone(), tip);
            }
        }
        inner.turn();
        Place {
            conversation,
            parent,
            stored_links,
            queued_links,
            touched_ms,
            anchor,
        }
    }

    /// Where a request belongs, without remembering it.
    pub(crate) fn peek(&self, chain: &[(usize, Digest)], fresh: ConversationId) -> Place {
        let mut inner = self.lock();
        let node = chain
            .iter()
            .rev()
            .find_map(|(_, digest)| inner.node(digest).cloned());
        Place {
            conversation: node
                .as_ref()
                .map_or(fresh, |node| node.conversation.clone()),
            parent: None,
            stored_links: 0,
            queued_links: 0,
            touched_ms: None,
            anchor: node.and_then(|node| node.anchor),
        }
    }

    /// The newest published epoch on a chain.
    pub(crate) fn published(&self, conversation: &Conversation) -> Option<Arc<Epoch>> {
        let inner = self.lock();
        newest(&inner.published, &inner.refused, conversation)
    }

    /// The newest prepared epoch on a chain.
    pub(crate) fn prepared(&self, conversation: &Conversation) -> Option<Arc<Epoch>> {
        let inner = self.lock();
        newest(&inner.prepared, &inner.refused, conversation)
    }

    /// Whether an epoch of this chain had to leave memory, so that only the store knows it.
    pub(crate) fn has_dropped(&self, chain: &[(usize, Digest)]) -> bool {
        let inner = self.lock();
        let dropped = [&inner.published.dropped, &inner.prepared.dropped];
        dropped
            .iter()
            .any(|set| !set.is_empty() && chain.iter().any(|(_, digest)| set.contains(digest)))
    }

    pub(crate) fn publish(&self, epoch: Arc<Epoch>) {
        let mut inner = self.lock();
        inner.prepared.remove(&epoch.node);
        inner.published.insert(epoch);
    }

    pub(crate) fn prepare(&self, epoch: Arc<Epoch>) {
        self.lock().prepared.insert(epoch);
    }

    /// A provider refused what this epoch makes of a request: it is not applied again.
    pub(crate) fn refuse(&self, epoch: &Epoch) {
        self.lock().refused.insert(epoch.node);
    }

    /// Whether a provider refused an epoch at this node.
    pub(crate) fn is_refused(&self, node: &Digest) -> bool {
        self.lock().refused.contains(node)
    }

    /// Claims the preparation of a compaction; at most one runs per conversation.
    pub(crate) fn claim(&self, conversation: &ConversationId) -> bool {
        self.lock().preparing.insert(conversation.clone())
    }

    pub(crate) fn release(&self, conversation: &ConversationId) {
        self.lock().preparing.remove(conversation);
    }

    /// Notes how far links are on their way to the store. What is there for certain stays so.
    pub(crate) fn mark(&self, links: impl IntoIterator<Item = Digest>, written: Written) {
        let mut inner = self.lock();
        for digest in links {
            if let Some(node) = inner.node(&digest)
                && node.written != Written::Stored
            {
                node.written = written;
            }
        }
    }

    /// What the provider counted for the request that ended at `tip`.
    pub(crate) fn anchor(&self, tip: &Digest, anchor: Anchor) {
        if let Some(node) = self.lock().node(tip) {
            node.anchor = Some(anchor);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn newest(
    epochs: &Epochs,
    refused: &HashSet<Digest, Prehashed>,
    conversation: &Conversation,
) -> Option<Arc<Epoch>> {
    conversation
        .chain
        .iter()
        .rev()
        .filter_map(|(_, digest)| epochs.get(digest))
        .find(|epoch| !refused.contains(&epoch.node))
        .cloned()
}

impl Inner {
    fn node(&mut self, digest: &Digest) -> Option<&mut Node> {
        if !self.young.contains_key(digest) {
            let node = self.old.remove(digest)?;
            self.young.insert(*digest, node);
        }
        self.young.get_mut(digest)
    }

    /// How many of the first `known` links of a chain lead up to the last one that `is_written`.
    fn written_links(
        &mut self,
        chain: &[(usize, Digest)],
        known: usize,
        is_written: impl Fn(Written) -> bool,
    ) -> usize {
        chain
            .iter()
            .take(known)
            .rposition(|(_, digest)| {
                self.node(digest)
                    .is_some_and(|node| is_written(node.written))
            })
            .map_or(0, |at| at + 1)
    }

    /// Whether a request whose last known link is `at` goes on with the conversation that owns it.
    fn continues(
        &self,
        owner: &ConversationId,
        known: &Digest,
        at: usize,
        chain: &[(usize, Digest)],
    ) -> bool {
        let is_whole = at + 1 == chain.len();
        is_whole
            || self.tip(owner).is_none_or(|tip| {
                let dropped = tip.links.saturating_sub(at + 1);
                let is_remade = at + 1 >= LONG_CHAIN
                    && dropped <= REMADE_TAIL
                    && chain.len() - at <= REMADE_TAIL;
                is_remade || tip.digest == *known
            })
    }

    fn tip(&self, conversation: &ConversationId) -> Option<&Tip> {
        let young = self.tips.get(conversation);
        young.or_else(|| self.old_tips.get(conversation))
    }

    fn turn(&mut self) {
        if self.young.len() > CAPACITY / 2 {
            self.old = std::mem::take(&mut self.young);
            self.old_tips = std::mem::take(&mut self.tips);
        }
    }
}
