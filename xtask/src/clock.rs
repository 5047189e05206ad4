//! The one place of the task runner that reads the clock and waits.

use std::time::{Duration, SystemTime};

#[expect(
    clippy::disallowed_methods,
    reason = "the task runner reads the clock here and nowhere else"
)]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

pub(crate) fn wait(time: Duration) {
    std::thread::sleep(time);
}
