//! Which conversation is this? Chains seen by this process, and the epochs in force on them.

mod counted;
mod epochs;
mod names;
mod pins;
mod too_long;
mod written;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::{Digest, Ledger, LedgerSettings};
use epitome_engine::known_models::SummaryPlacement;
use epitome_store::ConversationId;
use epitome_wire::{Conversation, Prehashed};

use crate::epoch::Epoch;
pub(crate) use counted::{ANCHORED_LINKS, Counted};
use epochs::{Epochs, newest};
use pins::DroppedPins;
use too_long::TooLong;
pub(crate) use written::Written;

/// About this many links are remembered; older ones are found in the store.
const CAPACITY: usize = 400_000;
/// A client that re-makes up to this many messages at the end of a long chain goes on with the same
/// conversation; one that drops more of them has made a fork.
const REMADE_TAIL: usize = 4;
const LONG_CHAIN: usize = 8;
/// Attempts that are remembered, conversations with the same first words, and those that turned out to be others.
const TRIED: usize = 10_000;
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
    /// The nodes at which a provider would not take a compaction in a form.
    refused: HashSet<(Digest, SummaryPlacement)>,
    /// What was tried in each conversation.
    ledgers: HashMap<ConversationId, Ledger>,
    /// Compactions that were taken back, and where they ended.
    undone: HashSet<String>,
    undone_nodes: HashSet<Digest, Prehashed>,
    /// Conversations of other programs that began with the same words, by the link and the kind of request.
    twins: HashMap<(Digest, u64), ConversationId>,
    preparing: HashSet<ConversationId>,
    dropped_pins: DroppedPins,
    too_long: TooLong,
    /// What was taken for a conversation of its own, and which one it is.
    renamed: HashMap<ConversationId, ConversationId>,
}

/// What is known of a link.
#[derive(Clone, Debug)]
struct Node {
    conversation: ConversationId,
    written: Written,
    touched_ms: i64,
    /// The kind of request (system prompt and tools) that it was first seen in.
    kind: u64,
    anchor: Option<Counted>,
}

/// Where a conversation has got to.
#[derive(Clone, Copy, Debug)]
struct Tip {
    digest: Digest,
    links: usize,
}

