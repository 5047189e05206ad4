//! The one place of the command that reads the time, and makes names of it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, for entries that are written into session files and stores.
#[expect(
    clippy::disallowed_methods,
    reason = "agents date the entries of their files; nothing else depends on it"
)]
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// A name that nothing else has. It begins with the time, so that names sort by age.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// Waits for something, but not for ever.
pub(crate) use tokio::time::timeout as within;

/// Waits.
pub(crate) async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Says how long a command took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// One that runs from now on.
    #[expect(
        clippy::disallowed_methods,
        reason = "commands report how long they took"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// How long it has been running.
    pub(crate) fn taken(self) -> Duration {
        self.0.elapsed()
    }
}
