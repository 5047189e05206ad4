use std::sync::Arc;

use epitome_store::{Committed, CompactionState, Error, Store};
use tokio::task::JoinSet;

use crate::fixtures::{chain, compaction, conversation, node, nothing, tenant};

pub(crate) async fn first_writer_wins(store: impl Store) {
    let store = Arc::new(store);
    let mut tasks = JoinSet::new();
    for number in 0..16 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let row = compaction(&format!("k{number}"), "c", "b");
            let span = chain("c", &["a", "b"], 0);
            store.commit_compaction(&tenant("t"), &span, &row).await
        });
    }
    let committed: Vec<_> = tasks
        .join_all()
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let new = committed
        .iter()
        .filter(|one| matches!(one, Committed::New(_)));
    assert_eq!(new.count(), 1);
    let stored = store
        .compactions_at(&tenant("t"), &[node("b")])
        .await
        .unwrap();
    assert_eq!(stored.len(), 1);
    for one in committed {
        assert_eq!(one.into_row(), stored[0]);
    }
}

pub(crate) async fn span_commits_with_compaction(store: impl Store) {
    let tenant = tenant("t");
    let span = chain("c", &["a", "b"], 0);
    let dangling = compaction("k", "c", "not in the span");
    let error = store
        .commit_compaction(&tenant, &span, &dangling)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Dangling(_)), "{error:?}");
    assert_eq!(store.history(&tenant, node("b")).await.unwrap(), []);

    let row = compaction("k", "c", "b");
    let committed = store.commit_compaction(&tenant, &span, &row).await.unwrap();
    assert_eq!(committed, Committed::New(row.clone()));
    assert_eq!(
        store.history(&tenant, node("b")).await.unwrap(),
        span.entries
    );
    let of = store
        .compactions_of(&tenant, &conversation("c"))
        .await
        .unwrap();
    assert_eq!(of, [row]);
}

pub(crate) async fn commit_is_idempotent(store: impl Store) {
    let tenant = tenant("t");
    let span = chain("c", &["a", "b"], 0);
    let row = compaction("k", "c", "b");
    store.commit_compaction(&tenant, &span, &row).await.unwrap();
    let again = store.commit_compaction(&tenant, &span, &row).await.unwrap();
    assert_eq!(again, Committed::Existing(row));
}

pub(crate) async fn undone_rows_are_not_returned(store: impl Store) {
    let tenant = tenant("t");
    let span = chain("c", &["a", "b"], 0);
    let first = compaction("first", "c", "b");
    store
        .commit_compaction(&tenant, &span, &first)
        .await
        .unwrap();
    store.undo(&tenant, "first").await.unwrap();
    assert_eq!(
        store.compactions_at(&tenant, &[node("b")]).await.unwrap(),
        []
    );

    let mut second = compaction("second", "c", "b");
    second.created_ms += 1;
    let none = nothing("c", 2);
    let committed = store
        .commit_compaction(&tenant, &none, &second)
        .await
        .unwrap();
    assert_eq!(committed, Committed::New(second.clone()));
    let at = store
        .compactions_at(&tenant, &[node("a"), node("b")])
        .await
        .unwrap();
    assert_eq!(at, [second]);
    let of = store
        .compactions_of(&tenant, &conversation("c"))
        .await
        .unwrap();
    let states: Vec<_> = of.iter().map(|row| (row.id.as_str(), row.state)).collect();
    let expected = [
        ("first", CompactionState::Undone),
        ("second", CompactionState::Prepared),
    ];
    assert_eq!(states, expected);
}

pub(crate) async fn states_only_move_forward(store: impl Store) {
    let tenant = tenant("t");
    let span = chain("c", &["a", "b"], 0);
    let row = compaction("k", "c", "b");
    store.commit_compaction(&tenant, &span, &row).await.unwrap();
    for _ in 0..2 {
        store.publish(&tenant, "k", None).await.unwrap();
        let at = store.compactions_at(&tenant, &[node("b")]).await.unwrap();
        assert_eq!(at[0].state, CompactionState::Published);
    }
    for _ in 0..2 {
        store.undo(&tenant, "k").await.unwrap();
    }
    let error = store.publish(&tenant, "k", None).await.unwrap_err();
    assert!(matches!(error, Error::Undone { .. }), "{error:?}");
    let error = store.publish(&tenant, "nobody", None).await.unwrap_err();
    assert!(
        matches!(error, Error::UnknownCompaction { .. }),
        "{error:?}"
    );
    // A refused change lets go of the write lock.
    store.append(&tenant, &nothing("c", 3)).await.unwrap();
}

pub(crate) async fn taken_id(store: impl Store) {
    let tenant = tenant("t");
    let span = chain("c", &["a", "b"], 0);
    let row = compaction("k", "c", "a");
    store.commit_compaction(&tenant, &span, &row).await.unwrap();
    let row = compaction("k", "c", "b");
    let error = store
        .commit_compaction(&tenant, &span, &row)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::IdTaken { .. }), "{error:?}");
}

pub(crate) async fn model_classes_are_apart(store: impl Store) {
    let tenant = tenant("t");
    let span = chain("c", &["a", "b"], 0);
    let large = compaction("one", "c", "b");
    let mut small = compaction("two", "c", "b");
    small.model_class = "small".to_owned();
    for row in [&large, &small] {
        let committed = store.commit_compaction(&tenant, &span, row).await.unwrap();
        assert_eq!(committed, Committed::New(row.clone()));
    }
    let at = store.compactions_at(&tenant, &[node("b")]).await.unwrap();
    assert_eq!(at, [large, small]);
}

pub(crate) async fn a_line_of_forks_nearest_first(store: impl Store) {
    let tenant = tenant("t");
    let root = chain("root", &["a", "b", "c"], 0);
    let mut fork = chain("fork", &["a", "b", "x", "y"], 2);
    fork.conversation.parent = Some(conversation("root"));
    for (span, id, place, at, created_ms) in [
        (&root, "early", "root", "a", 1),
        (&root, "late", "root", "b", 5),
        (&root, "taken back", "root", "c", 9),
        (&fork, "of the fork", "fork", "x", 3),
    ] {
        let mut row = compaction(id, place, at);
        row.created_ms = created_ms;
        store.commit_compaction(&tenant, span, &row).await.unwrap();
    }
    store.undo(&tenant, "taken back").await.unwrap();
    let along = async |place: &str, limit| -> Vec<String> {
        let place = conversation(place);
        let rows = store.compactions_along(&tenant, &place, limit).await;
        rows.unwrap().into_iter().map(|row| row.id).collect()
    };
    assert_eq!(along("fork", 9).await, ["of the fork", "late", "early"]);
    assert_eq!(along("fork", 2).await, ["of the fork", "late"]);
    assert_eq!(along("root", 9).await, ["late", "early"]);
    assert_eq!(along("nobody", 9).await, Vec::<String>::new());
}
