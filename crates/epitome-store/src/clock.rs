//! The one place of this crate that waits for time to pass. Nothing here reads what time it is.

pub(crate) use tokio::time::{sleep, timeout};
