//! Compactions on their way to the store. One that is in use is not dropped because the store is busy or full: it is
//! tried again until it is there, and counted as long as it is not.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use epitome::Digest;
use epitome_store::{
    AnyStore, Append, Committed, CompactionRow, Compactions, Error, Result, TenantId,
};

use super::health::Health;
use super::names;
use super::writer::{Queue, unstore};
use crate::clock;
use crate::index::Index;

/// Waits between tries: they begin with the first and double up to the last.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Spans that may wait for the store in all. Beyond it a compaction is tried once: a store that is gone for good must
/// not take all memory.
const LATE_BYTES: usize = 64 << 20;

/// What writes compactions.
#[derive(Clone, Debug)]
pub(super) struct Late {
    store: Arc<AnyStore>,
    tenant: TenantId,
    health: Arc<Health>,
    /// Those under way by id, and how each is to be published once it is there.
    pending: Arc<Mutex<HashMap<String, Option<Publication>>>>,
    shared: Arc<Shared>,
    index: Arc<Index>,
    /// The store stays open as long as somebody may still write to the queue.
    _open: Arc<Queue>,
}

/// That a compaction was used: the record that it is published with, where that changed.
#[derive(Debug)]
pub(super) struct Publication {
    pub(super) record: Option<String>,
}

impl Late {
    pub(super) fn new(
        store: Arc<AnyStore>,
        tenant: TenantId,
        health: Arc<Health>,
        index: Arc<Index>,
        queue: &Arc<Queue>,
    ) -> Self {
        Self {
            index,
            _open: Arc::clone(queue),
            store,
            tenant,
            health,
            pending: Arc::default(),
            shared: Arc::default(),
        }
    }

    /// Notes that a compaction is about to be written.
    pub(super) fn begin(&self, id: &str) {
        self.pending().insert(id.to_owned(), None);
    }

    /// Writes a compaction that was begun; `None` when it cannot be written at all.
    pub(super) async fn commit(
        self,
        mut span: Append,
        mut row: CompactionRow,
    ) -> Option<CompactionRow> {
        let spans = std::slice::from_mut(&mut span);
        if let Err(error) = names::settle(&self.store, &self.tenant, &self.index, spans).await {
            self.health.failed("commit", &error);
        }
        row.conversation = self.index.name_of(row.conversation);
        let may_wait = self.shared.hold(&mut span) <= LATE_BYTES;
        let write = || {
            let committed = self.store.commit_compaction(&self.tenant, &span, &row);
            let (index, span) = (&self.index, &span);
            async move {
                committed.await.inspect_err(|error| {
                    if let Error::Dangling(_) = error {
                        unstore(index, span);
                    }
                })
            }
        };
        let committed = self.insist("commit", may_wait, write).await;
        self.shared.release(&span);
        let wish = self.pending().remove(&row.id).flatten();
        let stored = committed.map(Committed::into_row)?;
        if let Some(publication) = wish {
            // Another node may have been first: then its row is the one in force, with its own record.
            let is_ours = stored.id == row.id;
            let record = publication.record.filter(|_| is_ours);
            self.publish_stored(&stored.id, record).await;
        }
        Some(stored)
    }

    /// Publishes a compaction, as soon as it is stored.
    pub(super) async fn publish(self, id: String, publication: Publication) {
        if let Some(wish) = self.pending().get_mut(&id) {
            *wish = Some(publication);
            return;
        }
        self.publish_stored(&id, publication.record).await;
    }

    async fn publish_stored(&self, id: &str, record: Option<String>) {
        let write = || self.store.publish(&self.tenant, id, record.as_deref());
        self.insist("publish", true, write).await;
    }

    /// Writes until it is done, where trying again may help.
    async fn insist<T, W>(
        &self,
        what: &'static str,
        may_wait: bool,
        mut write: impl FnMut() -> W,
    ) -> Option<T>
    where
        W: Future<Output = Result<T>>,
    {
        let _counted = Waiting::new(self.health.commits());
        let mut wait = FIRST_WAIT;
        loop {
            match write().await {
                Ok(done) => {
                    self.health.worked(what);
                    return Some(done);
                }
                // Somebody deleted the conversation on purpose. The client goes on with it, the store does not. What is to be
                // published is not there then either, or was kept out by a quota.
                Err(Error::Deleted | Error::UnknownCompaction { .. }) => return None,
                Err(error) => {
                    self.health.failed(what, &error);
                    if !may_wait || !may_pass(&error) {
                        return None;
                    }
                }
            }
            clock::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<Publication>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the same write may succeed later.
pub(crate) const fn may_pass(error: &Error) -> bool {
    matches!(
        error,
        Error::Busy(_)
            | Error::Full(_)
            | Error::CannotOpen(_)
            | Error::Unreachable(_)
            | Error::NoConnection(_)
            | Error::Login(_)
            // A standby that is about to take over says so too.
            | Error::ReadOnly(_)
            | Error::Io { .. }
            | Error::Database(_)
    )
}

/// The messages of spans that wait. While nothing can be written every compaction of a conversation brings all messages
/// since its beginning: each is held once.
#[derive(Debug, Default)]
struct Shared(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    /// Messages by their keys, with the number of spans that have them.
    messages: HashMap<Digest, (Bytes, usize)>,
    bytes: usize,
}

impl Shared {
    /// Has a span share what waits already. Says how many bytes wait in all.
    fn hold(&self, span: &mut Append) -> usize {
        let mut held = self.held();
        for entry in &mut span.entries {
            let mut new_bytes = 0;
            let (raw, spans) = held.messages.entry(entry.key).or_insert_with(|| {
                new_bytes = entry.raw.len();
                (entry.raw.clone(), 0)
            });
            *spans += 1;
            if *raw == entry.raw {
                entry.raw = raw.clone();
            }
            held.bytes += new_bytes;
        }
        held.bytes
    }

    fn release(&self, span: &Append) {
        let mut held = self.held();
        for entry in &span.entries {
            if let Some((_, spans)) = held.messages.get_mut(&entry.key) {
                *spans -= 1;
                if *spans == 0
                    && let Some((raw, _)) = held.messages.remove(&entry.key)
                {
                    held.bytes -= raw.len();
                }
            }
        }
        if held.messages.is_empty() {
            // A burst leaves nothing behind.
            held.messages = HashMap::new();
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a write as late as long as it lives.
struct Waiting<'c>(&'c AtomicUsize);

impl<'c> Waiting<'c> {
    fn new(counter: &'c AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
