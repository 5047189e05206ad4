//! Writes that trail: messages, notes and beliefs, a batch at a time.

use std::sync::Arc;
use std::time::Duration;

use epitome_engine::known_models::BeliefUpdate;
use epitome_store::{
    AnyStore, Append, CountedRequests, CountedRow, Entries, EntryRow, Error, Outcome, Outcomes,
    TenantId, TurnRow, Turns,
};
use tokio::sync::{Notify, mpsc};

use super::health::Health;
use super::late::may_pass;
use super::names;
use crate::index::{Index, Written};
use crate::open_store::OpenStore;
use crate::words::{self, CatchUp};

/// Bytes of messages that may wait. Beyond it new ones are left to the next request, which carries the whole history
/// again.
const QUEUE_BYTES: usize = 8 << 20;
/// Writes that go into one transaction.
const BATCH: usize = 512;
/// How long writes wait for company, and again as long as more come, but not for ever.
const GATHER: Duration = Duration::from_millis(40);
const MOST_GATHERS: usize = 6;
/// How many batches of a store that is never quiet wait to be indexed together, and how many bytes of them at most.
const UNINDEXED_BATCHES: usize = 4;
const UNINDEXED_BYTES: usize = 1 << 20;
/// How long turns wait that could not be written.
const AGAIN: Duration = Duration::from_secs(1);
/// What a write takes besides the bytes of its messages.
const ROW_BYTES: usize = 512;

/// Something to be written.
#[derive(Debug)]
pub(super) enum Write {
    Append(Box<Append>),
    Outcome(Box<Outcome>),
    Belief(Box<BeliefUpdate>),
    Counted(Box<CountedRow>),
    Turn(Box<TurnRow>),
}

impl Write {
    fn bytes(&self) -> usize {
        match self {
            Self::Append(append) => append
                .entries
                .iter()
                .map(|entry| entry.raw.len() + ROW_BYTES)
                .sum(),
            Self::Outcome(_) | Self::Belief(_) | Self::Counted(_) => ROW_BYTES,
            Self::Turn(turn) => turn_bytes(turn),
        }
    }
}

fn turn_bytes(turn: &TurnRow) -> usize {
    turn.items.len() + ROW_BYTES
}

/// What waits to be written, bounded in bytes.
#[derive(Debug)]
pub(super) struct Queue {
    sender: mpsc::UnboundedSender<Write>,
    health: Arc<Health>,
    hurry: Arc<Notify>,
    /// Whether other nodes wait for what is written.
    is_shared: bool,
}

/// The other end of a queue.
#[derive(Debug)]
pub(super) struct Waiting {
    writes: mpsc::UnboundedReceiver<Write>,
    /// That something came which should not wait for company.
    hurry: Arc<Notify>,
}

impl Queue {
    pub(super) fn new(health: Arc<Health>, is_shared: bool) -> (Self, Waiting) {
        let (sender, writes) = mpsc::unbounded_channel();
        let hurry = Arc::new(Notify::new());
        let waiting = Waiting {
            writes,
            hurry: Arc::clone(&hurry),
        };
        let queue = Self {
            sender,
            health,
            hurry,
            is_shared,
        };
        (queue, waiting)
    }

    /// Says whether there was room.
    pub(super) fn push(&self, write: Write) -> bool {
        let bytes = write.bytes();
        if !self.health.reserve(bytes, QUEUE_BYTES) {
            self.health.full();
            return false;
        }
        // Nobody sends a turn again, and the client may go on from it at once. Another node may get the next request, and should
        // know then whose conversation it is and how large.
        let is_urgent = match &write {
            Write::Turn(_) => true,
            Write::Counted(_) | Write::Belief(_) => self.is_shared,
            Write::Append(append) => {
                self.is_shared && append.nodes.first().is_none_or(|node| node.position == 0)
            }
            Write::Outcome(_) => false,
        };
        let sent = self.sender.send(write).is_ok();
        if is_urgent {
            self.hurry.notify_one();
        }
        if !sent {
            self.health.give_back(bytes);
        }
        sent
    }
}

