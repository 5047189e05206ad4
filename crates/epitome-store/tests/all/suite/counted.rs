//! What providers counted.

use epitome_store::{CountedRow, Store};

use crate::fixtures::{chain, conversation, node, tenant};

fn row(link: &str, real_tokens: u64, at_ms: i64) -> CountedRow {
    CountedRow {
        node: node(link),
        conversation: conversation("c"),
        kind: u64::MAX - 5,
        compaction: Some("k\0".to_owned()),
        real_tokens,
        estimated_tokens: 7,
        at_ms,
    }
}

pub(crate) async fn counts_are_known_to_all(store: impl Store) {
    let t = tenant("t");
    let rows = [row("b", 20, 2), row("a", 10, 1)];
    store.keep_counted(&t, &rows).await.unwrap();
    store
        .keep_counted(&t, &[row("a", 11, 3), row("b", 1, 1)])
        .await
        .unwrap();
    store.keep_counted(&t, &[]).await.unwrap();
    let links = [node("a"), node("b"), node("c"), node("a")];
    let mut found = store.counted_at(&t, &links).await.unwrap();
    found.sort_by_key(|row| row.at_ms);
    assert_eq!(found, [row("b", 20, 2), row("a", 11, 3)]);
    assert_eq!(store.counted_at(&t, &[]).await.unwrap(), []);
    assert_eq!(store.counted_at(&tenant("u"), &links).await.unwrap(), []);
    // What is a day older than the newest one is not asked for any more.
    let late = row("d", 30, 86_400_003);
    store
        .keep_counted(&t, std::slice::from_ref(&late))
        .await
        .unwrap();
    let links = [node("a"), node("b"), node("d")];
    let mut found = store.counted_at(&t, &links).await.unwrap();
    found.sort_by_key(|row| row.at_ms);
    assert_eq!(found, [row("a", 11, 3), late]);
    store.append(&t, &chain("c", &["a"], 0)).await.unwrap();
    store
        .delete_conversation(&t, &conversation("c"), 5)
        .await
        .unwrap();
    assert_eq!(store.counted_at(&t, &links).await.unwrap(), []);
}
