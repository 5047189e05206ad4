//! Conversations that turned out to be others.

use epitome::Digest;
use epitome_store::ConversationId;

use super::{Index, Inner, Node, TRIED};

impl Index {
    /// What was taken for a new conversation is one that was known before, unless this process itself tells the two apart: they only
    /// begin with the same words.
    pub(crate) fn rename(&self, taken_for: &ConversationId, known: &ConversationId) {
        let mut inner = self.lock();
        if taken_for == known || inner.tip(known).is_some() {
            return;
        }
        let tip = inner.tips.remove(taken_for);
        if let Some(tip) = tip.or_else(|| inner.old_tips.remove(taken_for)) {
            inner.tips.entry(known.clone()).or_insert(tip);
        }
        if inner.renamed.len() >= TRIED {
            inner.renamed.clear();
        }
        inner.renamed.insert(taken_for.clone(), known.clone());
    }

    /// What a conversation is called by now.
    pub(crate) fn name_of(&self, conversation: ConversationId) -> ConversationId {
        let inner = self.lock();
        inner
            .renamed
            .get(&conversation)
            .cloned()
            .unwrap_or(conversation)
    }

    /// Whether a conversation was begun with this link, and did not only come to share it.
    pub(crate) fn is_begun_by(&self, conversation: &ConversationId, link: &Digest) -> bool {
        let mut inner = self.lock();
        inner
            .node(link)
            .is_some_and(|node| node.conversation == *conversation)
    }
}

impl Inner {
    /// A link, kept among the young ones, under the name that its conversation has by now.
    pub(super) fn node(&mut self, digest: &Digest) -> Option<&mut Node> {
        if !self.young.contains_key(digest) {
            let node = self.old.remove(digest)?;
            self.young.insert(*digest, node);
        }
        let node = self.young.get_mut(digest)?;
        if let Some(known) = self.renamed.get(&node.conversation) {
            node.conversation = known.clone();
        }
        Some(node)
    }
}