/// Writes what has gathered, a batch at a time, until nobody is left to send.
pub(super) async fn write_all(
    open: OpenStore,
    tenant: TenantId,
    index: Arc<Index>,
    waiting: Waiting,
    health: Arc<Health>,
) {
    let store = Arc::clone(open.store());
    let Waiting { mut writes, hurry } = waiting;
    let mut batch = Vec::new();
    let mut turns = Vec::new();
    let mut unindexed = Unindexed::default();
    let mut catch_up = CatchUp::After(None);
    loop {
        while let CatchUp::After(key) = catch_up
            && writes.is_empty()
            && !writes.is_closed()
        {
            catch_up = words::catch_up(&store, &tenant, key)
                .await
                .unwrap_or_else(|error| {
                    health.failed("index", &error);
                    CatchUp::Done
                });
        }
        let received = writes.recv_many(&mut batch, BATCH);
        let received = match turns.is_empty() && unindexed.is_empty() {
            true => Some(received.await),
            false => crate::clock::within(AGAIN, received).await.ok(),
        };
        if received == Some(0) {
            break;
        }
        let pace = gather(&mut writes, &hurry, &mut batch).await;
        let mut bytes: usize = batch.iter().map(Write::bytes).sum();
        let mut appends = Vec::new();
        let mut notes = Vec::new();
        let mut counted = Vec::new();
        for write in batch.drain(..) {
            match write {
                Write::Append(append) => appends.push(*append),
                Write::Outcome(outcome) => notes.push(Note::Outcome(outcome)),
                Write::Belief(update) => notes.push(Note::Belief(update)),
                Write::Counted(row) => counted.push(*row),
                Write::Turn(turn) => {
                    // They are given back when they are written.
                    bytes -= turn_bytes(&turn);
                    turns.push(*turn);
                }
            }
        }
        keep_turns(&store, &tenant, &mut turns, &health).await;
        // A write waits longer for a store that is away than a question does: it may still succeed.
        if let Err(error) = names::settle(&store, &tenant, &index, &mut appends).await {
            health.failed("append", &error);
        }
        append_all(&store, &tenant, &index, &appends, &health).await;
        let counted = counted.into_iter().map(|row: CountedRow| CountedRow {
            conversation: index.name_of(row.conversation),
            ..row
        });
        keep_counted(&store, &tenant, &counted.collect::<Vec<_>>(), &health).await;
        for append in appends {
            unindexed.add(append.entries);
        }
        note_all(&store, &tenant, &index, notes, &health).await;
        health.give_back(bytes);
        match words::index(&store, &tenant, unindexed.due(pace)).await {
            Ok(()) => {}
            // Some of them belong to a conversation that was deleted; the others are found by looking.
            Err(Error::Dangling(_)) => catch_up = CatchUp::After(None),
            Err(error) => health.failed("index", &error),
        }
    }
    // Nobody sends turns again, so they come first. What is not indexed by now is found by looking when the store is opened again.
    keep_turns(&store, &tenant, &mut turns, &health).await;
    let rest = unindexed.due(Pace::Quiet);
    words::index(&store, &tenant, rest).await.ok();
    open.done().await;
}

/// Whether more writes were coming when a batch was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Quiet,
    Busy,
}

/// A commit costs much more than a row, so writes wait a moment for company.
async fn gather(
    writes: &mut mpsc::UnboundedReceiver<Write>,
    hurry: &Notify,
    batch: &mut Vec<Write>,
) -> Pace {
    for _ in 0..MOST_GATHERS {
        let before = batch.len();
        let is_urgent = crate::clock::within(GATHER, hurry.notified()).await.is_ok();
        while batch.len() < BATCH
            && let Ok(write) = writes.try_recv()
        {
            batch.push(write);
        }
        if batch.len() == before || writes.is_closed() {
            return Pace::Quiet;
        }
        if is_urgent || batch.len() >= BATCH {
            break;
        }
    }
    Pace::Busy
}

