//! Histories that the provider keeps: every item went by here, so that they can be said in full when they no longer fit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use epitome_wire::{AnswerItems, Continued, sent_back};

/// What the turns of all conversations may take in memory, about.
const CAPACITY_BYTES: usize = 64 << 20;

/// Turns by the ids of their answers. Two generations: when the younger one is full, the older one is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    young: HashMap<String, Arc<Turn>>,
    young_bytes: usize,
    old: HashMap<String, Arc<Turn>>,
}

/// One request with its answer, and what came before.
#[derive(Debug)]
pub(crate) struct Turn {
    previous: Option<Arc<Self>>,
    /// What the client added.
    input: Vec<Bytes>,
    /// What the model answered, as a client may send it back.
    output: Vec<Bytes>,
    /// The compaction that stands at the beginning of what the provider has under this id.
    held_under: Option<String>,
}

/// A request whose history is known here.
#[derive(Clone, Debug)]
pub(crate) struct InFull {
    /// As it came.
    pub(crate) brief: Bytes,
    /// With everything in it.
    pub(crate) full: Bytes,
    previous: Arc<Turn>,
}

impl InFull {
    /// Whether the provider has the history in this form already.
    pub(crate) fn is_held_under(&self, compaction: &str) -> bool {
        self.previous.held_under.as_deref() == Some(compaction)
    }
}

/// A turn whose answer is still to come.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    previous: Option<Arc<Turn>>,
    input: Vec<Bytes>,
    held_under: Option<String>,
}

impl Open {
    /// The request is sent in full, beginning with a compaction.
    pub(crate) fn sent_under(mut self, compaction: &str) -> Self {
        self.held_under = Some(compaction.to_owned());
        self
    }
}

impl Histories {
    /// What a request adds, and to what: what it goes on from must be known, or nothing is kept of it.
    pub(crate) fn open(&self, request: &Continued) -> Option<Open> {
        let previous = match request.previous() {
            Some(id) => Some(self.find(id)?),
            None => None,
        };
        Some(Open {
            held_under: previous.as_ref().and_then(|turn| turn.held_under.clone()),
            previous,
            input: request.added().to_vec(),
        })
    }

    /// A request that goes on from an id, with everything in it.
    pub(crate) fn in_full(&self, request: &Continued, brief: &Bytes) -> Option<InFull> {
        let previous = self.find(request.previous()?)?;
        let mut turns = vec![&previous];
        while let Some(earlier) = turns.last().and_then(|turn| turn.previous.as_ref()) {
            turns.push(earlier);
        }
        let turns = turns.iter().rev();
        let items = turns.flat_map(|turn| turn.input.iter().chain(&turn.output));
        let items: Vec<Bytes> = items.cloned().collect();
        Some(InFull {
            brief: brief.clone(),
            full: request.in_full(&items),
            previous,
        })
    }

    /// The answer to a request has come.
    pub(crate) fn close(&self, open: Open, answer: &AnswerItems) {
        let Some(id) = answer.response.clone().filter(|_| !answer.is_cut) else {
            return;
        };
        let turn = Turn {
            previous: open.previous,
            input: open.input,
            output: sent_back(&answer.items),
            held_under: open.held_under,
        };
        self.kept().put(id, Arc::new(turn));
    }

    fn find(&self, id: &str) -> Option<Arc<Turn>> {
        let mut kept = self.kept();
        if let Some(found) = kept.young.get(id) {
            return Some(Arc::clone(found));
        }
        let found = kept.old.remove(id)?;
        kept.put(id.to_owned(), Arc::clone(&found));
        Some(found)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn put(&mut self, id: String, turn: Arc<Turn>) {
        let items = turn.input.iter().chain(&turn.output);
        self.young_bytes += id.len() + items.map(Bytes::len).sum::<usize>();
        self.young.insert(id, turn);
        if self.young_bytes > CAPACITY_BYTES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}

/// One by one: a conversation of thousands of turns must not take as many stack frames to forget.
impl Drop for Turn {
    fn drop(&mut self) {
        let mut next = self.previous.take();
        while let Some(turn) = next {
            next = match Arc::try_unwrap(turn) {
                Ok(mut alone) => alone.previous.take(),
                Err(_) => None,
            };
        }
    }
}

#[cfg(test)]
#[path = "histories_tests.rs"]
mod tests;
