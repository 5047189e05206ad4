//! Deleting a conversation: all that is its own goes, all that others stand on stays.

use epitome_store::{
    Append, ChangeKind, ConversationId, Error, PinMark, PinRow, SearchScope, Store, TenantId,
};

use super::changes::change;
use super::memories::memory;
use crate::fixtures::{chain, compaction, conversation, entry, node, tenant, with_words};

/// A conversation that branches off `parent`.
fn branch(name: &str, parent: &str, names: &[&str], known: usize) -> Append {
    let mut append = with_words(chain(name, names, known), &format!("zebra {name}"));
    append.conversation.parent = Some(conversation(parent));
    append
}

async fn mark(store: &impl Store, tenant: &TenantId, place: &str, text: &str, at_ms: i64) {
    let pin = PinRow {
        conversation: conversation(place),
        text: text.to_owned(),
        mark: PinMark::Dropped,
        at_ms,
    };
    store.mark_pin(tenant, &pin).await.unwrap();
}

/// What is shown of a branch: its entries, the compactions on it, its pins.
async fn view(
    store: &impl Store,
    tenant: &TenantId,
    id: &ConversationId,
) -> (Vec<bytes::Bytes>, Vec<String>, Vec<String>) {
    let tip = store.tip(tenant, id).await.unwrap().unwrap();
    let history = store.history(tenant, tip.digest).await.unwrap();
    let path = store.path(tenant, tip.digest).await.unwrap();
    assert_eq!(path.len(), history.len(), "no gaps");
    let links: Vec<_> = path.iter().map(|node| node.digest).collect();
    let along = store.compactions_along(tenant, id, 99).await.unwrap();
    let mut compactions: Vec<_> = along
        .into_iter()
        .filter(|row| links.contains(&row.node))
        .map(|row| row.id)
        .collect();
    compactions.sort();
    let pins = store.marked_pins(tenant, id).await.unwrap();
    let mut pins = PinRow::dropped(pins);
    pins.sort();
    let entries = history.into_iter().map(|entry| entry.raw).collect();
    (entries, compactions, pins)
}

pub(crate) async fn a_conversation_goes_with_all_that_is_its_own(store: impl Store) {
    let t = tenant("t");
    let id = conversation("c");
    let other = with_words(chain("other", &["x", "y"], 0), "zebra");
    store.append(&t, &other).await.unwrap();
    let before = store.statistics().await.unwrap();
    let mut first = change(0, ChangeKind::Compacted, Some("k"));
    first.span = Some(with_words(chain("c", &["a", "b", "c"], 0), "giraffe"));
    first.compaction = Some(compaction("k", "c", "b"));
    store.append_change(&t, &first).await.unwrap();
    mark(&store, &t, "c", "Always.", 1).await;
    let mut kept = memory("m", "giraffe", 1);
    kept.conversation = Some(id.clone());
    store.save_memory(&t, &kept).await.unwrap();
    store.acquire_lease(&t, &id, "one", 0, 10).await.unwrap();

    let deleted = store
        .delete_conversation(&t, &id, 9)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((deleted.nodes, deleted.rehomed_nodes), (3, 0));
    assert_eq!(
        (deleted.entries, deleted.compactions, deleted.memories),
        (3, 1, 1)
    );
    assert_eq!(store.conversation(&t, &id).await.unwrap(), None);
    assert_eq!(store.history(&t, node("c")).await.unwrap(), []);
    assert_eq!(store.entry(&t, entry("a").key).await.unwrap(), None);
    assert_eq!(store.compaction(&t, "k").await.unwrap(), None);
    assert_eq!(store.changes(&t, &id).await.unwrap(), []);
    assert_eq!(store.memories(&t, None, 9).await.unwrap(), []);
    assert_eq!(store.memories(&t, Some("giraffe"), 9).await.unwrap(), []);
    let hits = store.search(&t, &SearchScope::Tenant, "giraffe", 9).await;
    assert_eq!(hits.unwrap(), []);
    let hits = store.search(&t, &SearchScope::Tenant, "zebra", 9).await;
    assert_eq!(hits.unwrap().len(), 2);
    assert_eq!(store.history(&t, node("y")).await.unwrap(), other.entries);
    let after = store.statistics().await.unwrap();
    assert_eq!(after.deleted_nodes, 1);
    assert_eq!(
        (
            after.conversations,
            after.nodes,
            after.entries,
            after.entry_bytes
        ),
        (
            before.conversations,
            before.nodes,
            before.entries,
            before.entry_bytes
        )
    );
    assert_eq!(store.delete_conversation(&t, &id, 9).await.unwrap(), None);
    // Names are a tenant's own.
    let strange = store
        .delete_conversation(&tenant("u"), &conversation("other"), 9)
        .await;
    assert_eq!(strange.unwrap(), None);
}

