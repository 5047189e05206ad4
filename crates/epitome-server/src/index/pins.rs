//! Which pins the user dropped in each conversation, as the store said last.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_store::ConversationId;
use epitome_wire::Conversation;

use super::epochs::newest;
use super::{Index, TRIED};

/// What is remembered so that a slow store does not bring back what was dropped.
#[derive(Debug, Default)]
pub(super) struct DroppedPins {
    by_conversation: HashMap<ConversationId, Arc<[String]>>,
    /// What each branch branched off from: its own row may still be on its way to the store.
    parents: HashMap<ConversationId, ConversationId>,
}

impl DroppedPins {
    pub(super) fn branched(&mut self, conversation: &ConversationId, parent: &ConversationId) {
        if self.parents.len() >= TRIED {
            self.parents.clear();
        }
        self.parents.insert(conversation.clone(), parent.clone());
    }

    pub(super) fn parent(&self, conversation: &ConversationId) -> Option<ConversationId> {
        self.parents.get(conversation).cloned()
    }
}

impl Index {
    /// Whether a compaction is known on a chain, in force or not.
    pub(crate) fn has_epochs(&self, conversation: &Conversation) -> bool {
        let inner = self.lock();
        [&inner.published, &inner.prepared]
            .iter()
            .any(|epochs| newest(epochs, conversation, |_| true).is_some())
    }

    /// The conversation that one branched off from, where this process saw that.
    pub(crate) fn parent(&self, conversation: &ConversationId) -> Option<ConversationId> {
        self.lock().dropped_pins.parent(conversation)
    }

    /// What the store said last.
    pub(crate) fn dropped_pins(&self, conversation: &ConversationId) -> Arc<[String]> {
        let inner = self.lock();
        let known = inner.dropped_pins.by_conversation.get(conversation);
        known.cloned().unwrap_or_default()
    }

    /// What the store says now.
    pub(crate) fn keep_dropped(
        &self,
        conversation: &ConversationId,
        dropped: Vec<String>,
    ) -> Arc<[String]> {
        let known = &mut self.lock().dropped_pins.by_conversation;
        if dropped.is_empty() {
            known.remove(conversation);
            return Arc::default();
        }
        if known.len() >= TRIED {
            known.clear();
        }
        let dropped: Arc<[String]> = dropped.into();
        known.insert(conversation.clone(), Arc::clone(&dropped));
        dropped
    }
}
