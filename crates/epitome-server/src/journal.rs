//! The store as the request path sees it: quick questions with a deadline, writes that trail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use epitome::Digest;
use epitome_store::{
    AnyStore, Append, Committed, CompactionRow, NodeRow, Outcome, Store, TenantId,
};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::index::Index;
use crate::window::ModelKey;

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

/// Reads and writes for one tenant.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Option<Arc<AnyStore>>,
    tenant: TenantId,
    queue: mpsc::Sender<Write>,
    failures: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Write {
    Append(Box<Append>),
    Outcome(Box<Outcome>),
    Window(ModelKey, u64, i64),
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
        let failures = Arc::new(AtomicU64::new(0));
        if let Some(store) = &store {
            tasks.spawn(write_all(
                Arc::clone(store),
                tenant.clone(),
                index,
                writes,
                Arc::clone(&failures),
            ));
        }
        Self {
            store,
            tenant,
            queue,
            failures,
        }
    }

    /// How many reads and writes failed since the start.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
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
        match tokio::time::timeout(READ_DEADLINE, questions).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                self.failed("read", &error);
                Default::default()
            }
            Err(_) => {
                self.failed("read", &"deadline");
                Default::default()
            }
        }
    }

    /// Puts a compaction and its span on disk before it is used. Gives the row that is in force, which may be
    /// another node's; `None` when the store does not answer in time.
    pub(crate) async fn commit(&self, span: Append, row: CompactionRow) -> Option<CompactionRow> {
        let store = Arc::clone(self.store.as_ref()?);
        let tenant = self.tenant.clone();
        // Spawned, so that a deadline or a client that hangs up does not undo the write.
        let write = tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Handle::current();
            runtime.block_on(async move { store.commit_compaction(&tenant, &span, &row).await })
        });
        match tokio::time::timeout(COMMIT_DEADLINE, write).await {
            Ok(Ok(Ok(Committed::New(row) | Committed::Existing(row)))) => Some(row),
            Ok(Ok(Err(error))) => {
                self.failed("commit", &error);
                None
            }
            Ok(Err(error)) => {
                self.failed("commit", &error);
                None
            }
            Err(_) => {
                self.failed("commit", &"deadline");
                None
            }
        }
    }

    /// Marks a prepared compaction as published before it is used, so that other nodes use it too.
    pub(crate) async fn publish_now(&self, id: String) {
        let Some(store) = self.store.clone() else {
            return;
        };
        let tenant = self.tenant.clone();
        let write = tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Handle::current();
            runtime.block_on(async move { store.publish(&tenant, &id).await })
        });
        match tokio::time::timeout(COMMIT_DEADLINE, write).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => self.failed("publish", &error),
            Ok(Err(error)) => self.failed("publish", &error),
            Err(_) => self.failed("publish", &"deadline"),
        }
    }

    pub(crate) fn append(&self, append: Append) {
        self.enqueue(Write::Append(Box::new(append)));
    }

    pub(crate) fn outcome(&self, outcome: Outcome) {
        self.enqueue(Write::Outcome(Box::new(outcome)));
    }

    pub(crate) fn window(&self, key: ModelKey, tokens: u64, now_ms: i64) {
        self.enqueue(Write::Window(key, tokens, now_ms));
    }

    pub(crate) fn publish(&self, id: String) {
        self.enqueue(Write::Publish(id));
    }

    fn enqueue(&self, write: Write) {
        if self.store.is_some() && self.queue.try_send(write).is_err() {
            self.failed("write", &"queue is full");
        }
    }

    fn failed(&self, what: &str, why: &dyn std::fmt::Display) {
        let count = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::warn!(what, %why, count, "store failed; requests go on without it");
    }
}

/// Writes what has gathered, a batch at a time, until nobody is left to send.
async fn write_all(
    store: Arc<AnyStore>,
    tenant: TenantId,
    index: Arc<Index>,
    mut writes: mpsc::Receiver<Write>,
    failures: Arc<AtomicU64>,
) {
    let failed = |error: epitome_store::Error| {
        let count = failures.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::warn!(%error, count, "store failed; requests go on without it");
    };
    let mut batch = Vec::new();
    while writes.recv_many(&mut batch, QUEUE).await > 0 {
        // A commit costs much more than a row, so writes wait a moment for company.
        tokio::time::sleep(GATHER).await;
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
        append_all(&store, &tenant, &index, &appends, &failed).await;
        for write in others {
            let result = match write {
                Write::Append(append) => store.append(&tenant, &append).await,
                Write::Outcome(outcome) => store.record_outcome(&tenant, &outcome).await,
                Write::Window(key, tokens, at_ms) => {
                    store
                        .learn_window(&key.endpoint, &key.model, tokens, at_ms)
                        .await
                }
                Write::Publish(id) => store.publish(&tenant, &id).await,
            };
            result.unwrap_or_else(failed);
        }
    }
    store.close().await;
}

async fn append_all(
    store: &AnyStore,
    tenant: &TenantId,
    index: &Index,
    appends: &[Append],
    failed: &impl Fn(epitome_store::Error),
) {
    if appends.is_empty() {
        return;
    }
    if store.append_all(tenant, appends).await.is_ok() {
        appends.iter().for_each(|append| mark_stored(index, append));
        return;
    }
    // One of them is bad; the others should not suffer for it.
    for append in appends {
        match store.append(tenant, append).await {
            Ok(()) => mark_stored(index, append),
            Err(error) => failed(error),
        }
    }
}

fn mark_stored(index: &Index, append: &Append) {
    let links: Vec<Digest> = append.nodes.iter().map(|node| node.digest).collect();
    index.mark_stored(&links);
}
