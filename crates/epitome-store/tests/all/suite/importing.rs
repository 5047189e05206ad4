//! Bringing in what another store has: neither side loses what the other knows nothing of.

use epitome_store::{
    BeliefRow, Beliefs, Entries, Housekeeping, Memories, SqliteStore, Store, SweepBefore, TenantId,
};

use super::housekeeping::{outcome, rows};
use super::memories::memory;
use crate::fixtures::{chain, conversation, entry, node, tenant};

/// Both have `c`, and on the other one it is gone.
async fn fork_and_delete(other: &SqliteStore, t: &TenantId) {
    let mut fork = chain("f", &["a", "b", "x"], 2);
    fork.conversation.parent = Some(conversation("c"));
    other.append(t, &fork).await.unwrap();
    let gone = other.delete_conversation(t, &conversation("c"), 9).await;
    assert_eq!(gone.unwrap().unwrap().rehomed_nodes, 2);
}

pub(crate) async fn a_fork_outlives_a_deletion_that_comes_with_it(store: impl Store) {
    let t = tenant("t");
    let other = SqliteStore::in_memory().await.unwrap();
    other
        .append(&t, &chain("c", &["a", "b", "c"], 0))
        .await
        .unwrap();
    store.restore(&rows(&other).await).await.unwrap();
    fork_and_delete(&other, &t).await;
    let restored = store.restore(&rows(&other).await).await.unwrap();
    assert_eq!(restored.refused, 0, "{restored:?}");
    assert_eq!(rows(&store).await, rows(&other).await);
    let history = store.history(&t, node("x")).await.unwrap();
    assert_eq!(history, ["a", "b", "x"].map(entry));
    assert_eq!(store.find_nodes(&t, &[node("c")]).await.unwrap(), []);
}

pub(crate) async fn a_fork_made_here_outlives_a_deletion(store: impl Store) {
    let t = tenant("t");
    let other = SqliteStore::in_memory().await.unwrap();
    let whole = chain("c", &["a", "b", "c"], 0);
    other.append(&t, &whole).await.unwrap();
    store.restore(&rows(&other).await).await.unwrap();
    // One stands on the last link that is marked there.
    let forks = [("f", &["a", "b", "x"][..]), ("g", &["a", "b", "c", "y"])];
    for (name, names) in forks {
        let mut fork = chain(name, names, names.len() - 1);
        fork.conversation.parent = Some(conversation("c"));
        store.append(&t, &fork).await.unwrap();
    }
    other
        .delete_conversation(&t, &conversation("c"), 9)
        .await
        .unwrap();
    let restored = store.restore(&rows(&other).await).await.unwrap();
    assert_eq!((restored.written, restored.refused), (1, 1), "{restored:?}");
    let found = store.conversation(&t, &conversation("c")).await;
    assert_eq!(found.unwrap(), None);
    // They go on, also with everything sent again.
    for names in [["a", "b", "x", "z"], ["a", "b", "c", "y"]] {
        let name = if names[2] == "x" { "f" } else { "g" };
        store.append(&t, &chain(name, &names, 0)).await.unwrap();
        let history = store.history(&t, node(names[3])).await.unwrap();
        assert_eq!(history, names.map(entry));
    }
}

pub(crate) async fn what_was_deleted_here_stays_deleted(store: impl Store) {
    let t = tenant("t");
    let other = SqliteStore::in_memory().await.unwrap();
    let whole = chain("c", &["a", "b", "c"], 0);
    other.append(&t, &whole).await.unwrap();
    let mut kept = memory("m", "giraffe", 1);
    kept.conversation = Some(conversation("c"));
    other.save_memory(&t, &kept).await.unwrap();
    epitome_store::Outcomes::record_outcome(&other, &t, &outcome(5))
        .await
        .unwrap();
    let exported = rows(&other).await;
    store.restore(&exported).await.unwrap();
    store
        .delete_conversation(&t, &conversation("c"), 9)
        .await
        .unwrap();
    let before = rows(&store).await;
    let restored = store.restore(&exported).await.unwrap();
    // The conversation, its three links, the memory and the note; messages are not known to be of nobody yet.
    assert_eq!((restored.refused, restored.written), (6, 3), "{restored:?}");
    let nothing_else = SweepBefore {
        tenant: None,
        outcomes_ms: i64::MIN,
        turns_ms: i64::MIN,
        deleted_ms: i64::MIN,
    };
    store.sweep(nothing_else).await.unwrap();
    assert_eq!(rows(&store).await, before);
    assert_eq!(store.memories(&t, None, 9).await.unwrap(), []);
}

pub(crate) async fn a_newer_window_leaves_the_counts(store: impl Store) {
    let belief = |window: Option<&str>, counts: Option<&str>, at_ms| BeliefRow {
        endpoint: "e".to_owned(),
        model: "m".to_owned(),
        window: window.map(str::to_owned),
        counts: counts.map(str::to_owned),
        at_ms,
    };
    store
        .save_belief(&belief(Some("1"), Some("counted"), 1))
        .await
        .unwrap();
    let other = SqliteStore::in_memory().await.unwrap();
    other
        .save_belief(&belief(Some("2"), None, 2))
        .await
        .unwrap();
    store.restore(&rows(&other).await).await.unwrap();
    let expected = [belief(Some("2"), Some("counted"), 2)];
    assert_eq!(store.beliefs().await.unwrap(), expected);
}
