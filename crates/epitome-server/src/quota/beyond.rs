//! The conversations that are beyond a quota.

use std::collections::HashSet;

use epitome_store::ConversationId;

use super::Excess;

/// So many are remembered at least, and twice as many at most.
const REMEMBERED: usize = 20_000;

/// The conversations that are beyond a quota, the newest of them.
#[derive(Debug, Default)]
pub(super) struct Beyond {
    left_out: Recent<ConversationId>,
    told: Recent<(Excess, ConversationId)>,
}

impl Beyond {
    /// A conversation is not stored.
    pub(super) fn leave_out(&mut self, conversation: &ConversationId) {
        self.left_out.insert(conversation.clone());
    }

    /// Whether a conversation was not stored before.
    pub(super) fn is_left_out(&self, conversation: &ConversationId) -> bool {
        self.left_out.contains(conversation)
    }

    /// A conversation is stored after all. Says whether it was not before.
    pub(super) fn let_in(&mut self, conversation: &ConversationId) -> bool {
        self.left_out.remove(conversation)
    }

    /// Whether it has to be told of a conversation; once.
    pub(super) fn tells(&mut self, excess: Excess, conversation: &ConversationId) -> bool {
        self.told.insert((excess, conversation.clone()))
    }
}

/// The newest members of a set.
#[derive(Debug)]
struct Recent<T> {
    young: HashSet<T>,
    old: HashSet<T>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self {
            young: HashSet::new(),
            old: HashSet::new(),
        }
    }
}

impl<T: Eq + std::hash::Hash> Recent<T> {
    fn contains(&self, member: &T) -> bool {
        self.young.contains(member) || self.old.contains(member)
    }

    /// Says whether it is new.
    fn insert(&mut self, member: T) -> bool {
        if self.young.contains(&member) {
            return false;
        }
        let is_new = !self.old.contains(&member);
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(member);
        is_new
    }

    /// Says whether it was there.
    fn remove(&mut self, member: &T) -> bool {
        let was_young = self.young.remove(member);
        self.old.remove(member) || was_young
    }
}
