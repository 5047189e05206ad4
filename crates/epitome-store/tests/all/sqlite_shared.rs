//! Two handles on one file, as two processes have them: neither knows of the other but through the file.

use std::path::Path;

use epitome_store::{Appended, ChangeKind, SearchScope, SqliteStore, Store};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::fixtures::{chain, conversation, nothing, tenant, with_words};
use crate::suite::changes::change;

async fn handles(path: &Path) -> Vec<SqliteStore> {
    let mut handles = Vec::new();
    for _ in 0..4 {
        handles.push(SqliteStore::open(path).await.unwrap());
    }
    handles
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_gets_the_lease() {
    let folder = TempDir::new().unwrap();
    let handles = handles(&folder.path().join("log.db")).await;
    for round in 0..10 {
        let now_ms = round * 100;
        let mut tasks = JoinSet::new();
        for (number, store) in handles.iter().cloned().enumerate() {
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_changes_the_conversation() {
    let folder = TempDir::new().unwrap();
    let handles = handles(&folder.path().join("log.db")).await;
    let first = &handles[0];
    first.append(&tenant("t"), &nothing("c", 1)).await.unwrap();
    for seq in 0..10 {
        let mut tasks = JoinSet::new();
        for (number, store) in handles.iter().cloned().enumerate() {
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
    for store in &handles {
        let changes = store.changes(&tenant("t"), &conversation("c")).await;
        let seqs: Vec<_> = changes.unwrap().iter().map(|one| one.seq).collect();
        assert_eq!(seqs, Vec::from_iter(0..10));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_written_by_one_are_found_by_another() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.db");
    let handles = handles(&path).await;
    let mut tasks = JoinSet::new();
    for store in handles {
        tasks.spawn(async move {
            let append = with_words(chain("c", &["a", "b"], 0), "zebra");
            store.append(&tenant("t"), &append).await.unwrap();
        });
    }
    tasks.join_all().await;
    let reader = SqliteStore::open_read_only(&path).await.unwrap();
    let hits = reader
        .search(&tenant("t"), &SearchScope::Tenant, "zebra", 9)
        .await;
    assert_eq!(hits.unwrap().len(), 2);
}
