//! Looking back: what was compacted, taken back, branched off; and what was said, word for word.

use bytes::Bytes;
use epitome::{Digest, Message, Session};
use epitome_store::{
    Append, Appended, ChangeKind, ChangeRow, Changes, CompactionRow, Compactions, ConversationId,
    Entries, NewChange, NewConversation, Search, SearchScope,
};

use super::entry::Entry;
use super::state::State;
use super::{Conversation, ConversationError};
use crate::record::ForkPlace;

/// One change of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// What happened.
    pub change: ChangeRow,
    /// The compaction that it is about.
    pub compaction: Option<CompactionRow>,
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The key of the entry.
    pub key: Digest,
    /// Its place in the conversation, from 0.
    pub position: usize,
    /// Its bytes.
    pub raw: Bytes,
    /// What they say.
    pub message: Message,
    /// The number of the compaction whose summary stands for it, if it is not shown itself.
    pub covered_by: Option<usize>,
    /// How well it fits, the more the better.
    pub score: f64,
}

impl Conversation {
    /// Takes the newest compaction back, as one more change.
    ///
    /// # Errors
    /// [`ConversationError::Commit`] when there is none, or when the conversation would not fit without it.
    pub async fn undo(&self) -> Result<(), ConversationError> {
        let mut state = self.state().await;
        self.call_off(&mut state).await;
        let mut next = state.session.clone();
        next.undo()?;
        match self.take_back(&mut state, next).await? {
            Appended::Stored => Ok(()),
            Appended::Superseded => Err(ConversationError::Superseded),
        }
    }

    /// Puts a session in force whose last change took a compaction back.
    pub(super) async fn take_back(
        &self,
        state: &mut State,
        next: Session,
    ) -> Result<Appended, ConversationError> {
        let record = next.changes().last().and_then(|change| match change {
            epitome::Change::Undone { record } => Some(*record),
            _ => None,
        });
        let id = record
            .and_then(|record| state.compactions.get(record))
            .cloned();
        // A compaction that a fork shares with its parent stays in force there.
        let shared = self.shared();
        let is_own = match &id {
            Some(id) => {
                let row = shared.store.compaction(&shared.tenant, id).await?;
                row.is_some_and(|row| row.conversation == *self.id())
            }
            None => false,
        };
        let change = self.change(state, ChangeKind::Undone, id.filter(|_| is_own))?;
        let new = NewChange::from(change);
        let appended = shared.store.append_change(&shared.tenant, &new).await?;
        match appended {
            Appended::Stored => {
                state.session = next;
                state.changes += 1;
            }
            Appended::Superseded => self.read_again(state).await?,
        }
        Ok(appended)
    }

    /// A conversation of its own that shares the first `entries` entries with this one.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn fork(&self, entries: usize) -> Result<Self, ConversationError> {
        let state = self.state().await;
        let id = ConversationId::from_number(crate::clock::new_number());
        let shared = self.shared();
        let now = shared.clock.now_ms();
        let place = ForkPlace {
            parent: self.id().to_string(),
            parent_entries: state.raws.len(),
            parent_changes: state.changes,
            entries: entries.min(state.raws.len()),
        };
        let new = NewChange {
            change: ChangeRow {
                conversation: id.clone(),
                seq: 0,
                kind: ChangeKind::Forked,
                compaction: None,
                body: place.write()?,
                at_ms: now,
            },
            compaction: None,
            span: Some(Append {
                conversation: NewConversation {
                    id: id.clone(),
                    parent: Some(self.id().clone()),
                    label: None,
                    created_ms: now,
                },
                entries: Vec::new(),
                nodes: Vec::new(),
                words: Vec::new(),
                touched_ms: now,
            }),
            fence: None,
        };
        shared.store.append_change(&shared.tenant, &new).await?;
        drop(state);
        Self::open(self.shared(), &id).await
    }

    /// What was done to the conversation, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn log(&self) -> Result<Vec<LogEntry>, ConversationError> {
        let shared = self.shared();
        let changes = shared.store.changes(&shared.tenant, self.id()).await?;
        let compactions = shared
            .store
            .compactions_of(&shared.tenant, self.id())
            .await?;
        let find = |id: &Option<String>| {
            let id = id.as_deref()?;
            compactions.iter().find(|row| row.id == id).cloned()
        };
        let log = changes.into_iter().map(|change| LogEntry {
            compaction: find(&change.compaction),
            change,
        });
        Ok(log.collect())
    }

    /// At most `limit` entries of this branch that have the words of `query`, the best first, byte for byte.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recall(
        &self,
        query: &str,
        limit: u32,
    ) -> Result<Vec<Recalled>, ConversationError> {
        let shared = self.shared();
        let state = self.state().await;
        let Some(tip) = state.tip else {
            return Ok(Vec::new());
        };
        let scope = SearchScope::Branch(tip.node);
        let hits = shared
            .store
            .search(&shared.tenant, &scope, query, limit)
            .await?;
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            let Some(row) = shared.store.entry(&shared.tenant, hit.entry).await? else {
                continue;
            };
            let entry = Entry::read(self.shared().wire, row.raw)?;
            let position = hit.position as usize;
            let records = state.session.records().iter().enumerate();
            let covering = records
                .filter(|(_, record)| record.covers.iter().any(|range| range.contains(&position)));
            found.push(Recalled {
                key: hit.entry,
                position,
                raw: entry.raw,
                message: entry.message,
                covered_by: covering.map(|(number, _)| number).next_back(),
                score: hit.score,
            });
        }
        Ok(found)
    }

    /// An entry by its key, byte for byte.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn entry(&self, key: Digest) -> Result<Option<Bytes>, ConversationError> {
        let shared = self.shared();
        let row = shared.store.entry(&shared.tenant, key).await?;
        Ok(row.map(|row| row.raw))
    }
}
