//! Several handles on one store, as several processes have them: none knows of the others but through the store.

use std::ops::ControlFlow;

use epitome_store::{Appended, ChangeKind, Committed, SearchScope, SnapshotRow, Store};
use tokio::runtime::Handle;
use tokio::task::{JoinSet, block_in_place};

use crate::fixtures::{
    Handles, chain, compaction, conversation, node, nothing, tenant, with_words,
};
use crate::suite::changes::change;

pub(crate) async fn one_of_many_gets_the_lease<S: Store + Clone>(handles: Handles<S>) {
    for round in 1..=10 {
        let granted = ask_at_once(&handles, 0, 3_600_000).await;
        assert_eq!(granted, [round]);
        let first = &handles.writers[0];
        let (tenant, id) = (tenant("t"), conversation("c"));
        first.release_lease(&tenant, &id, round).await.unwrap();
    }
}

/// For stores that have no clock of their own.
pub(crate) async fn one_of_many_gets_the_lease_that_ended<S: Store + Clone>(handles: Handles<S>) {
    for round in 0..10 {
        let now_ms = round * 100;
        let granted = ask_at_once(&handles, now_ms, now_ms + 100).await;
        // Whoever holds it again after its time gets a new fence too.
        assert_eq!(granted, [round.unsigned_abs() + 1]);
    }
}

