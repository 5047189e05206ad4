//! A conversation put together again: its entries and its changes, in order.

use std::collections::HashMap;
use std::pin::Pin;

use epitome::{CachePrices, CommitError, Session};
use epitome_store::{
    ChangeKind, ChangeRow, Changes, CompactionRow, Compactions, ConversationId, Conversations,
    Entries, PinRow, Pins,
};

use super::ConversationError;
use super::entry::{Entry, Tip};
use super::state::{State, in_table};
use crate::record::{ChangePlace, ForkPlace, Record, RecordError};
use crate::shared::Shared;

/// How far a conversation is followed.
#[derive(Clone, Copy, Debug)]
struct Until {
    entries: usize,
    changes: u32,
}

/// How many forks of forks are followed.
const DEPTH: usize = 64;

pub(super) async fn restore(
    shared: &Shared,
    id: &ConversationId,
) -> Result<State, ConversationError> {
    let everything = Until {
        entries: usize::MAX,
        changes: u32::MAX,
    };
    let mut state = restore_until(shared, id, everything, DEPTH).await?;
    let marked = shared.store.marked_pins(&shared.tenant, id).await?;
    state.session.set_dropped_pins(PinRow::dropped(marked));
    // What happened long ago is no news.
    let _ = state.session.take_events();
    state.asked_ms = shared.clock.now_ms();
    state.statistics.compactions = state.session.records().len() as u64;
    Ok(state)
}

type Restoring<'a> = Pin<Box<dyn Future<Output = Result<State, ConversationError>> + Send + 'a>>;

fn restore_until<'a>(
    shared: &'a Shared,
    id: &'a ConversationId,
    until: Until,
    depth: usize,
) -> Restoring<'a> {
    Box::pin(async move {
        let changes = shared.store.changes(&shared.tenant, id).await?;
        let count = changes.len().min(until.changes as usize);
        let mut state = base(shared, &changes, depth).await?;
        let own = shared.store.tip(&shared.tenant, id).await?;
        let own: Vec<Entry> = match own {
            None => Vec::new(),
            Some(tip) => {
                let rows = shared.store.history(&shared.tenant, tip.digest).await?;
                let taken = rows.into_iter().take(until.entries).skip(state.raws.len());
                let entries: Result<_, _> =
                    taken.map(|row| Entry::read(shared.wire, row.raw)).collect();
                entries?
            }
        };
        let rows = super::entry::Rows::of(shared, id, state.tip, &own);
        state.tip = rows.tip;
        let compactions = shared.store.compactions_of(&shared.tenant, id).await?;
        let by_id: HashMap<&str, &CompactionRow> = compactions
            .iter()
            .map(|row| (row.id.as_str(), row))
            .collect();
        let mut entries = own.into_iter();
        for change in changes.iter().take(count) {
            let passed_over = |why: &dyn std::fmt::Display| {
                // Everything is still there; only what was compacted is shown whole again, and compacted anew.
                tracing::warn!(conversation = %id, change = change.seq, %why, "a change is passed over with all behind it");
            };
            let place = match ChangePlace::of(change) {
                Ok(place) => place,
                Err(error) => {
                    passed_over(&error);
                    break;
                }
            };
            while state.raws.len() < place.entries
                && let Some(entry) = entries.next()
            {
                state.push(entry);
            }
            if let Err(no) = apply(&mut state, change, &by_id) {
                passed_over(&no);
                break;
            }
        }
        for entry in entries {
            state.push(entry);
        }
        state.changes = u32::try_from(count).unwrap_or(u32::MAX);
        Ok(state)
    })
}

/// What a conversation begins with: nothing, or what it shares with another.
async fn base(
    shared: &Shared,
    changes: &[ChangeRow],
    depth: usize,
) -> Result<State, ConversationError> {
    let fresh = || {
        let model = in_table(shared.own_model.name.as_deref());
        let session = Session::from_settings(&shared.settings, shared.window, shared.meter)
            .with_cache_prices(CachePrices::of(model));
        let mut state = State::new(if shared.guards {
            session
        } else {
            session.without_guard()
        });
        state.believe(shared);
        state
    };
    let Some(fork) = ForkPlace::of(changes)?.filter(|_| depth > 0) else {
        return Ok(fresh());
    };
    let parent = ConversationId::new(&fork.parent)?;
    let until = Until {
        entries: fork.parent_entries,
        changes: fork.parent_changes,
    };
    let parent_state = restore_until(shared, &parent, until, depth - 1).await?;
    let session = parent_state.session.fork(fork.entries);
    let mut state = State::forked(parent_state, session, fork.entries);
    state.tip = tip_at(shared, &parent, fork.entries).await?;
    Ok(state)
}

/// The node of the last of the first `entries` entries of a conversation.
pub(super) async fn tip_at(
    shared: &Shared,
    id: &ConversationId,
    entries: usize,
) -> Result<Option<Tip>, ConversationError> {
    let mut at = match shared.store.tip(&shared.tenant, id).await? {
        Some(node) => Some(node),
        None => {
            // A fork that nobody has written to ends where it was forked.
            let changes = shared.store.changes(&shared.tenant, id).await?;
            return match ForkPlace::of(&changes)? {
                Some(fork) => {
                    let parent = ConversationId::new(&fork.parent)?;
                    Box::pin(tip_at(shared, &parent, entries.min(fork.entries))).await
                }
                None => Ok(None),
            };
        }
    };
    while let Some(node) = &at {
        if (node.position as usize) < entries {
            return Ok(Some(Tip {
                node: node.digest,
                position: node.position,
                is_own: false,
            }));
        }
        let Some(parent) = node.parent else {
            break;
        };
        let found = shared.store.find_nodes(&shared.tenant, &[parent]).await?;
        at = found.into_iter().next();
    }
    Ok(None)
}

/// Why a change cannot be done once more.
#[derive(Debug, thiserror::Error)]
enum NotAgain {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error("its compaction is not stored, or not one of an engine")]
    NoCompaction,
}

/// Does once more what a change did.
fn apply(
    state: &mut State,
    change: &ChangeRow,
    by_id: &HashMap<&str, &CompactionRow>,
) -> Result<(), NotAgain> {
    match change.kind {
        ChangeKind::Forked | ChangeKind::Superseded => {}
        ChangeKind::Undone => state.session.replay_undo().map(|_| ())?,
        ChangeKind::Compacted => {
            let row = change.compaction.as_deref().and_then(|id| by_id.get(id));
            let row = row.ok_or(NotAgain::NoCompaction)?;
            let Record::Session(record) = Record::of(row)? else {
                return Err(NotAgain::NoCompaction);
            };
            state.session.replay(record.compaction, record.shown)?;
            state.compactions.push(row.id.clone());
        }
    }
    Ok(())
}
