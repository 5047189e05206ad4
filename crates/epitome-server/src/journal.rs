//! The store as the request path sees it: quick questions with a deadline, writes that trail.

mod health;
mod late;
mod lookup;
mod names;
mod turns;
mod work;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use epitome::Digest;
use epitome_engine::known_models::{BeliefUpdate, ModelKey, stored_endpoint};
use epitome_engine::record::RecordError;
use epitome_store::{
    AnyStore, Append, BeliefRow, Beliefs, CompactionRow, CompactionState, Compactions,
    ConversationId, CountedRow, Outcome, PinRow, Pins, TenantId, TurnRow,
};
use tokio_util::task::TaskTracker;

use crate::index::Index;
use crate::open_store::OpenStore;
use crate::quota::Quota;
pub(crate) use health::Health;
use health::READ;
pub(crate) use late::may_pass;
use late::{Late, Publication};
use lookup::Found;
use work::Crew;
pub(crate) use work::{Closing, CrewFigures, Workshop};
use writer::{Queue, Write};

/// How long a request waits for the store to answer a question.
const READ_DEADLINE: Duration = Duration::from_millis(50);
/// How long a request waits for a compaction to be on disk. Beyond it the request goes out all the same: the
/// built-in summary is a pure function of the span, so no other node will make different bytes.
const COMMIT_DEADLINE: Duration = Duration::from_millis(500);

/// Reads and writes for one tenant.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Option<Arc<AnyStore>>,
    tenant: TenantId,
    /// Who this process is among those that share the store.
    holder: String,
    queue: Arc<Queue>,
    late: Option<Late>,
    health: Arc<Health>,
    quota: Arc<Quota>,
    crew: Crew,
    tasks: TaskTracker,
}

/// How long a compaction that somebody wrote is waited for to be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as a request may wait.
    Request,
    /// Until it is there, or never can be: nobody waits, and it would have to be paid for again.
    Paid,
}

impl Journal {
    /// Starts the writer. It ends when the journal is dropped and its queue is empty.
    pub(crate) fn start(
        open: Option<OpenStore>,
        tenant: TenantId,
        index: Arc<Index>,
        quota: Arc<Quota>,
        node: &Workshop,
        tasks: &TaskTracker,
    ) -> Self {
        let store = open.as_ref().map(|open| Arc::clone(open.store()));
        let health = Arc::new(Health::default());
        let is_shared = store.as_ref().is_some_and(|store| store.is_shared());
        let (queue, writes) = Queue::new(Arc::clone(&health), is_shared);
        let queue = Arc::new(queue);
        let late = store.as_ref().map(|store| {
            let (store, health) = (Arc::clone(store), Arc::clone(&health));
            let index = Arc::clone(&index);
            Late::new(store, tenant.clone(), health, index, &queue)
        });
        if let Some(open) = open {
            tasks.spawn(writer::write_all(
                open,
                tenant.clone(),
                index,
                writes,
                Arc::clone(&health),
            ));
        }
        Self {
            store,
            tenant,
            holder: crate::clock::new_id(),
            queue,
            late,
            health,
            quota,
            crew: Crew::of(node),
            tasks: tasks.clone(),
        }
    }

    /// What the tenant may use.
    pub(crate) fn quota(&self) -> &Quota {
        &self.quota
    }

    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    /// Notes that there is a store which cannot be used as long as this process runs, because its key is not known.
    pub(crate) fn note_missing_key(&self) {
        self.health
            .failed("key", &"nothing is stored until a restart");
    }

    /// Whether the store was removed or replaced under this process.
    pub(crate) fn is_store_gone(&self) -> bool {
        self.store.as_ref().is_some_and(|store| store.is_gone())
    }

    pub(crate) const fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// What the store knows of a chain; nothing when it is slow or broken.
    pub(crate) async fn look_up(&self, chain: &[Digest]) -> Found {
        let Some(store) = &self.store else {
            return Found::default();
        };
        let questions = lookup::look_up(store, &self.tenant, chain);
        match crate::clock::within(READ_DEADLINE, questions).await {
            Ok(Ok(found)) => {
                self.health.worked(READ);
                return found;
            }
            Ok(Err(error)) => self.health.failed(READ, &error),
            Err(_) => self.health.late(READ),
        }
        Found::default()
    }

    /// What is believed of a model by now; nothing when the store is slow or broken, or when nobody else writes to it.
    pub(crate) async fn believed(&self, key: &ModelKey) -> Option<BeliefRow> {
        let store = self.store.as_ref().filter(|store| store.is_shared())?;
        let endpoint = stored_endpoint(&self.tenant, &key.endpoint);
        let model = key.stored_model();
        match crate::clock::within(READ_DEADLINE, store.belief(&endpoint, &model)).await {
            Ok(Ok(row)) => {
                self.health.worked(READ);
                return row;
            }
            Ok(Err(error)) => self.health.failed(READ, &error),
            Err(_) => self.health.late(READ),
        }
        None
    }

