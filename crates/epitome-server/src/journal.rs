//! The store as the request path sees it: quick questions with a deadline, writes that trail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use epitome::Digest;
use epitome_engine::Clock;
use epitome_engine::known_models::BeliefUpdate;
use epitome_engine::record::RecordError;
use epitome_engine::runner::{LEASE_MS, Lease, LeaseTerms};
use epitome_store::{
    AnyStore, Append, Committed, CompactionRow, CompactionState, Compactions, ConversationId,
    Entries, NodeRow, Outcome, Outcomes, PinRow, Pins, Store, TenantId,
};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::index::{Index, Written};
use crate::words;

/// How long a request waits for the store to answer a question.
const READ_DEADLINE: Duration = Duration::from_millis(50);
/// How long a request waits for a compaction to be on disk. Beyond it the request goes out all the same: the
/// built-in summary is a pure function of the span, so no other node will make different bytes.
const COMMIT_DEADLINE: Duration = Duration::from_millis(500);
/// Writes that may wait. When they pile up beyond this, new ones are left to the next request, which
/// carries the whole history again.
const QUEUE: usize = 512;
/// How long writes wait for company.
const GATHER: Duration = Duration::from_millis(40);

/// What a question to the store is called in logs.
const READ: &str = "read";

/// Reads and writes for one tenant.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Option<Arc<AnyStore>>,
    tenant: TenantId,
    /// Who this process is among those that share the store.
    holder: String,
    queue: mpsc::Sender<Write>,
    health: Arc<Health>,
    tasks: TaskTracker,
}

/// How the store has been doing.
#[derive(Debug, Default)]
pub(crate) struct Health {
    failures: AtomicU64,
    deadlines: AtomicU64,
    reads_fail: AtomicBool,
    writes_fail: AtomicBool,
}

impl Health {
    /// Reads and writes that failed since the start.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Questions and commits that were not waited for any longer.
    pub(crate) fn deadlines(&self) -> u64 {
        self.deadlines.load(Ordering::Relaxed)
    }

    /// Whether the last read or the last write failed.
    pub(crate) fn is_failing(&self) -> bool {
        self.reads_fail.load(Ordering::Relaxed) || self.writes_fail.load(Ordering::Relaxed)
    }

    fn worked(&self, what: &str) {
        self.flag(what).store(false, Ordering::Relaxed);
    }

    /// A store that can be read may still not be writable, so the two are told apart.
    fn flag(&self, what: &str) -> &AtomicBool {
        if what == READ {
            &self.reads_fail
        } else {
            &self.writes_fail
        }
    }

    fn failed(&self, what: &str, why: &dyn std::fmt::Display) {
        self.flag(what).store(true, Ordering::Relaxed);
        let count = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::warn!(what, %why, count, "store failed; requests go on without it");
    }

    fn late(&self, what: &str) {
        let count = self.deadlines.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::info!(what, count, "store is slow; the request went on without it");
    }
}

#[derive(Debug)]
enum Write {
    Append(Box<Append>),
    Outcome(Box<Outcome>),
    Belief(Box<BeliefUpdate>),
    Publish(String),
}

