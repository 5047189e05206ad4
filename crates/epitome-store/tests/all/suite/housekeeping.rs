//! Looking after a store.

use std::ops::ControlFlow;

use epitome_store::{
    BeliefRow, ChangeKind, Changes, Compactions, Entries, Error, Housekeeping, Memories, Oldest,
    Outcome, PinMark, PinRow, Search, SearchScope, SnapshotLine, SnapshotRow, SqliteStore, Store,
    SweepBefore, Tenants, TurnRow,
};

use super::changes::change;
use super::memories::memory;
use crate::fixtures::{chain, compaction, conversation, entry, node, tenant, with_words};

const NOTHING: SweepBefore<'static> = SweepBefore {
    tenant: None,
    outcomes_ms: 0,
    turns_ms: 0,
    deleted_ms: 0,
};

pub(super) fn outcome(at_ms: i64) -> Outcome {
    Outcome {
        conversation: Some(conversation("c")),
        at_ms,
        action: "pass".to_owned(),
        reason: "small".to_owned(),
        tokens_before: 1,
        tokens_after: 1,
        model: "m\u{0}".to_owned(),
    }
}

fn turn(id: &str, at_ms: i64) -> TurnRow {
    TurnRow {
        id: id.to_owned(),
        previous: None,
        items: bytes::Bytes::from_static(b"[]"),
        compaction: None,
        at_ms,
    }
}

/// Something of everything that a store keeps.
async fn fill(store: &impl Store) {
    let t = tenant("t");
    store.tenant_key(&t, [7; 32]).await.unwrap();
    let mut first = change(0, ChangeKind::Compacted, Some("k"));
    let mut span = with_words(chain("c", &["a", "b", "c"], 0), "zebra");
    span.conversation.label = Some("a label".to_owned());
    first.span = Some(span);
    first.compaction = Some(compaction("k", "c", "b"));
    store.append_change(&t, &first).await.unwrap();
    let mut fork = chain("fork", &["a", "b", "x"], 2);
    fork.conversation.parent = Some(conversation("c"));
    store.append(&t, &fork).await.unwrap();
    store
        .append(&tenant("u"), &chain("c", &["a"], 0))
        .await
        .unwrap();
    let pin = PinRow {
        conversation: conversation("c"),
        text: "Always.".to_owned(),
        mark: PinMark::Dropped,
        at_ms: 3,
    };
    store.mark_pin(&t, &pin).await.unwrap();
    store
        .save_memory(&t, &memory("m", "giraffe", 1))
        .await
        .unwrap();
    let belief = BeliefRow {
        endpoint: "e".to_owned(),
        model: "m".to_owned(),
        window: Some("{}".to_owned()),
        counts: None,
        at_ms: 4,
    };
    store.save_belief(&belief).await.unwrap();
    store.learn_window("e", "m", 9, 4).await.unwrap();
    store.record_outcome(&t, &outcome(5)).await.unwrap();
    store.keep_turns(&t, &[turn("r", 5)]).await.unwrap();
    store.add_summary_spend(&t, 1, 5).await.unwrap();
    store
        .append(&t, &chain("gone", &["g", "h"], 0))
        .await
        .unwrap();
    store
        .delete_conversation(&t, &conversation("gone"), 6)
        .await
        .unwrap();
}

pub(super) async fn rows(store: &impl Store) -> Vec<SnapshotRow> {
    let mut rows = Vec::new();
    let mut each = |row| {
        rows.push(row);
        ControlFlow::Continue(())
    };
    store.snapshot(&mut each).await.unwrap();
    rows
}

pub(crate) async fn statistics_count(store: impl Store) {
    let empty = store.statistics().await.unwrap();
    assert!(empty.schema > 0 && empty.disk_bytes > 0, "{empty:?}");
    assert_eq!(
        (empty.conversations, empty.entry_bytes, empty.oldest_ms),
        (0, 0, None)
    );
    fill(&store).await;
    let found = store.statistics().await.unwrap();
    assert_eq!((found.tenants, found.conversations, found.nodes), (1, 3, 5));
    let bytes = ["a", "b", "c", "x", "a"].map(|name| entry(name).raw.len() as u64);
    assert_eq!((found.entries, found.entry_bytes), (5, bytes.iter().sum()));
    assert_eq!((found.compactions, found.memories, found.turns), (1, 1, 1));
    assert_eq!((found.outcomes, found.deleted_nodes), (1, 1));
    assert_eq!((found.oldest_ms, found.newest_ms), (Some(1), Some(1)));
}

