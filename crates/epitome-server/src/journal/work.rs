//! Background work of this node, as a part of all: a few at a time here and everywhere, claimed from the store, held by leases
//! and handed back when the node ends. No transaction is open while a model writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use epitome::Reason;
use epitome_engine::Clock;
use epitome_engine::runner::{LEASE_MS, Lease, LeaseTerms};
use epitome_store::{AnyStore, Claimed, ConversationId, JobClaim, JobRow, Jobs, Result};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Journal;
use crate::clock;

/// So many summaries are written at once by this node.
const AT_ONCE: usize = 4;
/// So many are written at once by all nodes on a store.
const IN_ALL: u32 = 32;
/// So many wait for their turn on this node. Each holds a request in memory; what finds no room is wanted again by the next one.
const MOST_WAITING: usize = 64;
/// So many histories are read at once by this node for longer than a request waits.
const LONG_READS: usize = 2;
/// How often it is asked whether there is room among all nodes, and how many times.
const AGAIN: Duration = Duration::from_secs(1);
const TIMES: u32 = 60;

/// What those who do background work on this node share, whichever tenant it is for.
#[derive(Clone, Debug)]
pub(crate) struct Workshop {
    room: Arc<Semaphore>,
    /// Who waits for room.
    waiting: Arc<AtomicUsize>,
    long_reads: Arc<Semaphore>,
    closing: Closing,
}

impl Default for Workshop {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(AT_ONCE)),
            waiting: Arc::default(),
            long_reads: Arc::new(Semaphore::new(LONG_READS)),
            closing: Closing::default(),
        }
    }
}

impl Workshop {
    /// Ends background work.
    pub(crate) fn closing(&self) -> Closing {
        self.closing.clone()
    }
}

/// Who does background work for a tenant on this node.
#[derive(Debug)]
pub(super) struct Crew {
    shop: Workshop,
    waiting: AtomicUsize,
    running: AtomicUsize,
    done: AtomicU64,
    taken_over: AtomicU64,
    handed_back: AtomicU64,
    left_out: AtomicU64,
}

/// Ends the background work of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closing {
    /// Nothing is begun any more.
    begin: CancellationToken,
    /// What runs is handed back.
    run: CancellationToken,
}

impl Closing {
    /// Nothing is begun any more; what runs goes on.
    pub(crate) fn begin_nothing(&self) {
        self.begin.cancel();
    }

    /// What still runs is called off and handed back, so that another node may do it at once.
    pub(crate) fn hand_back(&self) {
        self.run.cancel();
    }
}

/// What the crew is at, and what it did since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CrewFigures {
    pub(crate) waiting: usize,
    pub(crate) running: usize,
    pub(crate) done: u64,
    /// Begun before by somebody who died or gave it back.
    pub(crate) taken_over: u64,
    pub(crate) handed_back: u64,
    /// There was no room: the next request of the conversation asks again.
    pub(crate) left_out: u64,
}

impl Crew {
    pub(super) fn of(shop: &Workshop) -> Self {
        Self {
            shop: shop.clone(),
            waiting: AtomicUsize::default(),
            running: AtomicUsize::default(),
            done: AtomicU64::default(),
            taken_over: AtomicU64::default(),
            handed_back: AtomicU64::default(),
            left_out: AtomicU64::default(),
        }
    }

    /// Room for reading longer than a request waits.
    pub(super) const fn long_reads(&self) -> &Arc<Semaphore> {
        &self.shop.long_reads
    }
}

impl std::ops::AddAssign for CrewFigures {
    fn add_assign(&mut self, other: Self) {
        self.waiting += other.waiting;
        self.running += other.running;
        self.done += other.done;
        self.taken_over += other.taken_over;
        self.handed_back += other.handed_back;
        self.left_out += other.left_out;
    }
}

/// Counts as long as it lives.
struct Counting<'c>(&'c AtomicUsize);

