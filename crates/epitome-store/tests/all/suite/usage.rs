use bytes::Bytes;
use epitome_store::{Store, TenantUsage, TurnRow};

use crate::fixtures::{chain, compaction, conversation, entry, tenant};

pub(crate) async fn usage_is_of_one_tenant(store: impl Store) {
    let (ours, theirs) = (tenant("ours"), tenant("theirs"));
    assert_eq!(store.usage(&ours).await.unwrap(), TenantUsage::default());
    let row = compaction("k", "c", "b");
    let span = chain("c", &["a", "b"], 0);
    store.commit_compaction(&ours, &span, &row).await.unwrap();
    // What it shares with another conversation is kept once.
    let other = chain("d", &["a", "x"], 0);
    store.append(&ours, &other).await.unwrap();
    let turn = TurnRow {
        id: "t".to_owned(),
        previous: None,
        items: Bytes::from_static(b"[\"\xc3\xbc\"]"),
        compaction: None,
        at_ms: 1,
    };
    store.keep_turns(&ours, &[turn]).await.unwrap();
    let messages = |names: &[&str]| -> usize {
        let names = names.iter();
        names.map(|name| entry(name).raw.len()).sum()
    };
    let bytes = messages(&["a", "b", "x"]) + 6 + row.summary.len() + row.record.len();
    let found = store.usage(&ours).await.unwrap();
    assert_eq!(found.conversations, 2);
    assert_eq!(found.bytes, bytes as u64);
    assert_eq!(store.usage(&theirs).await.unwrap(), TenantUsage::default());
    // What is deleted makes room.
    let c = conversation("c");
    let deleted = store.delete_conversation(&ours, &c, 9).await.unwrap();
    assert!(deleted.is_some());
    let left = store.usage(&ours).await.unwrap();
    assert_eq!(left.conversations, 1);
    assert_eq!(left.bytes, (messages(&["a", "x"]) + 6) as u64);
}

pub(crate) async fn spend_adds_up_by_day(store: impl Store) {
    let (ours, theirs) = (tenant("ours"), tenant("theirs"));
    let since = async |day: i64| store.summary_spend(&ours, day).await.unwrap();
    assert_eq!(since(0).await, 0);
    for (day, nanodollars) in [(19_000, 5), (19_001, 7), (19_001, 1), (19_002, 0)] {
        let added = store.add_summary_spend(&ours, day, nanodollars);
        added.await.unwrap();
    }
    assert_eq!(since(19_000).await, 13);
    assert_eq!(since(19_001).await, 8);
    assert_eq!(since(19_002).await, 0);
    assert_eq!(store.summary_spend(&theirs, 0).await.unwrap(), 0);
}