pub(crate) async fn sweeping_leaves_what_is_used(store: impl Store) {
    fill(&store).await;
    let t = tenant("t");
    // An entry without a place in any conversation.
    let mut orphan = with_words(chain("c", &["lost"], 0), "giraffe");
    orphan.nodes.clear();
    store.append(&t, &orphan).await.unwrap();
    store.record_outcome(&t, &outcome(50)).await.unwrap();
    store.keep_turns(&t, &[turn("later", 50)]).await.unwrap();
    let before = rows(&store).await;
    let swept = store.sweep(NOTHING).await.unwrap();
    assert_eq!(
        (swept.entries, swept.entry_bytes),
        (1, entry("lost").raw.len() as u64)
    );
    assert_eq!(
        (swept.outcomes, swept.turns, swept.deleted_marks),
        (0, 0, 0)
    );
    let after = rows(&store).await;
    assert_eq!(after.len() + 1, before.len());
    assert!(after.iter().all(|row| before.contains(row)));
    let hits = store.search(&t, &SearchScope::Tenant, "zebra", 9).await;
    assert_eq!(hits.unwrap().len(), 3);
    // Others keep what is theirs.
    let u = tenant("u");
    let mut orphan = chain("c", &["lost"], 0);
    orphan.nodes.clear();
    store.append(&u, &orphan).await.unwrap();
    store.record_outcome(&u, &outcome(5)).await.unwrap();
    store.keep_turns(&u, &[turn("r", 5)]).await.unwrap();
    let all = SweepBefore {
        tenant: Some(&t),
        outcomes_ms: 50,
        turns_ms: 50,
        deleted_ms: 50,
    };
    let swept = store.sweep(all).await.unwrap();
    assert_eq!((swept.entries, swept.outcomes, swept.turns), (0, 1, 1));
    assert_eq!(swept.deleted_marks, 2);
    assert_eq!(store.outcomes(&t, 9).await.unwrap(), [outcome(50)]);
    assert_eq!(store.outcomes(&u, 9).await.unwrap(), [outcome(5)]);
    let swept = store
        .sweep(SweepBefore {
            tenant: None,
            ..all
        })
        .await;
    let swept = swept.unwrap();
    assert_eq!((swept.entries, swept.outcomes, swept.turns), (1, 1, 1));
}

pub(crate) async fn oldest_first(store: impl Store) {
    for (name, owner, touched_ms) in [("c", "t", 30), ("b", "u", 10), ("a", "t", 20)] {
        let mut append = chain(name, &[name], 0);
        append.touched_ms = touched_ms;
        store.append(&tenant(owner), &append).await.unwrap();
    }
    let all = Oldest {
        tenant: None,
        before_ms: i64::MAX,
        behind: None,
    };
    let old = Oldest {
        before_ms: 30,
        ..all
    };
    let found = store.oldest_conversations(old, 9).await.unwrap();
    let names: Vec<_> = found
        .iter()
        .map(|one| (one.tenant.as_str(), one.id.as_str(), one.touched_ms))
        .collect();
    assert_eq!(names, [("u", "b", 10), ("t", "a", 20)]);
    // One after the other.
    let mut names = Vec::new();
    let mut last = None;
    loop {
        let behind = last.as_ref();
        let found = store
            .oldest_conversations(Oldest { behind, ..all }, 1)
            .await;
        let Some(one) = found.unwrap().pop() else {
            break;
        };
        names.push(one.id.as_str().to_owned());
        last = Some(one);
    }
    assert_eq!(names, ["b", "a", "c"]);
    // Those of others do not stand in front.
    let t = tenant("t");
    let own = Oldest {
        tenant: Some(&t),
        ..all
    };
    let found = store.oldest_conversations(own, 1).await.unwrap();
    assert_eq!(found[0].id.as_str(), "a");
}

