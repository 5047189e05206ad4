//! What nobody knows, and what it may belong to.

use std::collections::{HashMap, VecDeque};

use super::{CallKey, Facts};
use crate::message::Role;

/// So many calls that were answered are remembered: what belongs to one stands near it.
const REMEMBERED_CALLS: usize = 16;

/// Entries of unknown kinds, as far as they hold others together.
///
/// A message in a role that nobody knows may answer what stands before it, so that no cut stands right before it; it may
/// also be said to what follows, so that right behind it only the model's next answer begins anew. Whatever carries the same
/// id as an unknown entry stays together with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Unknown {
    /// Whether a message in an unknown role stands last.
    stands_last: bool,
    /// Where each id of an unknown entry was seen first.
    ids: HashMap<CallKey, u32>,
    /// Calls that were answered, the newest last, and where they were made.
    answered: VecDeque<(CallKey, u32)>,
}

impl Unknown {
    /// Whether an entry cannot be parted from the one before.
    pub(super) fn holds(&self, facts: &Facts) -> bool {
        is_stranger(facts) || (self.stands_last && facts.role != Role::Assistant)
    }

    /// The first entry that something here belongs to; `calls` are those that wait for an answer or no longer do.
    pub(super) fn partner(
        &self,
        facts: &Facts,
        call: impl Fn(&CallKey) -> Option<u32>,
    ) -> Option<u32> {
        let answered = |key: &CallKey| {
            let mut found = self.answered.iter();
            found.find(|(known, _)| known == key).map(|(_, at)| *at)
        };
        let of_ties = facts.ties.iter().flat_map(|key| {
            let known = self.ids.get(key).copied();
            [known, call(key), answered(key)]
        });
        let own = facts.answers.iter().chain(&facts.calls);
        let of_calls = own.map(|key| self.ids.get(key).copied());
        of_ties.chain(of_calls).flatten().min()
    }

    /// After one more entry; the client's own notes change nothing.
    pub(super) fn push(&mut self, facts: &Facts, at: u32) {
        if facts.role != Role::System {
            self.stands_last = is_stranger(facts);
        }
        for key in &facts.ties {
            self.ids.entry(*key).or_insert(at);
        }
    }

    /// A call was answered.
    pub(super) fn answered(&mut self, call: CallKey, at: u32) {
        if self.answered.len() == REMEMBERED_CALLS {
            self.answered.pop_front();
        }
        self.answered.push_back((call, at));
    }

    /// The same for a log in which positions are others; what is not in it is left out.
    pub(super) fn moved(&self, to: impl Fn(u32) -> Option<u32>) -> Self {
        let there = |(key, at): (&CallKey, &u32)| Some((*key, to(*at)?));
        let answered = self.answered.iter().map(|(key, at)| (key, at));
        Self {
            stands_last: self.stands_last,
            ids: self.ids.iter().filter_map(there).collect(),
            answered: answered.filter_map(there).collect(),
        }
    }
}

/// Whether it is a message in a role that nobody knows.
fn is_stranger(facts: &Facts) -> bool {
    facts.is_unknown && matches!(facts.role, Role::User | Role::Tool)
}
