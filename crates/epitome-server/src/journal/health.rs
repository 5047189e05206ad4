//! How the store has been doing.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// What a question to the store is called in logs.
pub(super) const READ: &str = "read";

/// How the store has been doing.
#[derive(Debug, Default)]
pub(crate) struct Health {
    failures: AtomicU64,
    deadlines: AtomicU64,
    dropped: AtomicU64,
    late: AtomicUsize,
    queued_bytes: AtomicUsize,
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

    /// Messages and notes that were not written since the start because too much waited already.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Compactions that are in use and not on disk yet.
    pub(crate) fn late_commits(&self) -> usize {
        self.late.load(Ordering::Relaxed)
    }

    /// Bytes that wait to be written.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.queued_bytes.load(Ordering::Relaxed)
    }

    /// Whether the last read or the last write failed.
    pub(crate) fn is_failing(&self) -> bool {
        self.reads_fail.load(Ordering::Relaxed) || self.writes_fail.load(Ordering::Relaxed)
    }

    /// Whether the last write failed.
    pub(crate) fn writes_fail(&self) -> bool {
        self.writes_fail.load(Ordering::Relaxed)
    }

    pub(super) fn worked(&self, what: &str) {
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

    pub(super) fn failed(&self, what: &str, why: &dyn std::fmt::Display) {
        self.flag(what).store(true, Ordering::Relaxed);
        let count = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::warn!(what, %why, count, "store failed; requests go on without it");
    }

    pub(super) fn late(&self, what: &str) {
        let count = self.deadlines.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::info!(what, count, "store is slow; the request went on without it");
    }

    /// Something was left unwritten because too much waits: the next request of its conversation brings it again.
    pub(super) fn full(&self) {
        let count = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::warn!(
                count,
                "too much waits for the store; messages are written when they come again"
            );
        }
    }

    /// Takes room for bytes that are to wait, unless that would be more than `limit` in all. What comes alone always finds
    /// room: one long conversation would be kept by nobody otherwise.
    pub(super) fn reserve(&self, bytes: usize, limit: usize) -> bool {
        let take = |waiting: usize| {
            let sum = waiting.checked_add(bytes)?;
            (waiting == 0 || sum <= limit).then_some(sum)
        };
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        self.queued_bytes.fetch_update(set, fetch, take).is_ok()
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn commits(&self) -> &AtomicUsize {
        &self.late
    }
}