pub(crate) async fn a_snapshot_has_everything(store: impl Store) {
    fill(&store).await;
    let before = rows(&store).await;
    let names: Vec<&str> = before.iter().map(|row| row.table).collect();
    for table in [
        "tenants",
        "conversations",
        "entries",
        "nodes",
        "compactions",
        "changes",
        "pins",
        "windows",
        "beliefs",
        "memories",
        "turns",
        "outcomes",
        "summary_spend",
        "deleted_conversations",
        "deleted_nodes",
    ] {
        assert!(names.contains(&table), "{table}");
    }
    for row in &before {
        let line = SnapshotLine::Row(row.clone());
        assert_eq!(SnapshotLine::parse(&line.to_text()).unwrap(), line);
    }
    let mut seen = Vec::new();
    let mut each = |row: SnapshotRow| {
        seen.push(row);
        match seen.len() < 5 {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    };
    store.snapshot(&mut each).await.unwrap();
    assert_eq!(seen, before[..5]);
}

/// Into the other kind of database and back again, twice: everything is there, once.
pub(crate) async fn brought_in_once(store: impl Store) {
    fill(&store).await;
    let exported = rows(&store).await;
    let other = SqliteStore::in_memory().await.unwrap();
    let restored = other.restore(&exported).await.unwrap();
    assert_eq!(restored.written, exported.len() as u64);
    assert_eq!(rows(&other).await, exported);
    let again = other.restore(&exported).await.unwrap();
    assert_eq!((again.written, again.left), (0, exported.len() as u64));
    assert_eq!(again.refused, 0);
    let t = tenant("t");
    assert_eq!(
        other.history(&t, node("x")).await.unwrap(),
        store.history(&t, node("x")).await.unwrap()
    );
    assert_eq!(
        other.changes(&t, &conversation("c")).await.unwrap(),
        store.changes(&t, &conversation("c")).await.unwrap()
    );
    assert_eq!(
        other.memories(&t, Some("giraffe"), 9).await.unwrap().len(),
        1
    );
    assert_eq!(other.unindexed(&t, None, 9).await.unwrap().len(), 4);

    // What goes on there is brought back: newer entries, a state, a deletion; what is there stays.
    other.publish(&t, "k", None).await.unwrap();
    other
        .append(&t, &chain("c", &["a", "b", "c", "d"], 3))
        .await
        .unwrap();
    other
        .delete_conversation(&t, &conversation("fork"), 8)
        .await
        .unwrap();
    let newer = rows(&other).await;
    let restored = store.restore(&newer).await.unwrap();
    assert!(restored.written > 0 && restored.left > 0, "{restored:?}");
    assert_eq!(rows(&store).await, newer);
    let hits = store.search(&t, &SearchScope::Tenant, "zebra", 9).await;
    assert_eq!(hits.unwrap().len(), 3);
}

pub(crate) async fn another_secret_is_refused(store: impl Store) {
    fill(&store).await;
    let other = SqliteStore::in_memory().await.unwrap();
    other.tenant_key(&tenant("t"), [8; 32]).await.unwrap();
    let exported = rows(&other).await;
    let refused = store.restore(&exported).await.unwrap_err();
    assert!(matches!(refused, Error::OtherSecret { .. }), "{refused:?}");
    let refused = SnapshotLine::parse("{\"table\":\"nobody\",\"row\":[]}").unwrap_err();
    assert!(matches!(refused, Error::BadSnapshot { .. }), "{refused:?}");
}

pub(crate) async fn vacuum_changes_nothing(store: impl Store) {
    fill(&store).await;
    let before = rows(&store).await;
    store.vacuum().await.unwrap();
    assert_eq!(rows(&store).await, before);
    let hits = store
        .search(&tenant("t"), &SearchScope::Tenant, "zebra", 9)
        .await;
    assert_eq!(hits.unwrap().len(), 3);
}
