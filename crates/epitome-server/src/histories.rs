//! Histories that the provider keeps: every item went by here, so that they can be said in full when they no longer fit.
//! Turns are looked for in memory first, then in the store.

mod reading;

use reading::{Reading, Readings};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use epitome_store::TurnRow;
use epitome_wire::{AnswerItems, Body, Continued, Recent, Wire, sent_back};

use crate::clock::now_ms;
use crate::journal::Journal;

/// What the turns of all conversations may take in memory, about.
const CAPACITY_BYTES: usize = 64 << 20;

/// Turns by the ids of their answers.
#[derive(Debug)]
pub(crate) struct Histories {
    kept: Arc<Recent<Arc<Turn>>>,
    /// Those on their way from the store.
    readings: Readings,
    journal: Arc<Journal>,
}

/// One request with its answer, and what came before.
#[derive(Debug)]
pub(crate) struct Turn {
    previous: Option<Arc<Self>>,
    /// What the client added, and what the model answered as a client may send it back.
    items: Vec<Bytes>,
    /// The compaction that stands at the beginning of what the provider has under this id.
    held_under: Option<String>,
    /// Whether the provider did not take the history in full.
    is_refused: AtomicBool,
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
    pub(crate) fn new(request: &Continued, brief: &Bytes, previous: Arc<Turn>) -> Self {
        let mut turns = vec![&previous];
        while let Some(earlier) = turns.last().and_then(|turn| turn.previous.as_ref()) {
            turns.push(earlier);
        }
        let turns = turns.iter().rev();
        let items: Vec<Bytes> = turns.flat_map(|turn| &turn.items).cloned().collect();
        Self {
            brief: brief.clone(),
            full: request.in_full(&items),
            previous,
        }
    }

    /// Whether the provider's history begins with a compaction.
    pub(crate) fn is_held_shortened(&self) -> bool {
        self.previous.held_under.is_some()
    }

    /// Whether the provider did not take the history in full.
    pub(crate) fn is_refused(&self) -> bool {
        self.previous.is_refused.load(Ordering::Relaxed)
    }

    /// The provider did not take the history in full; nor does it take one that goes on from there.
    pub(crate) fn refuse(&self) {
        self.previous.is_refused.store(true, Ordering::Relaxed);
    }

    /// Whether the provider has the history in this form already.
    pub(crate) fn is_held_under(&self, compaction: &str) -> bool {
        self.previous.held_under.as_deref() == Some(compaction)
    }
}

/// What a request goes on from.
#[derive(Clone, Debug)]
pub(crate) enum Before {
    Nothing,
    Known(Arc<Turn>),
    /// An answer that nobody here saw, or that the store did not find in time.
    Unknown,
}

/// A turn whose answer is still to come.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    before: Before,
    previous: Option<String>,
    input: Vec<Bytes>,
    held_under: Option<String>,
    is_private: bool,
}

impl Open {
    pub(crate) fn new(request: &Continued, before: Before, is_private: bool) -> Self {
        Self {
            held_under: match &before {
                Before::Known(turn) => turn.held_under.clone(),
                Before::Nothing | Before::Unknown => None,
            },
            before,
            previous: request.previous().map(ToOwned::to_owned),
            input: request.added().to_vec(),
            is_private,
        }
    }

    /// It is not stored.
    pub(crate) fn kept_out(mut self) -> Self {
        self.is_private = true;
        self
    }

    /// The request is sent in full, as everything was said.
    pub(crate) fn sent_in_full(mut self) -> Self {
        self.held_under = None;
        self
    }

    /// The request is sent in full, beginning with a compaction.
    pub(crate) fn sent_under(mut self, compaction: &str) -> Self {
        self.held_under = Some(compaction.to_owned());
        self
    }
}

impl Histories {
    pub(crate) fn new(journal: Arc<Journal>) -> Self {
        Self {
            kept: Arc::new(Recent::new(CAPACITY_BYTES)),
            readings: Readings::default(),
            journal,
        }
    }

    /// What a request goes on from.
    pub(crate) async fn before(&self, request: &Continued) -> Before {
        let Some(id) = request.previous() else {
            return Before::Nothing;
        };
        if let Some(turn) = self.kept.find(id) {
            return Before::Known(turn);
        }
        let reading = match Reading::begin(&self.readings, id) {
            Ok(reading) => reading,
            Err(mut others) => {
                // Nothing is ever said: it ends when they are done.
                self.journal.soon(others.changed()).await;
                return self.kept.find(id).map_or(Before::Unknown, Before::Known);
            }
        };
        let (kept, answer) = (Arc::clone(&self.kept), id.to_owned());
        let keep = move |rows: &[TurnRow]| {
            let _reading = reading;
            let turn = linked(rows)?;
            let bytes = rows.iter().map(|row| row.items.len()).sum();
            kept.put(answer, Arc::clone(&turn), bytes);
            Some(turn)
        };
        let found = self.journal.turns_to(id, keep).await;
        found.map_or(Before::Unknown, Before::Known)
    }

    /// The answer to a request has come.
    pub(crate) fn close(&self, open: Open, answer: &AnswerItems) {
        let Some(id) = answer.response.clone().filter(|_| !answer.is_cut) else {
            return;
        };
        let previous = open.previous.clone();
        let mut items = open.input;
        items.extend(sent_back(&answer.items));
        if !open.is_private && self.journal.has_store() {
            let items = listed(&items);
            self.journal.quota().stores(items.len());
            self.journal.keep_turn(TurnRow {
                id: id.clone(),
                previous: open.previous,
                items,
                compaction: open.held_under.clone(),
                at_ms: now_ms(),
            });
        }
        let previous = match open.before {
            Before::Nothing => None,
            Before::Known(turn) => Some(turn),
            // What was not found in time may have been read since.
            Before::Unknown => match previous.and_then(|id| self.kept.find(&id)) {
                Some(turn) => Some(turn),
                // The store may know the whole later.
                None => return,
            },
        };
        let bytes = items.iter().map(Bytes::len).sum();
        let is_refused = previous
            .as_ref()
            .is_some_and(|turn| turn.is_refused.load(Ordering::Relaxed));
        let turn = Turn {
            is_refused: AtomicBool::new(is_refused),
            previous,
            items,
            held_under: open.held_under,
        };
        self.kept.put(id, Arc::new(turn), bytes);
    }
}

/// Turns as they are stored, the first one first; the last one, with what came before.
fn linked(rows: &[TurnRow]) -> Option<Arc<Turn>> {
    let mut last = None;
    for row in rows {
        let list = Body::scan_array(row.items.clone(), Wire::OpenAiResponses).ok()?;
        let items = list.messages().iter();
        last = Some(Arc::new(Turn {
            is_refused: AtomicBool::new(false),
            previous: last,
            items: items.map(|item| row.items.slice(item.clone())).collect(),
            held_under: row.compaction.clone(),
        }));
    }
    last
}

/// Items as a JSON array.
fn listed(items: &[Bytes]) -> Bytes {
    let length: usize = items.iter().map(|item| item.len() + 1).sum();
    let mut list = Vec::with_capacity(length + 2);
    list.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            list.push(b',');
        }
        list.extend_from_slice(item);
    }
    list.push(b']');
    list.into()
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
