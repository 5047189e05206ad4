use std::time::Duration;

use bytes::Bytes;
use epitome_store::{Digest, Error, Store};

use crate::fixtures::{chain, digest, entry, node, nothing, tenant, with_words};

pub(crate) async fn append_is_idempotent(store: impl Store) {
    let tenant = tenant("t");
    let append = chain("c", &["a", "b", "c"], 0);
    for _ in 0..3 {
        store.append(&tenant, &append).await.unwrap();
    }
    let nodes = store.find_nodes(&tenant, &[node("c")]).await.unwrap();
    assert_eq!(nodes, [append.nodes[2].clone()]);
    assert_eq!(
        store.history(&tenant, node("c")).await.unwrap(),
        append.entries
    );
    let listed = store.conversations(&tenant, 10).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].nodes, 3);
}

pub(crate) async fn history_is_byte_exact(store: impl Store) {
    let tenant = tenant("t");
    let names: Vec<String> = (0..200).map(|n| format!("m{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let whole = chain("c", &names, 0);
    for end in (20..=200).step_by(20) {
        let piece = chain("c", &names[..end], end - 20);
        store.append(&tenant, &piece).await.unwrap();
    }
    assert_eq!(
        store.history(&tenant, node("m199")).await.unwrap(),
        whole.entries
    );
    assert_eq!(
        store.history(&tenant, node("m4")).await.unwrap(),
        whole.entries[..5]
    );
}

pub(crate) async fn forks_share_their_prefix(store: impl Store) {
    let tenant = tenant("t");
    let trunk = ["a", "b", "c", "d"];
    let fork = ["a", "b", "x", "y"];
    let forked_again = ["a", "b", "x", "z", "c"];
    store
        .append(&tenant, &chain("main", &trunk, 0))
        .await
        .unwrap();
    store
        .append(&tenant, &chain("fork", &fork, 2))
        .await
        .unwrap();
    let mut last = chain("again", &forked_again, 3);
    // The same message in another place: the same entry, another node.
    last.nodes[1].digest = node("c after z");
    store.append(&tenant, &last).await.unwrap();

    for (tip, names) in [
        ("d", &trunk[..]),
        ("y", &fork[..]),
        ("c after z", &forked_again[..]),
        ("b", &["a", "b"][..]),
    ] {
        let expected: Vec<_> = names.iter().map(|name| entry(name)).collect();
        assert_eq!(
            store.history(&tenant, node(tip)).await.unwrap(),
            expected,
            "{tip}"
        );
    }
    let known = [node("b"), node("y")];
    let mut found = store.find_nodes(&tenant, &known).await.unwrap();
    found.sort_by_key(|node| node.position);
    let owners: Vec<_> = found
        .iter()
        .map(|node| node.conversation.as_str())
        .collect();
    assert_eq!(owners, ["main", "fork"]);
}

pub(crate) async fn unknown_tip_has_no_history(store: impl Store) {
    let tenant = tenant("t");
    store.append(&tenant, &chain("c", &["a"], 0)).await.unwrap();
    assert_eq!(store.history(&tenant, node("b")).await.unwrap(), []);
    assert_eq!(store.find_nodes(&tenant, &[]).await.unwrap(), []);
}

pub(crate) async fn different_bytes_conflict(store: impl Store) {
    let tenant = tenant("t");
    let mut append = chain("c", &["a"], 0);
    store.append(&tenant, &append).await.unwrap();
    let first = append.entries[0].clone();
    append.entries[0].raw = Bytes::from_static(b"other");
    let error = store.append(&tenant, &append).await.unwrap_err();
    assert!(
        matches!(error, Error::Conflict { key } if key == first.key),
        "{error:?}"
    );
    assert_eq!(store.history(&tenant, node("a")).await.unwrap(), [first]);
}

pub(crate) async fn dangling_rows_are_refused(store: impl Store) {
    let tenant = tenant("t");
    let orphan = chain("c", &["a", "b"], 1);
    let mut no_entry = chain("c", &["a"], 0);
    no_entry.entries.clear();
    for append in [orphan, no_entry] {
        let error = store.append(&tenant, &append).await.unwrap_err();
        assert!(matches!(error, Error::Dangling(_)), "{error:?}");
    }
}

pub(crate) async fn failed_append_changes_nothing(store: impl Store) {
    let tenant = tenant("t");
    let mut append = chain("c", &["a", "b"], 0);
    append.nodes[1].parent = Some(node("unknown"));
    store.append(&tenant, &append).await.unwrap_err();
    assert_eq!(store.find_nodes(&tenant, &[node("a")]).await.unwrap(), []);
    assert_eq!(store.conversations(&tenant, 10).await.unwrap(), []);
    // The connection is not left inside the failed transaction.
    store.append(&tenant, &chain("c", &["a"], 0)).await.unwrap();
    assert_eq!(
        store.find_nodes(&tenant, &[node("a")]).await.unwrap().len(),
        1
    );
}

pub(crate) async fn five_thousand_digests(store: impl Store) {
    let tenant = tenant("t");
    let names: Vec<String> = (0..2_500).map(|n| format!("m{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let append = chain("c", &names, 0);
    store.append(&tenant, &append).await.unwrap();
    let mut wanted: Vec<Digest> = names.iter().map(|name| node(name)).collect();
    wanted.extend((0..2_500).map(|n| digest(&format!("stranger {n}"))));
    wanted.extend_from_within(..10);
    let mut found = store.find_nodes(&tenant, &wanted).await.unwrap();
    found.sort_by_key(|node| node.position);
    assert_eq!(found, append.nodes);
    assert_eq!(store.compactions_at(&tenant, &wanted).await.unwrap(), []);
}

pub(crate) async fn huge_entry(store: impl Store) {
    let tenant = tenant("t");
    let mut append = chain("c", &["a", "b"], 0);
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251) as u8).collect();
    append.entries[1].raw = Bytes::from(bytes);
    store.append(&tenant, &append).await.unwrap();
    store.append(&tenant, &append).await.unwrap();
    let history = store.history(&tenant, node("b")).await.unwrap();
    assert!(history == append.entries, "20 MB came back changed");
}

pub(crate) async fn empty_entry(store: impl Store) {
    let tenant = tenant("t");
    let mut append = chain("c", &["a"], 0);
    append.entries[0].raw = Bytes::new();
    store.append(&tenant, &append).await.unwrap();
    store.append(&tenant, &append).await.unwrap();
    store.append(&tenant, &nothing("c", 9)).await.unwrap();
    assert_eq!(
        store.history(&tenant, node("a")).await.unwrap(),
        append.entries
    );
}

/// Whoever waits for a write may lose patience at any moment.
pub(crate) async fn dropped_write_leaves_nothing_behind(store: impl Store) {
    let tenant = tenant("t");
    for patience in 0..60 {
        let names = [format!("{patience} a"), format!("{patience} b")];
        let names = [names[0].as_str(), names[1].as_str()];
        let append = with_words(chain("c", &names, 0), "zebra");
        let write = store.append(&tenant, &append);
        // However far it comes in this time.
        let moment = Duration::from_micros(patience * 100);
        let _ = tokio::time::timeout(moment, write).await;
        let found = store.find_nodes(&tenant, &names.map(node)).await.unwrap();
        assert!([0, 2].contains(&found.len()), "torn: {found:?}");
        store.append(&tenant, &append).await.unwrap();
        let history = store.history(&tenant, node(names[1])).await.unwrap();
        assert_eq!(history, append.entries);
    }
    assert_eq!(store.unindexed(&tenant, None, 9).await.unwrap(), []);
}
