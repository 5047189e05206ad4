use epitome_store::{Error, MemoryRow, Saved, Store};

use crate::fixtures::{conversation, digest, tenant};

pub(crate) fn memory(id: &str, text: &str, created_ms: i64) -> MemoryRow {
    MemoryRow {
        id: id.to_owned(),
        key: digest(text),
        kind: "preference".to_owned(),
        text: text.to_owned(),
        conversation: Some(conversation("c")),
        entries: vec![3, 1, u32::MAX],
        created_ms,
    }
}

pub(crate) async fn memories_are_kept_once(store: impl Store) {
    let tenant = tenant("t");
    let tabs = memory("m1", "indent with tabs", 5);
    let port = memory("m2", "the port is 8443", 9);
    for (row, expected) in [
        (&tabs, Saved::New),
        (&tabs, Saved::Known),
        (&memory("m9", "indent with tabs", 99), Saved::Known),
        (&port, Saved::New),
    ] {
        assert_eq!(store.save_memory(&tenant, row).await.unwrap(), expected);
    }
    let other = memory("m1", "something else", 1);
    let error = store.save_memory(&tenant, &other).await.unwrap_err();
    assert!(matches!(error, Error::IdTaken { .. }), "{error:?}");
    let newest = store.memories(&tenant, None, 9).await.unwrap();
    assert_eq!(newest, [port.clone(), tabs.clone()]);
    let newest = store.memories(&tenant, None, 1).await.unwrap();
    assert_eq!(newest, [port]);
}

pub(crate) async fn memories_by_words(store: impl Store) {
    let tenant = tenant("t");
    let tabs = memory("m1", "indent with tabs", 5);
    let port = memory("m2", "the port is 8443", 9);
    for row in [&tabs, &port] {
        store.save_memory(&tenant, row).await.unwrap();
    }
    let find = async |query: &str| store.memories(&tenant, Some(query), 9).await.unwrap();
    assert_eq!(find("Tabs indent").await, std::slice::from_ref(&tabs));
    assert_eq!(find("port zebra").await, std::slice::from_ref(&port));
    assert_eq!(find("\"").await, []);
    assert!(store.forget_memory(&tenant, "m1").await.unwrap());
    assert!(!store.forget_memory(&tenant, "m1").await.unwrap());
    assert_eq!(find("tabs").await, []);
    assert_eq!(store.memories(&tenant, None, 9).await.unwrap(), [port]);
    // A forgotten one may be learned again.
    let saved = store.save_memory(&tenant, &tabs).await.unwrap();
    assert_eq!(saved, Saved::New);
    assert_eq!(find("tabs").await, [tabs]);
}
