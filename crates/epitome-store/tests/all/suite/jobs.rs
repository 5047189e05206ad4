//! Jobs. Leases that are over at once and those that last for an hour are the same by every clock.

use epitome_store::{Claimed, ConversationId, JobClaim, JobState, Store};
use tokio::task::JoinSet;

use crate::fixtures::{Handles, chain, conversation, tenant};

const HOUR_MS: i64 = 3_600_000;

/// What time it is for stores that go by the callers' clock; the others go by their own.
fn now_ms() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

async fn claim(
    store: &impl Store,
    id: &ConversationId,
    holder: &str,
    lasts_ms: i64,
    most_running: u32,
) -> Claimed {
    let now_ms = now_ms();
    let claim = JobClaim {
        conversation: id,
        reason: "near_line",
        holder,
        now_ms,
        until_ms: now_ms + lasts_ms,
        most_running,
    };
    store.claim_job(&tenant("t"), &claim).await.unwrap()
}

const fn granted(fence: u64, tries: u32) -> Claimed {
    Claimed::Granted { fence, tries }
}

pub(crate) async fn a_job_is_done_by_one(store: impl Store) {
    let (t, c) = (tenant("t"), conversation("c"));
    let states = async || {
        let rows = store.jobs(&t, now_ms(), 9).await.unwrap();
        let states = rows
            .into_iter()
            .map(|row| (row.state, row.holder, row.tries));
        states.collect::<Vec<_>>()
    };
    let held = |by: &str| Some(by.to_owned());
    assert_eq!(claim(&store, &c, "one", HOUR_MS, 1).await, granted(1, 1));
    assert_eq!(states().await, [(JobState::Running, held("one"), 1)]);
    assert_eq!(claim(&store, &c, "two", HOUR_MS, 1).await, Claimed::Taken);
    let other = conversation("d");
    assert_eq!(
        claim(&store, &other, "two", HOUR_MS, 1).await,
        Claimed::Full
    );
    assert_eq!(states().await[1], (JobState::Waiting, None, 0));
    // Given back: it waits again, and the other one may run.
    store.release_lease(&t, &c, 1).await.unwrap();
    assert_eq!(states().await[0], (JobState::Waiting, None, 1));
    assert_eq!(
        claim(&store, &other, "two", HOUR_MS, 1).await,
        granted(1, 1)
    );
    assert_eq!(claim(&store, &c, "one", HOUR_MS, 1).await, Claimed::Full);
    assert_eq!(claim(&store, &c, "one", HOUR_MS, 2).await, granted(2, 2));
    assert!(store.finish_job(&t, &other, 1).await.unwrap());
    assert!(
        !store.finish_job(&t, &other, 1).await.unwrap(),
        "done already"
    );
    assert!(!store.finish_job(&t, &c, 1).await.unwrap(), "an old fence");
    assert_eq!(states().await, [(JobState::Running, held("one"), 2)]);
    assert!(store.finish_job(&t, &c, 2).await.unwrap());
    assert_eq!(states().await, []);
    assert_eq!(store.jobs(&tenant("u"), now_ms(), 9).await.unwrap(), []);
}

pub(crate) async fn a_job_of_the_dead_is_taken_over(store: impl Store) {
    let (t, c) = (tenant("t"), conversation("c"));
    assert_eq!(claim(&store, &c, "dead", 0, 1).await, granted(1, 1));
    let rows = store.jobs(&t, now_ms(), 9).await.unwrap();
    assert_eq!(rows[0].state, JobState::Abandoned);
    assert_eq!(rows[0].reason, "near_line");
    assert_eq!(claim(&store, &c, "next", HOUR_MS, 1).await, granted(2, 2));
    assert!(
        !store.finish_job(&t, &c, 1).await.unwrap(),
        "it came back too late"
    );
    assert!(store.finish_job(&t, &c, 2).await.unwrap());
    assert_eq!(store.jobs(&t, now_ms(), 9).await.unwrap(), []);
}

pub(crate) async fn deleted_with_its_conversation(store: impl Store) {
    let (t, c) = (tenant("t"), conversation("c"));
    store.append(&t, &chain("c", &["a"], 0)).await.unwrap();
    assert_eq!(claim(&store, &c, "one", 0, 1).await, granted(1, 1));
    store.delete_conversation(&t, &c, 5).await.unwrap();
    assert_eq!(store.jobs(&t, now_ms(), 9).await.unwrap(), []);
}

/// Whatever the nodes do at once, never more run than may.
pub(crate) async fn never_more_run_than_may<S: Store + Clone>(handles: Handles<S>) {
    const MOST: u32 = 3;
    let t = tenant("t");
    let mut done = 0;
    while done < 12 {
        let mut tasks = JoinSet::new();
        for (number, store) in handles.writers.iter().cycle().take(12).cloned().enumerate() {
            tasks.spawn(async move {
                let id = conversation(&format!("c{number}"));
                let claimed = claim(&store, &id, &format!("node {number}"), HOUR_MS, MOST).await;
                (id, claimed)
            });
        }
        let mut running = Vec::new();
        for (id, claimed) in tasks.join_all().await {
            match claimed {
                Claimed::Granted { fence, .. } => running.push((id, fence)),
                Claimed::Full => {}
                Claimed::Taken => panic!("{id} belongs to nobody else"),
            }
        }
        assert_eq!(running.len(), MOST as usize);
        for (id, fence) in running {
            let known = handles.reader.jobs(&t, now_ms(), 99).await.unwrap();
            assert_eq!(known.len(), 12);
            let finished = handles.writers[0].finish_job(&t, &id, fence);
            assert!(finished.await.unwrap());
            done += 1;
            // It is wanted again at once, as by a conversation that goes on.
            let again = claim(&handles.writers[1], &id, "again", 0, 0).await;
            assert_eq!(again, Claimed::Full);
        }
    }
}
