//! The one place of this crate that reads the time, waits for it, and makes names of it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) use tokio::time::{Instant, sleep, timeout as within, timeout_at as until};
use tokio::time::{Interval, MissedTickBehavior};

/// What time it is. A host, or a test, may bring its own.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Clock {
    /// A clock that asks `now` for the milliseconds since the epoch.
    pub fn new(now: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        (self.0)()
    }
}

impl Default for Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that all others are handed"
    )]
    fn default() -> Self {
        Self::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            since.map_or(0, |since| {
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            })
        })
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// The moment that comes so much later than now.
pub(crate) fn after(span: Duration) -> Instant {
    Instant::now() + span
}

/// Ticks, the first at once. One that comes late moves those behind it.
pub(crate) fn every(period: Duration) -> Interval {
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// A name that nothing else has. It begins with the time, so that names sort by age.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// The same as a number.
pub(crate) fn new_number() -> u128 {
    uuid::Uuid::now_v7().as_u128()
}