impl<'c> Counting<'c> {
    fn new(counter: &'c AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a claim led to.
enum Turn<'j> {
    /// The work is ours, under this lease.
    Ours(Lease<'j, AnyStore>),
    /// Somebody else is at it, or there is no room.
    NotOurs,
    /// The store does not answer, which is no reason not to work: whoever is first to store wins.
    Unknown,
}

impl Journal {
    /// What this node does in the background.
    pub(crate) fn crew(&self) -> CrewFigures {
        let crew = &self.crew;
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CrewFigures {
            waiting: crew.waiting.load(Ordering::Relaxed),
            running: crew.running.load(Ordering::Relaxed),
            done: number(&crew.done),
            taken_over: number(&crew.taken_over),
            handed_back: number(&crew.handed_back),
            left_out: number(&crew.left_out),
        }
    }

    /// The jobs of all nodes, the longest wanted first.
    ///
    /// # Errors
    /// What the store says.
    pub(crate) async fn jobs(&self, limit: u32) -> Result<Vec<JobRow>> {
        match &self.store {
            Some(store) => store.jobs(&self.tenant, clock::now_ms(), limit).await,
            None => Ok(Vec::new()),
        }
    }

    /// Does the background work of a conversation when there is room for it, unless another node is at it. Where `work` may not
    /// end because this node does, it is handed back.
    pub(crate) async fn alone<T>(
        &self,
        conversation: &ConversationId,
        reason: Reason,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let crew = &self.crew;
        let waiting = [&crew.waiting, &*crew.shop.waiting].map(Counting::new);
        if crew.shop.waiting.load(Ordering::Relaxed) > MOST_WAITING {
            crew.left_out.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let _room = tokio::select! {
            () = crew.shop.closing.begin.cancelled() => return None,
            room = crew.shop.room.acquire() => room.ok()?,
        };
        let lease_clock = Clock::default();
        let turn = tokio::select! {
            () = crew.shop.closing.begin.cancelled() => return None,
            turn = self.turn(conversation, reason, &lease_clock) => turn,
        };
        drop(waiting);
        let _running = Counting::new(&crew.running);
        let lease = match turn {
            Turn::Ours(lease) => lease,
            Turn::NotOurs => return None,
            Turn::Unknown => {
                return tokio::select! {
                    done = work => Some(done),
                    () = crew.shop.closing.run.cancelled() => None,
                };
            }
        };
        let done = tokio::select! {
            done = work => Some(done),
            () = lease.keep() => None,
            () = crew.shop.closing.run.cancelled() => None,
        };
        if done.is_none() {
            // It waits for whoever asks next.
            crew.handed_back.fetch_add(1, Ordering::Relaxed);
            lease.release().await;
            return None;
        }
        crew.done.fetch_add(1, Ordering::Relaxed);
        if let Some(store) = &self.store {
            let finished = store.finish_job(&self.tenant, conversation, lease.fence());
            if let Err(error) = finished.await {
                // The lease ends by itself, and the job is dropped or done once more.
                self.health.failed("job", &error);
            }
        }
        done
    }

    async fn turn<'j>(
        &'j self,
        conversation: &'j ConversationId,
        reason: Reason,
        lease_clock: &'j Clock,
    ) -> Turn<'j> {
        let Some(store) = &self.store else {
            return Turn::Unknown;
        };
        for _ in 0..TIMES {
            let now_ms = lease_clock.now_ms();
            let claim = JobClaim {
                conversation,
                reason: reason.as_str(),
                holder: &self.holder,
                now_ms,
                until_ms: now_ms.saturating_add(LEASE_MS),
                most_running: IN_ALL,
            };
            match store.claim_job(&self.tenant, &claim).await {
                Ok(Claimed::Granted { fence, tries }) => {
                    if tries > 1 {
                        self.crew.taken_over.fetch_add(1, Ordering::Relaxed);
                        tracing::info!(%conversation, tries, "took over background work that another node did not finish");
                    }
                    let terms = LeaseTerms {
                        store: store.as_ref(),
                        tenant: &self.tenant,
                        conversation,
                        lease_ms: LEASE_MS,
                        clock: lease_clock,
                    };
                    return Turn::Ours(Lease::held(terms, fence));
                }
                Ok(Claimed::Taken) => return Turn::NotOurs,
                Ok(Claimed::Full) => clock::sleep(AGAIN).await,
                Err(error) => {
                    self.health.failed("job", &error);
                    return Turn::Unknown;
                }
            }
        }
        self.crew.left_out.fetch_add(1, Ordering::Relaxed);
        Turn::NotOurs
    }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
