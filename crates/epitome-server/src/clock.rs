//! The one place that reads the clock, waits for it, and makes names of it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) use hyper_util::rt::TokioTimer as Timer;
pub(crate) use tokio::time::{sleep, timeout as within};

/// Milliseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "this module is where time enters; everything else takes it as an argument"
)]
pub(crate) fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
}

/// A name that nothing else has. It begins with the time, so that names sort by age.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// The same as a number.
pub(crate) fn new_number() -> u128 {
    uuid::Uuid::now_v7().as_u128()
}

/// What `work` gives, and how long it took.
#[expect(
    clippy::disallowed_methods,
    reason = "this module is where time enters; everything else takes it as an argument"
)]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let done = work();
    (done, started.elapsed())
}

/// Measures how long something takes that is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

#[expect(
    clippy::disallowed_methods,
    reason = "this module is where time enters; everything else takes it as an argument"
)]
impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn taken(self) -> Duration {
        self.0.elapsed()
    }
}
