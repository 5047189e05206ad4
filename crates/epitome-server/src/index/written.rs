//! How far links are on their way to the store.

use epitome::Digest;
use epitome_store::ConversationId;

use super::{Index, Inner, Node};

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

impl Index {
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

    /// The store does not have what these links stand on after all: somebody deleted it, or it went back to an earlier
    /// state. The next request of any of their conversations brings all of its links again.
    pub(crate) fn unstore(&self, conversation: &ConversationId, parent: Option<Digest>) {
        let mut inner = self.lock();
        let before = parent.and_then(|parent| inner.node(&parent));
        let before = before.map(|node| node.conversation.clone());
        let is_of = |node: &Node| {
            node.conversation == *conversation || Some(&node.conversation) == before.as_ref()
        };
        let Inner { young, old, .. } = &mut *inner;
        let nodes = young.values_mut().chain(old.values_mut());
        for node in nodes.filter(|node| is_of(node)) {
            node.written = Written::No;
        }
    }
}
