//! One hook, run apart: however it ends, whoever waits for it goes on.

use std::any::Any;
use std::time::Duration;

use tokio::task::JoinSet;
use tracing::Instrument;

use super::failure::{FailureKind, HookError};
use crate::clock;

/// Runs `work` as a task of its own, so that a panic stays in it and a closure that blocks its thread does not block
/// its neighbours. Whoever stops waiting ends it.
pub(super) async fn run<T: Send + 'static>(
    limit: Duration,
    work: impl Future<Output = Result<T, HookError>> + Send + 'static,
) -> Result<T, FailureKind> {
    // A set of one: dropping it ends the task.
    let mut task = JoinSet::new();
    task.spawn(work.in_current_span());
    match clock::within(limit, task.join_next()).await {
        Ok(Some(Ok(Ok(answer)))) => Ok(answer),
        Ok(Some(Ok(Err(error)))) => Err(FailureKind::Failed(error.to_string())),
        Ok(Some(Err(ended))) => Err(match ended.try_into_panic() {
            Ok(panic) => FailureKind::Panicked(words(panic.as_ref())),
            Err(ended) => FailureKind::Failed(ended.to_string()),
        }),
        Ok(None) => Err(FailureKind::Failed("it never ran".to_owned())),
        Err(_) => Err(FailureKind::TimedOut(limit)),
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a word").to_owned()
}
