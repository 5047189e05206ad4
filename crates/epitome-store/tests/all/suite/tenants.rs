use std::sync::Arc;

use bytes::Bytes;
use epitome_store::{Appended, ChangeKind, Committed, Error, Outcome, Saved, SearchScope, Store};
use tokio::task::JoinSet;

use super::changes::change;
use super::memories::memory;
use crate::fixtures::{chain, compaction, conversation, node, tenant, with_words};

pub(crate) async fn tenants_never_meet(store: impl Store) {
    let (ours, theirs) = (tenant("ours"), tenant("theirs"));
    let span = chain("c", &["a", "b"], 0);
    let row = compaction("k", "c", "b");
    store.commit_compaction(&ours, &span, &row).await.unwrap();
    let outcome = Outcome {
        conversation: None,
        at_ms: 1,
        action: "pass".to_owned(),
        reason: "small".to_owned(),
        tokens_before: 1,
        tokens_after: 1,
        model: "m".to_owned(),
    };
    store.record_outcome(&ours, &outcome).await.unwrap();

    assert_eq!(store.find_nodes(&theirs, &[node("b")]).await.unwrap(), []);
    assert_eq!(store.history(&theirs, node("b")).await.unwrap(), []);
    assert_eq!(
        store.compactions_at(&theirs, &[node("b")]).await.unwrap(),
        []
    );
    let of = store
        .compactions_of(&theirs, &conversation("c"))
        .await
        .unwrap();
    assert_eq!(of, []);
    assert_eq!(store.conversations(&theirs, 10).await.unwrap(), []);
    assert_eq!(store.outcomes(&theirs, 10).await.unwrap(), []);
    let error = store.undo(&theirs, "k").await.unwrap_err();
    assert!(
        matches!(error, Error::UnknownCompaction { .. }),
        "{error:?}"
    );

    // A foreign parent is no parent, and a foreign entry is no entry.
    let error = store
        .append(&theirs, &chain("c", &["b", "d"], 1))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Dangling(_)), "{error:?}");
    let mut borrowed = chain("c", &["a"], 0);
    borrowed.entries.clear();
    let error = store.append(&theirs, &borrowed).await.unwrap_err();
    assert!(matches!(error, Error::Dangling(_)), "{error:?}");

    // The same names and keys with other content are no conflict.
    let mut other = chain("c", &["a", "b"], 0);
    other.entries[0].raw = Bytes::from_static(b"theirs");
    let committed = store
        .commit_compaction(&theirs, &other, &row)
        .await
        .unwrap();
    assert!(matches!(committed, Committed::New(_)));
    assert_eq!(
        store.history(&theirs, node("b")).await.unwrap(),
        other.entries
    );
    assert_eq!(store.history(&ours, node("b")).await.unwrap(), span.entries);
}

pub(crate) async fn nothing_is_recalled_across_tenants(store: impl Store) {
    let (ours, theirs) = (tenant("ours"), tenant("theirs"));
    let id = conversation("c");
    let mut first = change(0, ChangeKind::Compacted, Some("k"));
    first.span = Some(with_words(chain("c", &["a", "b"], 0), "zebra"));
    first.compaction = Some(compaction("k", "c", "b"));
    store.append_change(&ours, &first).await.unwrap();
    store
        .save_memory(&ours, &memory("m", "zebra", 1))
        .await
        .unwrap();
    let granted = store.acquire_lease(&ours, &id, "one", 0, 10).await;
    assert_eq!(granted.unwrap(), Some(1));

    assert_eq!(store.tip(&theirs, &id).await.unwrap(), None);
    assert_eq!(store.conversation(&theirs, &id).await.unwrap(), None);
    assert_eq!(store.compaction(&theirs, "k").await.unwrap(), None);
    let key = chain("c", &["a"], 0).entries[0].key;
    assert_eq!(store.entry(&theirs, key).await.unwrap(), None);
    assert_eq!(store.changes(&theirs, &id).await.unwrap(), []);
    assert_eq!(store.memories(&theirs, None, 9).await.unwrap(), []);
    assert_eq!(store.memories(&theirs, Some("zebra"), 9).await.unwrap(), []);
    assert!(!store.forget_memory(&theirs, "m").await.unwrap());
    let scopes = [
        SearchScope::Branch(node("b")),
        SearchScope::Conversation(id.clone()),
        SearchScope::Tenant,
    ];
    for scope in &scopes {
        let hits = store.search(&theirs, scope, "zebra", 9).await.unwrap();
        assert_eq!(hits, []);
        let hits = store.search(&ours, scope, "zebra", 9).await.unwrap();
        assert_eq!(hits.len(), 2);
    }
    // Their lease, memory and changes of the same names are their own.
    let granted = store.acquire_lease(&theirs, &id, "two", 0, 10).await;
    assert_eq!(granted.unwrap(), Some(1));
    assert!(!store.renew_lease(&theirs, &id, 2, 0, 20).await.unwrap());
    let saved = store.save_memory(&theirs, &memory("m", "zebra", 1)).await;
    assert_eq!(saved.unwrap(), Saved::New);
    let appended = store.append_change(&theirs, &first).await.unwrap();
    assert_eq!(appended, Appended::Stored);
}

pub(crate) async fn key_race(store: impl Store) {
    let store = Arc::new(store);
    let mut tasks = JoinSet::new();
    for number in 0..16 {
        let store = Arc::clone(&store);
        tasks.spawn(async move { store.tenant_key(&tenant("t"), [number; 32]).await });
    }
    let keys: Vec<_> = tasks
        .join_all()
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let later = store.tenant_key(&tenant("t"), [99; 32]).await.unwrap();
    assert!(keys.iter().all(|key| *key == later));
    assert!(later[0] < 16);
    let other = store.tenant_key(&tenant("u"), [99; 32]).await.unwrap();
    assert_eq!(other, [99; 32]);
}