/// The fences that were granted.
async fn ask_at_once<S: Store + Clone>(
    handles: &Handles<S>,
    now_ms: i64,
    until_ms: i64,
) -> Vec<u64> {
    let mut tasks = JoinSet::new();
    for (number, store) in handles.writers.iter().cloned().enumerate() {
        tasks.spawn(async move {
            let holder = format!("process {number}");
            let (tenant, id) = (tenant("t"), conversation("c"));
            let asked = store.acquire_lease(&tenant, &id, &holder, now_ms, until_ms);
            asked.await.unwrap()
        });
    }
    tasks.join_all().await.into_iter().flatten().collect()
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

pub(crate) async fn one_of_many_extends_the_conversation<S: Store + Clone>(handles: Handles<S>) {
    let mut after = None;
    for round in 0..10_u32 {
        let mut tasks = JoinSet::new();
        for (number, store) in handles.writers.iter().cloned().enumerate() {
            tasks.spawn(async move {
                let name = format!("{round} by {number}");
                let mut append = chain("c", &[&name], 0);
                append.nodes[0].parent = after;
                append.nodes[0].position = round;
                let appended = store.extend(&tenant("t"), &append, after).await.unwrap();
                (appended, append.nodes[0].digest)
            });
        }
        let appended = tasks.join_all().await;
        let stored: Vec<_> = appended
            .iter()
            .filter(|(appended, _)| *appended == Appended::Stored)
            .collect();
        assert_eq!(stored.len(), 1, "round {round}");
        after = Some(stored[0].1);
    }
    let path = handles.reader.path(&tenant("t"), after.unwrap()).await;
    assert_eq!(path.unwrap().len(), 10);
    let listed = handles.reader.conversations(&tenant("t"), 9).await.unwrap();
    assert_eq!(listed[0].nodes, 10, "what came too late is not there");
}

pub(crate) async fn one_of_many_commits_the_compaction<S: Store + Clone>(handles: Handles<S>) {
    let names: Vec<String> = (0..10).map(|number| format!("m{number}")).collect();
    for round in 0..10 {
        let mut tasks = JoinSet::new();
        for (number, store) in handles.writers.iter().cloned().enumerate() {
            let names = names.clone();
            tasks.spawn(async move {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let row = compaction(&format!("{round} by {number}"), "c", names[round]);
                let span = with_words(chain("c", &names[..=round], 0), "zebra");
                store.commit_compaction(&tenant("t"), &span, &row).await
            });
        }
        let committed: Vec<_> = tasks.join_all().await;
        let committed: Vec<_> = committed.into_iter().map(Result::unwrap).collect();
        let new = committed
            .iter()
            .filter(|one| matches!(one, Committed::New(_)));
        assert_eq!(new.count(), 1, "round {round}");
        let (tenant, nodes) = (tenant("t"), [node(&names[round])]);
        let stored = handles
            .reader
            .compactions_at(&tenant, &nodes)
            .await
            .unwrap();
        for one in committed {
            assert_eq!(one.into_row(), stored[0]);
        }
    }
}

/// Pieces of many conversations that have much in common, in any order: nobody stands in anybody's way.
pub(crate) async fn many_append_the_same<S: Store + Clone>(handles: Handles<S>) {
    let mut tasks = JoinSet::new();
    for (number, store) in handles.writers.iter().cloned().enumerate() {
        tasks.spawn(async move {
            for round in 0..10 {
                let names: Vec<String> = (0..30).map(|name| format!("{round} {name}")).collect();
                let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
                let mut places = ["c", "d", "e"];
                places.rotate_left(number % 3);
                names.truncate(20 + number);
                let whole = with_words(chain("c", &names, 0), "zebra");
                let mut appends: Vec<_> = places.map(|place| nothing(place, 5)).to_vec();
                appends.push(whole);
                store.append_all(&tenant("t"), &appends).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    for round in 0..10 {
        let tip = node(&format!("{round} 22"));
        let history = handles.reader.history(&tenant("t"), tip).await.unwrap();
        assert_eq!(history.len(), 23);
    }
}

/// What is written while it is read is no part of it.
pub(crate) async fn a_snapshot_is_one_moment<S: Store + Clone>(handles: Handles<S>) {
    let t = tenant("t");
    let writer = handles.writers[0].clone();
    writer.tenant_key(&t, [7; 32]).await.unwrap();
    writer
        .append(&t, &chain("c", &["a", "b"], 0))
        .await
        .unwrap();
    let mut tables = Vec::new();
    let mut each = |row: SnapshotRow| {
        if tables.is_empty() {
            let later = chain("c", &["a", "b", "later"], 2);
            let writing = writer.append(&t, &later);
            block_in_place(|| Handle::current().block_on(writing)).unwrap();
        }
        tables.push(row.table);
        ControlFlow::Continue(())
    };
    handles.reader.snapshot(&mut each).await.unwrap();
    let expected = [
        "tenants",
        "conversations",
        "entries",
        "entries",
        "nodes",
        "nodes",
    ];
    assert_eq!(tables, expected);
    let history = handles.reader.history(&t, node("later")).await.unwrap();
    assert_eq!(history.len(), 3);
}

/// Clients that send everything again, each time a little more, do not bring back what somebody deletes meanwhile.
pub(crate) async fn deleted_while_others_append<S: Store + Clone>(handles: Handles<S>) {
    for round in 0..5 {
        let names: Vec<String> = (0..60).map(|name| format!("{round} {name}")).collect();
        let place = format!("c{round}");
        let mut tasks = JoinSet::new();
        for store in handles.writers.iter().skip(1) {
            let (store, names, place) = (store.clone(), names.clone(), place.clone());
            tasks.spawn(async move {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                for length in 2..names.len() {
                    let whole = with_words(chain(&place, &names[..length], 0), "zebra");
                    store.append(&tenant("t"), &whole).await.unwrap();
                }
            });
        }
        let (t, id) = (tenant("t"), conversation(&place));
        let first = &handles.writers[0];
        while first
            .delete_conversation(&t, &id, 9)
            .await
            .unwrap()
            .is_none()
        {
            tokio::task::yield_now().await;
        }
        tasks.join_all().await;
        assert_eq!(first.conversation(&t, &id).await.unwrap(), None);
        let links: Vec<_> = names.iter().map(|name| node(name)).collect();
        assert_eq!(first.find_nodes(&t, &links).await.unwrap(), []);
    }
}
