//! The one place of the task runner that reads the clock.

use std::time::SystemTime;

#[expect(
    clippy::disallowed_methods,
    reason = "the task runner reads the clock here and nowhere else"
)]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}
