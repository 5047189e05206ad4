//! Several handles on one store, as several processes have them: none knows of the others but through the store.

use epitome_store::{Appended, ChangeKind, SearchScope, Store};
use tokio::task::JoinSet;

use crate::fixtures::{Handles, chain, conversation, nothing, tenant, with_words};
use crate::suite::changes::change;

pub(crate) async fn one_of_many_gets_the_lease<S: Store + Clone>(handles: Handles<S>) {
    for round in 0..10 {
        let now_ms = round * 100;
        let mut tasks = JoinSet::new();
        for (number, store) in handles.writers.iter().cloned().enumerate() {
            tasks.spawn(async move {
                let holder = format!("process {number}");
                let id = conversation("c");
                let (tenant, until_ms) = (tenant("t"), now_ms + 100);
                let asked = store.acquire_lease(&tenant, &id, &holder, now_ms, until_ms);
                asked.await.unwrap()
            });
        }
        let granted: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
        // Whoever holds it again after its time gets a new fence too.
        assert_eq!(granted, [round.unsigned_abs() + 1]);
    }
}

pub(crate) async fn one_of_many_changes_the_conversation<S: Store + Clone>(handles: Handles<S>) {
    let first = &handles.writers[0];
    first.append(&tenant("t"), &nothing("c", 1)).await.unwrap();
    for seq in 0..10 {
        let mut tasks = JoinSet::new();
        for (number, store) in handles.writers.iter().cloned().enumerate() {
            tasks.spawn(async move {
                let mut new = change(seq, ChangeKind::Forked, None);
                new.change.body = number.to_string();
                store.append_change(&tenant("t"), &new).await.unwrap()
            });
        }
        let appended = tasks.join_all().await;
        let stored = appended.iter().filter(|one| **one == Appended::Stored);
        assert_eq!(stored.count(), 1);
    }
    for store in handles.writers.iter().chain([&handles.reader]) {
        let changes = store.changes(&tenant("t"), &conversation("c")).await;
        let seqs: Vec<_> = changes.unwrap().iter().map(|one| one.seq).collect();
        assert_eq!(seqs, Vec::from_iter(0..10));
    }
}

pub(crate) async fn words_written_by_one_are_found_by_another<S: Store + Clone>(
    handles: Handles<S>,
) {
    let mut tasks = JoinSet::new();
    for store in handles.writers {
        tasks.spawn(async move {
            let append = with_words(chain("c", &["a", "b"], 0), "zebra");
            store.append(&tenant("t"), &append).await.unwrap();
        });
    }
    tasks.join_all().await;
    let hits = handles
        .reader
        .search(&tenant("t"), &SearchScope::Tenant, "zebra", 9)
        .await;
    assert_eq!(hits.unwrap().len(), 2);
}
