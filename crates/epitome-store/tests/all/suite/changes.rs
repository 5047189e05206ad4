use epitome_store::{
    Appended, ChangeKind, ChangeRow, CompactionState, Error, NewChange, SearchScope, Store,
};

use crate::fixtures::{chain, compaction, conversation, entry, node, nothing, tenant, with_words};

pub(crate) fn change(seq: u32, kind: ChangeKind, id: Option<&str>) -> NewChange {
    NewChange::from(ChangeRow {
        conversation: conversation("c"),
        seq,
        kind,
        compaction: id.map(str::to_owned),
        body: format!("{{\"n\": {seq}}}"),
        at_ms: i64::from(seq),
    })
}

pub(crate) async fn single_rows(store: impl Store) {
    let tenant = tenant("t");
    assert_eq!(store.tip(&tenant, &conversation("c")).await.unwrap(), None);
    assert_eq!(store.entry(&tenant, entry("a").key).await.unwrap(), None);
    let found = store.conversation(&tenant, &conversation("c")).await;
    assert_eq!(found.unwrap(), None);
    assert_eq!(store.compaction(&tenant, "k").await.unwrap(), None);

    let span = chain("c", &["a", "b", "c"], 0);
    let row = compaction("k", "c", "b");
    store.commit_compaction(&tenant, &span, &row).await.unwrap();
    let fork = chain("fork", &["a", "b", "x"], 2);
    store.append(&tenant, &fork).await.unwrap();
    let tip = store.tip(&tenant, &conversation("c")).await.unwrap();
    assert_eq!(tip, Some(span.nodes[2].clone()));
    let tip = store.tip(&tenant, &conversation("fork")).await.unwrap();
    assert_eq!(tip, Some(fork.nodes[0].clone()));
    let path = store.path(&tenant, node("x")).await.unwrap();
    assert_eq!(path[..2], span.nodes[..2]);
    assert_eq!(path[2..], fork.nodes);
    assert_eq!(store.path(&tenant, node("nobody")).await.unwrap(), []);
    let found = store.entry(&tenant, entry("b").key).await.unwrap();
    assert_eq!(found, Some(entry("b")));
    let found = store.conversation(&tenant, &conversation("c")).await;
    let listed = store.conversations(&tenant, 10).await.unwrap();
    assert!(listed.contains(&found.unwrap().unwrap()));
    assert_eq!(store.compaction(&tenant, "k").await.unwrap(), Some(row));
}

pub(crate) async fn changes_come_in_order(store: impl Store) {
    let tenant = tenant("t");
    let mut first = change(0, ChangeKind::Compacted, Some("k"));
    first.span = Some(chain("c", &["a", "b"], 0));
    first.compaction = Some(compaction("k", "c", "b"));
    let appended = store.append_change(&tenant, &first).await.unwrap();
    assert_eq!(appended, Appended::Stored);
    let history = store.history(&tenant, node("b")).await.unwrap();
    assert_eq!(history.len(), 2);

    for seq in [0, 2, 7] {
        let wrong = change(seq, ChangeKind::Forked, None);
        let appended = store.append_change(&tenant, &wrong).await.unwrap();
        assert_eq!(appended, Appended::Superseded);
    }
    let undone = change(1, ChangeKind::Undone, Some("k"));
    let appended = store.append_change(&tenant, &undone).await.unwrap();
    assert_eq!(appended, Appended::Stored);
    let row = store.compaction(&tenant, "k").await.unwrap().unwrap();
    assert_eq!(row.state, CompactionState::Undone);
    let changes = store.changes(&tenant, &conversation("c")).await.unwrap();
    assert_eq!(changes, [first.change, undone.change]);
}

pub(crate) async fn superseded_change_leaves_nothing(store: impl Store) {
    let tenant = tenant("t");
    let known = chain("c", &["a", "b"], 0);
    let row = compaction("k", "c", "b");
    store
        .commit_compaction(&tenant, &known, &row)
        .await
        .unwrap();
    let mut late = change(1, ChangeKind::Compacted, Some("late"));
    late.span = Some(with_words(chain("c", &["a", "b", "c"], 2), "zebra"));
    late.compaction = Some(compaction("late", "c", "c"));
    let appended = store.append_change(&tenant, &late).await.unwrap();
    assert_eq!(appended, Appended::Superseded);
    // Right in number, but its epoch has a compaction.
    let mut second = change(0, ChangeKind::Compacted, Some("late"));
    second.span = late.span.clone();
    second.compaction = Some(compaction("late", "c", "b"));
    let appended = store.append_change(&tenant, &second).await.unwrap();
    assert_eq!(appended, Appended::Superseded);

    assert_eq!(store.find_nodes(&tenant, &[node("c")]).await.unwrap(), []);
    assert_eq!(store.compaction(&tenant, "late").await.unwrap(), None);
    let changes = store.changes(&tenant, &conversation("c")).await.unwrap();
    assert_eq!(changes, []);
    let hits = store
        .search(&tenant, &SearchScope::Tenant, "zebra", 9)
        .await;
    assert_eq!(hits.unwrap(), []);
}

pub(crate) async fn dangling_changes_are_refused(store: impl Store) {
    let tenant = tenant("t");
    let forked = change(0, ChangeKind::Forked, None);
    let error = store.append_change(&tenant, &forked).await.unwrap_err();
    assert!(matches!(error, Error::Dangling(_)), "{error:?}");
    store.append(&tenant, &nothing("c", 1)).await.unwrap();
    let undone = change(0, ChangeKind::Undone, Some("nobody"));
    let error = store.append_change(&tenant, &undone).await.unwrap_err();
    let unknown = matches!(error, Error::UnknownCompaction { .. });
    assert!(unknown, "{error:?}");
    let compacted = change(0, ChangeKind::Compacted, Some("nobody"));
    let error = store.append_change(&tenant, &compacted).await.unwrap_err();
    assert!(matches!(error, Error::Dangling(_)), "{error:?}");
}