    /// Whether somebody took a compaction back; not so when the store is slow or broken.
    pub(crate) async fn is_undone(&self, id: &str) -> bool {
        let Some(store) = &self.store else {
            return false;
        };
        let state = store.compaction_state(&self.tenant, id);
        match crate::clock::within(READ_DEADLINE, state).await {
            Ok(Ok(state)) => {
                self.health.worked(READ);
                return state == Some(CompactionState::Undone);
            }
            Ok(Err(error)) => self.health.failed(READ, &error),
            Err(_) => self.health.late(READ),
        }
        false
    }

    /// The pins that the user dropped in a conversation; `parent` is the one that it branched off from, which the store may
    /// not know yet. `None` when the store is slow or broken.
    pub(crate) async fn dropped_pins(
        &self,
        conversation: &ConversationId,
        parent: Option<ConversationId>,
    ) -> Option<Vec<String>> {
        let Some(store) = &self.store else {
            return Some(Vec::new());
        };
        let questions = async {
            let mut marked = store.marked_pins(&self.tenant, conversation).await?;
            if let Some(parent) = parent {
                let shared = store.marked_pins(&self.tenant, &parent).await?;
                let is_new = |row: &PinRow| marked.iter().all(|own| own.text != row.text);
                let shared: Vec<PinRow> = shared.into_iter().filter(is_new).collect();
                marked.extend(shared);
            }
            Ok::<_, epitome_store::Error>(PinRow::dropped(marked))
        };
        match crate::clock::within(READ_DEADLINE, questions).await {
            Ok(Ok(dropped)) => {
                self.health.worked(READ);
                return Some(dropped);
            }
            Ok(Err(error)) => self.health.failed(READ, &error),
            Err(_) => self.health.late(READ),
        }
        None
    }

    /// What could be put in the form of the store. What could not is a failed write: it is counted and said.
    pub(crate) fn written<T>(&self, made: Result<T, RecordError>) -> Option<T> {
        made.inspect_err(|error| self.health.failed("record", error))
            .ok()
    }

    /// Puts a compaction and its span on disk before it is used. Gives the row that is in force, which may be
    /// another node's; `None` when the store does not answer in time. It is written all the same, neither the deadline nor
    /// a client that hangs up undoes it.
    pub(crate) async fn commit(
        &self,
        span: Append,
        row: CompactionRow,
        patience: Patience,
    ) -> Option<CompactionRow> {
        let late = self.late.clone()?;
        late.begin(&row.id);
        if patience == Patience::Paid {
            return late.commit(span, row).await;
        }
        let write = self.tasks.spawn(late.commit(span, row));
        match crate::clock::within(COMMIT_DEADLINE, write).await {
            Ok(Ok(stored)) => return stored,
            Ok(Err(error)) => self.health.failed("commit", &error),
            Err(_) => self.health.late("commit"),
        }
        None
    }

    /// Marks a compaction as published, so that other nodes use it too; `record` takes the place of the one that it was
    /// prepared with. The client may go on at another node as soon as it has its answer, so that this is waited for, as long as
    /// for a question.
    pub(crate) async fn publish(&self, id: String, record: Option<String>) {
        let Some(late) = self.late.clone() else {
            return;
        };
        let write = self.tasks.spawn(late.publish(id, Publication { record }));
        if crate::clock::within(READ_DEADLINE, write).await.is_err() {
            self.health.late("publish");
        }
    }

    /// Queues entries; says whether there was room.
    #[must_use]
    pub(crate) fn append(&self, append: Append) -> bool {
        self.enqueue(Write::Append(Box::new(append)))
    }

    pub(crate) fn outcome(&self, outcome: Outcome) {
        self.enqueue(Write::Outcome(Box::new(outcome)));
    }

    pub(crate) fn belief(&self, update: BeliefUpdate) {
        self.enqueue(Write::Belief(Box::new(update)));
    }

    /// Queues what a provider counted.
    pub(crate) fn counted(&self, row: CountedRow) {
        self.enqueue(Write::Counted(Box::new(row)));
    }

    /// Queues a turn. Nobody sends it again: what finds no room is not known after a restart.
    pub(crate) fn keep_turn(&self, turn: TurnRow) {
        self.enqueue(Write::Turn(Box::new(turn)));
    }

    fn enqueue(&self, write: Write) -> bool {
        self.store.is_none() || self.queue.push(write)
    }
}