pub(crate) async fn forks_stay_whole(store: impl Store) {
    let t = tenant("t");
    let root = with_words(chain("root", &["a", "b", "c", "d", "e"], 0), "zebra root");
    store
        .commit_compaction(&t, &root, &compaction("k1", "root", "b"))
        .await
        .unwrap();
    let nothing = chain("root", &[], 0);
    store
        .commit_compaction(&t, &nothing, &compaction("k2", "root", "e"))
        .await
        .unwrap();
    mark(&store, &t, "root", "Root said so.", 1).await;
    store
        .append(&t, &branch("early", "root", &["a", "b", "c", "p"], 3))
        .await
        .unwrap();
    store
        .append(&t, &branch("late", "root", &["a", "b", "c", "d", "q"], 4))
        .await
        .unwrap();
    // One that has a compaction of its own on what it shares.
    let mut own = compaction("k3", "late", "d");
    own.model_class = "small".to_owned();
    let nothing = branch("late", "root", &[], 0);
    store.commit_compaction(&t, &nothing, &own).await.unwrap();
    store
        .append(&t, &branch("leaf", "early", &["a", "b", "c", "p", "r"], 4))
        .await
        .unwrap();

    let forks = ["early", "late", "leaf"].map(conversation);
    let mut before = Vec::new();
    for id in &forks {
        before.push(view(&store, &t, id).await);
    }
    assert_eq!(before[1].1, ["k1", "k3"]);
    let deleted = store
        .delete_conversation(&t, &conversation("root"), 9)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((deleted.nodes, deleted.rehomed_nodes), (1, 4));
    assert_eq!((deleted.entries, deleted.compactions), (1, 1));
    for (id, before) in forks.iter().zip(&before) {
        assert_eq!(view(&store, &t, id).await, *before, "{id:?}");
    }
    assert_eq!(store.compaction(&t, "k2").await.unwrap(), None);
    // They go on, and go one after the other.
    store
        .append(
            &t,
            &branch("late", "root", &["a", "b", "c", "d", "q", "s"], 5),
        )
        .await
        .unwrap();
    for (at, id) in forks.iter().enumerate() {
        store.delete_conversation(&t, id, 9).await.unwrap().unwrap();
        if let Some(left) = forks.get(at + 1..) {
            for id in left {
                assert!(!view(&store, &t, id).await.0.is_empty());
            }
        }
    }
    let after = store.statistics().await.unwrap();
    assert_eq!((after.conversations, after.nodes, after.entries), (0, 0, 0));
    assert_eq!(after.compactions, 0);
}

pub(crate) async fn what_was_deleted_does_not_come_back(store: impl Store) {
    let t = tenant("t");
    let names = ["a", "b", "c", "d", "e", "f"];
    let first = with_words(chain("c", &names[..3], 0), "zebra");
    store.append(&t, &first).await.unwrap();
    store
        .delete_conversation(&t, &conversation("c"), 9)
        .await
        .unwrap();
    // All of it again under another name, all and more, only what is new, and what comes behind that.
    store
        .append(&t, &chain("again", &names[..3], 0))
        .await
        .unwrap();
    store
        .append(&t, &chain("again", &names[..4], 0))
        .await
        .unwrap();
    store.append(&t, &chain("c", &names[..5], 4)).await.unwrap();
    let alive = with_words(chain("alive", &["x", "y"], 0), "giraffe");
    let dead = with_words(chain("again", &names, 5), "zebra");
    store.append_all(&t, &[dead.clone(), alive]).await.unwrap();
    assert_eq!(store.conversations(&t, 9).await.unwrap().len(), 1);
    assert_eq!(store.find_nodes(&t, &names.map(node)).await.unwrap(), []);
    assert_eq!(store.entry(&t, entry("a").key).await.unwrap(), None);
    let hits = store.search(&t, &SearchScope::Tenant, "zebra", 9).await;
    assert_eq!(hits.unwrap(), []);
    let hits = store.search(&t, &SearchScope::Tenant, "giraffe", 9).await;
    assert_eq!(hits.unwrap().len(), 2);
    // Neither with a compaction nor by one who has it in memory.
    let row = compaction("k", "again", "f");
    let refused = store.commit_compaction(&t, &dead, &row).await.unwrap_err();
    assert!(matches!(refused, Error::Deleted), "{refused:?}");
    let mut engine = chain("c", &["new"], 0);
    let refused = store.extend(&t, &engine, None).await.unwrap_err();
    assert!(matches!(refused, Error::Deleted), "{refused:?}");
    engine.conversation.id = conversation("else");
    engine.nodes[0].conversation = conversation("else");
    store.extend(&t, &engine, None).await.unwrap();
    // Another tenant has deleted nothing.
    let u = tenant("u");
    store.append(&u, &chain("c", &names[..3], 0)).await.unwrap();
    assert_eq!(store.history(&u, node("c")).await.unwrap().len(), 3);
}