/// Where a request belongs.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) conversation: ConversationId,
    /// The conversation it branched off from.
    pub(crate) parent: Option<ConversationId>,
    /// How many links in front were known before: what was counted is looked for where these end.
    pub(crate) known_links: usize,
    /// How many links are in the store for certain.
    pub(crate) stored_links: usize,
    /// How many links are in the store or on their way.
    pub(crate) queued_links: usize,
    /// When the last known link was last seen.
    pub(crate) touched_ms: Option<i64>,
    /// The newest counts of the provider on this chain, newest first.
    pub(crate) counts: Vec<Counted>,
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
                kind: 0,
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
        kind: u64,
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
                let owner = inner.owner(node, digest, kind, at + 1 == chain.len(), &fresh);
                let touched = (node.touched_ms > 0).then_some(node.touched_ms);
                if inner.continues(&owner, digest, *at, chain) {
                    (owner, None, touched)
                } else {
                    (fresh, Some(owner), touched)
                }
            }
        };
        if let Some(parent) = &parent {
            inner.dropped_pins.branched(&conversation, parent);
        }
        let known_links = known.map_or(0, |at| at + 1);
        let stored_links = inner.written_links(chain, known_links, |w| w == Written::Stored);
        let queued_links = inner.written_links(chain, known_links, |w| w != Written::No);
        let counts = inner.counts(chain.iter().take(known_links), kind);
        for (_, digest) in chain.iter().skip(known_links) {
            let node = Node {
                conversation: conversation.clone(),
                written: Written::No,
                touched_ms: now_ms,
                kind,
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
        // A branch whose first request was refused is stored with its second, and still is a branch.
        let parent = parent.or_else(|| inner.dropped_pins.parent(&conversation));
        Place {
            conversation,
            parent,
            known_links,
            stored_links,
            queued_links,
            touched_ms,
            counts,
        }
    }

    /// Where a request belongs, without remembering it.
    pub(crate) fn peek(
        &self,
        chain: &[(usize, Digest)],
        fresh: ConversationId,
        kind: u64,
    ) -> Place {
        let mut inner = self.lock();
        let known = chain.iter().enumerate().rev();
        let mut known = known.filter_map(|(at, (_, digest))| {
            let node = inner.node(digest)?;
            Some((at + 1, node.conversation.clone()))
        });
        let (known_links, conversation) = known.next().unwrap_or((0, fresh));
        Place {
            conversation,
            parent: None,
            known_links,
            stored_links: 0,
            queued_links: 0,
            touched_ms: None,
            counts: inner.counts(chain.iter().take(known_links), kind),
        }
    }

    /// The newest published epoch on a chain that serves this request.
    pub(crate) fn published(
        &self,
        conversation: &Conversation,
        form: SummaryPlacement,
        serves: impl Fn(&Epoch) -> bool,
    ) -> Option<Arc<Epoch>> {
        let inner = self.lock();
        let may = |epoch: &Epoch| !inner.refused.contains(&(epoch.node, form)) && serves(epoch);
        newest(&inner.published, conversation, may)
    }

    /// The newest prepared epoch on a chain that serves this request.
    pub(crate) fn prepared(
        &self,
        conversation: &Conversation,
        form: SummaryPlacement,
        serves: impl Fn(&Epoch) -> bool,
    ) -> Option<Arc<Epoch>> {
        let inner = self.lock();
        let may = |epoch: &Epoch| !inner.refused.contains(&(epoch.node, form)) && serves(epoch);
        newest(&inner.prepared, conversation, may)
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
        if inner.undone.contains(&epoch.id) {
            return;
        }
        inner.prepared.remove(&epoch.node, &epoch.id);
        inner.published.insert(epoch);
    }

    /// An epoch lies ready.
    pub(crate) fn prepare(&self, epoch: Arc<Epoch>) {
        let mut inner = self.lock();
        if !inner.undone.contains(&epoch.id) {
            inner.prepared.insert(epoch);
        }
    }

    /// Forgets all compactions; those in the store are found there again.
    pub(crate) fn forget_epochs(&self) {
        let mut inner = self.lock();
        inner.published = Epochs::default();
        inner.prepared = Epochs::default();
    }

    /// A provider refused what this epoch makes of a request in this form: it is not applied so again by this process.
    pub(crate) fn refuse(&self, epoch: &Epoch, form: SummaryPlacement) {
        self.lock().refused.insert((epoch.node, form));
    }

    /// Whether a provider refused an epoch at this node in this form.
    pub(crate) fn is_refused(&self, node: Digest, form: SummaryPlacement) -> bool {
        self.lock().refused.contains(&(node, form))
    }

    /// A request of a conversation was refused as too long, and so was what was made of it, at this size.
    pub(crate) fn refuse_size(&self, conversation: &ConversationId, tokens: u64) {
        self.lock().too_long.note(conversation, tokens);
    }

    /// A provider took a request of a conversation at this size.
    pub(crate) fn take_size(&self, conversation: &ConversationId, tokens: u64) {
        self.lock().too_long.took(conversation, tokens);
    }

    /// The smallest size at which requests of a conversation were refused twice in a row.
    pub(crate) fn refused_size(&self, conversation: &ConversationId) -> Option<u64> {
        self.lock().too_long.tokens(conversation)
    }

    /// What was tried in a conversation.
    pub(crate) fn ledger(&self, conversation: &ConversationId) -> Ledger {
        let known = self.lock().ledgers.get(conversation).cloned();
        known.unwrap_or_else(|| Ledger::new(LedgerSettings::default()))
    }

    pub(crate) fn keep_ledger(&self, conversation: &ConversationId, ledger: Ledger) {
        let mut inner = self.lock();
        if inner.ledgers.len() >= TRIED {
            inner.ledgers.clear();
        }
        inner.ledgers.insert(conversation.clone(), ledger);
    }

    /// An epoch was taken back.
    pub(crate) fn take_back(&self, epoch: &Epoch) {
        let mut inner = self.lock();
        inner.published.remove(&epoch.node, &epoch.id);
        inner.prepared.remove(&epoch.node, &epoch.id);
        inner.undone.insert(epoch.id.clone());
        inner.undone_nodes.insert(epoch.node);
    }

    /// Whether a compaction that ended here was taken back: it does not come back by itself.
    pub(crate) fn is_undone(&self, node: &Digest) -> bool {
        self.lock().undone_nodes.contains(node)
    }

    /// Claims the preparation of a compaction; at most one runs per conversation.
    pub(crate) fn claim(&self, conversation: &ConversationId) -> bool {
        self.lock().preparing.insert(conversation.clone())
    }

    /// Whether a compaction is being written.
    pub(crate) fn is_preparing(&self, conversation: &ConversationId) -> bool {
        self.lock().preparing.contains(conversation)
    }

    pub(crate) fn release(&self, conversation: &ConversationId) {
        self.lock().preparing.remove(conversation);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Whose a link is. Another program may begin with the same words: a request of another kind that brings nothing
    /// new is its first.
    fn owner(
        &mut self,
        node: &Node,
        link: &Digest,
        kind: u64,
        is_whole: bool,
        fresh: &ConversationId,
    ) -> ConversationId {
        if node.kind == kind || node.kind == 0 {
            return node.conversation.clone();
        }
        if let Some(twin) = self.twins.get(&(*link, kind)) {
            return twin.clone();
        }
        if !is_whole {
            return node.conversation.clone();
        }
        if self.twins.len() >= TRIED {
            self.twins.clear();
        }
        self.twins.insert((*link, kind), fresh.clone());
        let tip = Tip {
            digest: *link,
            links: 1,
        };
        self.tips.insert(fresh.clone(), tip);
        fresh.clone()
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
                // Another node may have gone on with it meanwhile: then the known links lead on from the tip.
                let last = tip.links.checked_sub(1).and_then(|last| chain.get(last));
                let is_on_the_way =
                    tip.links <= at + 1 && last.is_some_and(|(_, link)| *link == tip.digest);
                is_remade || tip.digest == *known || is_on_the_way
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

#[cfg(test)]
#[path = "index/index_tests.rs"]
mod tests;