/// Messages that are stored and cannot be found by their words yet: many together are indexed for less.
#[derive(Default)]
struct Unindexed {
    entries: Vec<EntryRow>,
    bytes: usize,
    batches: usize,
}

impl Unindexed {
    const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn add(&mut self, entries: Vec<EntryRow>) {
        self.bytes += entries.iter().map(|entry| entry.raw.len()).sum::<usize>();
        self.entries.extend(entries);
    }

    /// Those that wait no longer.
    fn due(&mut self, pace: Pace) -> Vec<EntryRow> {
        self.batches += 1;
        let waits =
            pace == Pace::Busy && self.batches < UNINDEXED_BATCHES && self.bytes < UNINDEXED_BYTES;
        match waits {
            true => Vec::new(),
            false => std::mem::take(self).entries,
        }
    }
}

/// Writes turns. Unlike messages, nobody sends them again: what may pass is tried again.
async fn keep_turns(
    store: &AnyStore,
    tenant: &TenantId,
    turns: &mut Vec<TurnRow>,
    health: &Health,
) {
    if turns.is_empty() {
        return;
    }
    match store.keep_turns(tenant, turns).await {
        Ok(()) => health.worked("turns"),
        Err(error) => {
            health.failed("turns", &error);
            if may_pass(&error) {
                return;
            }
        }
    }
    health.give_back(turns.iter().map(turn_bytes).sum());
    turns.clear();
}

/// What cannot be written is counted again with the next request.
async fn keep_counted(store: &AnyStore, tenant: &TenantId, rows: &[CountedRow], health: &Health) {
    if rows.is_empty() {
        return;
    }
    match store.keep_counted(tenant, rows).await {
        Ok(()) => health.worked("write"),
        Err(error) => health.failed("write", &error),
    }
}

/// What is known beside the messages.
enum Note {
    Outcome(Box<Outcome>),
    Belief(Box<BeliefUpdate>),
}

async fn note_all(
    store: &AnyStore,
    tenant: &TenantId,
    index: &Index,
    notes: Vec<Note>,
    health: &Health,
) {
    for note in notes {
        let written = match note {
            Note::Outcome(mut outcome) => {
                outcome.conversation = outcome.conversation.map(|id| index.name_of(id));
                store.record_outcome(tenant, &outcome).await
            }
            Note::Belief(update) => update.save(store).await,
        };
        match written {
            Ok(()) => health.worked("write"),
            Err(error) => {
                health.failed("write", &error);
                // Each of the others would only wait as long again.
                if may_pass(&error) {
                    return;
                }
            }
        }
    }
}

async fn append_all(
    store: &AnyStore,
    tenant: &TenantId,
    index: &Index,
    appends: &[Append],
    health: &Health,
) {
    if appends.is_empty() {
        return;
    }
    match store.append_all(tenant, appends).await {
        Ok(()) => {
            health.worked("append");
            for append in appends {
                mark(index, append, Written::Stored);
            }
            return;
        }
        // Each by itself would only wait as long again. The next requests bring them again.
        Err(error) if may_pass(&error) => {
            health.failed("append", &error);
            for append in appends {
                mark(index, append, Written::No);
            }
            return;
        }
        Err(_) => {}
    }
    // One of them is bad; the others should not suffer for it.
    for append in appends {
        match store.append(tenant, append).await {
            Ok(()) => mark(index, append, Written::Stored),
            Err(error) => {
                mark(index, append, Written::No);
                if let Error::Dangling(_) = error {
                    unstore(index, append);
                }
                health.failed("append", &error);
            }
        }
    }
}

/// What is written stands on something that the store does not have.
pub(super) fn unstore(index: &Index, append: &Append) {
    let parent = append.nodes.first().and_then(|node| node.parent);
    index.unstore(&append.conversation.id, parent);
}

fn mark(index: &Index, append: &Append, written: Written) {
    index.mark(append.nodes.iter().map(|node| node.digest), written);
}