impl Journal {
    /// Starts the writer. It ends when the journal is dropped and its queue is empty.
    pub(crate) fn start(
        store: Option<Arc<AnyStore>>,
        tenant: TenantId,
        index: Arc<Index>,
        tasks: &TaskTracker,
    ) -> Self {
        let (queue, writes) = mpsc::channel(QUEUE);
        let health = Arc::new(Health::default());
        if let Some(store) = &store {
            tasks.spawn(write_all(
                Arc::clone(store),
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
            health,
            tasks: tasks.clone(),
        }
    }

    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    pub(crate) const fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// The known links and the epochs of a chain; nothing when the store is slow or broken.
    pub(crate) async fn look_up(&self, chain: &[Digest]) -> (Vec<NodeRow>, Vec<CompactionRow>) {
        let Some(store) = &self.store else {
            return Default::default();
        };
        let questions = async {
            let nodes = store.find_nodes(&self.tenant, chain).await?;
            let epochs = if nodes.is_empty() {
                Vec::new()
            } else {
                store.compactions_at(&self.tenant, chain).await?
            };
            Ok::<_, epitome_store::Error>((nodes, epochs))
        };
        match crate::clock::within(READ_DEADLINE, questions).await {
            Ok(Ok(found)) => {
                self.health.worked(READ);
                return found;
            }
            Ok(Err(error)) => self.health.failed(READ, &error),
            Err(_) => self.health.late(READ),
        }
        Default::default()
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

    /// Does the background work of a conversation, unless another process is at it. A store that does not answer is no
    /// reason not to work: whoever is first to store wins.
    pub(crate) async fn alone<T>(
        &self,
        conversation: &ConversationId,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let Some(store) = &self.store else {
            return Some(work.await);
        };
        let clock = Clock::default();
        let terms = LeaseTerms {
            store: store.as_ref(),
            tenant: &self.tenant,
            conversation,
            lease_ms: LEASE_MS,
            clock: &clock,
        };
        let lease = Lease::acquire(terms, &self.holder);
        let lease = match lease.await {
            Ok(Some(lease)) => lease,
            Ok(None) => return None,
            Err(error) => {
                self.health.failed("lease", &error);
                return Some(work.await);
            }
        };
        let done = tokio::select! {
            done = work => Some(done),
            () = lease.keep() => None,
        };
        lease.release().await;
        done
    }

    /// What could be put in the form of the store. What could not is a failed write: it is counted and said.
    pub(crate) fn written<T>(&self, made: Result<T, RecordError>) -> Option<T> {
        made.inspect_err(|error| self.health.failed("record", error))
            .ok()
    }

    /// Puts a compaction and its span on disk before it is used. Gives the row that is in force, which may be
    /// another node's; `None` when the store does not answer in time.
    pub(crate) async fn commit(&self, span: Append, row: CompactionRow) -> Option<CompactionRow> {
        let store = Arc::clone(self.store.as_ref()?);
        let tenant = self.tenant.clone();
        let write = async move { store.commit_compaction(&tenant, &span, &row).await };
        self.wait_for("commit", write)
            .await
            .map(Committed::into_row)
    }

    /// Marks a prepared compaction as published before it is used, so that other nodes use it too.
    pub(crate) async fn publish_now(&self, id: String, record: Option<String>) {
        let Some(store) = self.store.clone() else {
            return;
        };
        let tenant = self.tenant.clone();
        let write = async move { store.publish(&tenant, &id, record.as_deref()).await };
        self.wait_for("publish", write).await;
    }

    /// Waits for a write up to a deadline. It runs on its own, so that neither the deadline nor a client that
    /// hangs up undoes it.
    async fn wait_for<T: Send + 'static>(
        &self,
        what: &'static str,
        write: impl Future<Output = epitome_store::Result<T>> + Send + 'static,
    ) -> Option<T> {
        let write = self.tasks.spawn(write);
        match crate::clock::within(COMMIT_DEADLINE, write).await {
            Ok(Ok(Ok(done))) => {
                self.health.worked(what);
                return Some(done);
            }
            Ok(Ok(Err(error))) => self.health.failed(what, &error),
            Ok(Err(error)) => self.health.failed(what, &error),
            Err(_) => self.health.late(what),
        }
        None
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

    pub(crate) fn publish(&self, id: String) {
        self.enqueue(Write::Publish(id));
    }

    fn enqueue(&self, write: Write) -> bool {
        let queued = self.store.is_none() || self.queue.try_send(write).is_ok();
        if !queued {
            self.health.failed("write", &"queue is full");
        }
        queued
    }
}

/// Writes what has gathered, a batch at a time, until nobody is left to send.
async fn write_all(
    store: Arc<AnyStore>,
    tenant: TenantId,
    index: Arc<Index>,
    mut writes: mpsc::Receiver<Write>,
    health: Arc<Health>,
) {
    let mut batch = Vec::new();
    let mut is_behind = true;
    loop {
        while is_behind && writes.is_empty() && !writes.is_closed() {
            is_behind = words::catch_up(&store, &tenant)
                .await
                .unwrap_or_else(|error| {
                    health.failed("index", &error);
                    false
                });
        }
        if writes.recv_many(&mut batch, QUEUE).await == 0 {
            break;
        }
        // A commit costs much more than a row, so writes wait a moment for company.
        crate::clock::sleep(GATHER).await;
        while batch.len() < QUEUE
            && let Ok(write) = writes.try_recv()
        {
            batch.push(write);
        }
        let mut appends = Vec::new();
        let mut others = Vec::new();
        for write in batch.drain(..) {
            match write {
                Write::Append(append) => appends.push(*append),
                other => others.push(other),
            }
        }
        append_all(&store, &tenant, &index, &appends, &health).await;
        let mut stored = Vec::new();
        for append in appends {
            stored.extend(append.entries);
        }
        for write in others {
            let result = match write {
                Write::Append(append) => store.append(&tenant, &append).await,
                Write::Outcome(outcome) => store.record_outcome(&tenant, &outcome).await,
                Write::Belief(update) => update.save(&*store).await,
                Write::Publish(id) => store.publish(&tenant, &id, None).await,
            };
            match result {
                Ok(()) => health.worked("write"),
                Err(error) => health.failed("write", &error),
            }
        }
        if let Err(error) = words::index(&store, &tenant, stored).await {
            health.failed("index", &error);
        }
    }
    store.close().await;
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
    if store.append_all(tenant, appends).await.is_ok() {
        health.worked("append");
        for append in appends {
            mark(index, append, Written::Stored);
        }
        return;
    }
    // One of them is bad; the others should not suffer for it.
    for append in appends {
        match store.append(tenant, append).await {
            Ok(()) => mark(index, append, Written::Stored),
            Err(error) => {
                mark(index, append, Written::No);
                health.failed("append", &error);
            }
        }
    }
}

fn mark(index: &Index, append: &Append, written: Written) {
    index.mark(append.nodes.iter().map(|node| node.digest), written);
}