pub(crate) async fn another_may_begin_alike(store: impl Store) {
    let t = tenant("t");
    store.append(&t, &chain("c", &["a", "b"], 0)).await.unwrap();
    store
        .delete_conversation(&t, &conversation("c"), 9)
        .await
        .unwrap();
    let other = chain("d", &["a", "x", "y"], 0);
    store.append(&t, &other).await.unwrap();
    assert_eq!(store.history(&t, node("y")).await.unwrap(), other.entries);
}

/// An application begins every chat with the same messages.
pub(crate) async fn a_deleted_one_leaves_others_their_beginning(store: impl Store) {
    let t = tenant("t");
    let first = chain("c", &["p1", "p2", "p3", "a", "b"], 0);
    store.append(&t, &first).await.unwrap();
    store
        .delete_conversation(&t, &conversation("c"), 9)
        .await
        .unwrap();
    let other = chain("d", &["p1", "p2", "p3", "x"], 0);
    store.append(&t, &other).await.unwrap();
    assert_eq!(store.history(&t, node("x")).await.unwrap(), other.entries);
    // The one that was deleted is still not wanted: again, longer, or going on behind what was sent since.
    let names = ["p1", "p2", "p3", "a", "b", "c", "e"];
    for (length, known) in [(5, 0), (6, 0), (6, 5), (7, 6)] {
        let again = chain("again", &names[..length], known);
        store.append(&t, &again).await.unwrap();
    }
    let links = names[3..].iter().map(|name| node(name));
    let found = store.find_nodes(&t, &links.collect::<Vec<_>>()).await;
    assert_eq!(found.unwrap(), []);
}

pub(crate) async fn idle_ones_may_come_back(store: impl Store) {
    let t = tenant("t");
    let id = conversation("c");
    let mut first = chain("c", &["a", "b", "c"], 0);
    first.touched_ms = 20;
    store.append(&t, &first).await.unwrap();
    // Somebody touched it after it was listed.
    let kept = store.delete_idle_conversation(&t, &id, 20).await;
    assert_eq!(kept.unwrap(), None);
    assert_eq!(store.history(&t, node("c")).await.unwrap().len(), 3);
    let gone = store.delete_idle_conversation(&t, &id, 21).await.unwrap();
    assert_eq!(gone.map(|gone| gone.nodes), Some(3));
    assert_eq!(store.statistics().await.unwrap().deleted_nodes, 0);
    let longer = chain("c", &["a", "b", "c", "d"], 0);
    store.append(&t, &longer).await.unwrap();
    assert_eq!(store.history(&t, node("d")).await.unwrap(), longer.entries);
}

pub(crate) async fn nothing_forks_off_what_was_deleted(store: impl Store) {
    let t = tenant("t");
    store.append(&t, &chain("c", &["a", "b"], 0)).await.unwrap();
    store
        .delete_conversation(&t, &conversation("c"), 9)
        .await
        .unwrap();
    let mut forked = change(0, ChangeKind::Forked, None);
    forked.change.conversation = conversation("fork");
    forked.span = Some(branch("fork", "c", &[], 0));
    let refused = store.append_change(&t, &forked).await.unwrap_err();
    assert!(matches!(refused, Error::Deleted), "{refused:?}");
    assert_eq!(store.conversations(&t, 9).await.unwrap(), []);
}

pub(crate) async fn forks_of_engines_keep_it(store: impl Store) {
    let t = tenant("t");
    store.append(&t, &chain("c", &["a", "b"], 0)).await.unwrap();
    let mut forked = change(0, ChangeKind::Forked, None);
    forked.change.conversation = conversation("fork");
    forked.span = Some(branch("fork", "c", &[], 0));
    store.append_change(&t, &forked).await.unwrap();
    let refused = store.delete_conversation(&t, &conversation("c"), 9).await;
    let refused = refused.unwrap_err();
    assert!(
        matches!(&refused, Error::Forked { forks, .. } if *forks == ["fork"]),
        "{refused:?}"
    );
    assert_eq!(store.history(&t, node("b")).await.unwrap().len(), 2);
    for name in ["fork", "c"] {
        let gone = store.delete_conversation(&t, &conversation(name), 9).await;
        assert!(gone.unwrap().is_some());
    }
}

pub(crate) async fn brothers_keep_their_own_pins(store: impl Store) {
    let t = tenant("t");
    store
        .append(&t, &chain("root", &["a", "b"], 0))
        .await
        .unwrap();
    for (name, last) in [("one", "p"), ("two", "q")] {
        let append = branch(name, "root", &["a", "b", last], 2);
        store.append(&t, &append).await.unwrap();
    }
    mark(&store, &t, "one", "Only the first said so.", 1).await;
    mark(&store, &t, "root", "Both.", 1).await;
    store
        .delete_conversation(&t, &conversation("root"), 9)
        .await
        .unwrap();
    let one = store.marked_pins(&t, &conversation("one")).await.unwrap();
    let mut one = PinRow::dropped(one);
    one.sort();
    assert_eq!(one, ["Both.", "Only the first said so."]);
    let two = store.marked_pins(&t, &conversation("two")).await.unwrap();
    assert_eq!(PinRow::dropped(two), ["Both."]);
}
