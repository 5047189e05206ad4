//! Histories that providers keep, read from the store. A request does not wait long for one, but it is read to the end all the
//! same, a few at a time: the next request finds it kept.

use std::sync::Arc;
use std::time::Duration;

use epitome_store::{TurnRow, Turns as _};
use tokio::sync::Semaphore;

use super::health::READ;
use super::{Journal, READ_DEADLINE};
use crate::clock;

/// How long a history is read that no request waits for any more.
const LONG_READ_DEADLINE: Duration = Duration::from_secs(30);

impl Journal {
    /// What `keep` makes of the turns that lead to an answer, the first one first; nothing when the store is slow or broken.
    pub(crate) async fn turns_to<T: Send + 'static>(
        &self,
        id: &str,
        keep: impl FnOnce(&[TurnRow]) -> Option<T> + Send + 'static,
    ) -> Option<T> {
        let store = Arc::clone(self.store.as_ref()?);
        let (tenant, id) = (self.tenant.clone(), id.to_owned());
        let health = Arc::clone(&self.health);
        let long_reads = Arc::clone(self.crew.long_reads());
        let reading = self.tasks.spawn(async move {
            let turns = store.turns_to(&tenant, &id);
            match patiently(turns, &long_reads).await {
                Some(Ok(turns)) => {
                    health.worked(READ);
                    return keep(&turns);
                }
                Some(Err(error)) => health.failed(READ, &error),
                None => health.late(READ),
            }
            None
        });
        self.soon(reading).await?.ok().flatten()
    }

    /// What the store answers, if it does while a request waits.
    pub(crate) async fn soon<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        let answered = clock::within(READ_DEADLINE, answer).await;
        if answered.is_err() {
            self.health.late(READ);
        }
        answered.ok()
    }
}

/// What is read in no time, or else among the few that may take longer; nothing where there is no room among those.
async fn patiently<T>(reading: impl Future<Output = T>, long_reads: &Semaphore) -> Option<T> {
    let mut reading = std::pin::pin!(reading);
    if let Ok(read) = clock::within(READ_DEADLINE, &mut reading).await {
        return Some(read);
    }
    let _room = long_reads.try_acquire().ok()?;
    clock::within(LONG_READ_DEADLINE, reading).await.ok()
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
