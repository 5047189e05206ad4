//! Conversations whose requests were refused as too long, and the shorter ones made of them too.

use std::collections::HashMap;

use epitome_store::ConversationId;

/// So many conversations are remembered.
const CAPACITY: usize = 10_000;

/// The smallest size that a provider refused in each conversation since it took one at least as large.
///
/// It is no belief about a window: a refusal that names no numbers teaches nothing that lasts. It only keeps the next try
/// from being what was refused before.
#[derive(Debug, Default)]
pub(super) struct TooLong(HashMap<ConversationId, u64>);

impl TooLong {
    pub(super) fn note(&mut self, conversation: &ConversationId, tokens: u64) {
        if self.0.len() >= CAPACITY {
            self.0.clear();
        }
        let smallest = self.0.entry(conversation.clone()).or_insert(tokens);
        *smallest = tokens.min(*smallest);
    }

    pub(super) fn took(&mut self, conversation: &ConversationId, tokens: u64) {
        if self
            .tokens(conversation)
            .is_some_and(|refused| tokens >= refused)
        {
            self.0.remove(conversation);
        }
    }

    pub(super) fn tokens(&self, conversation: &ConversationId) -> Option<u64> {
        self.0.get(conversation).copied()
    }
}
