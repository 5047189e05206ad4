use std::slice::from_ref;

use bytes::Bytes;
use epitome_store::{Store, TurnRow};

use crate::fixtures::tenant;

fn turn(id: &str, previous: Option<&str>) -> TurnRow {
    TurnRow {
        id: id.to_owned(),
        previous: previous.map(ToOwned::to_owned),
        items: Bytes::from(format!("[\"{id} \u{0} \u{fc}\"]")),
        compaction: (id == "c").then(|| "k".to_owned()),
        at_ms: 7,
    }
}

pub(crate) async fn turns_lead_to_an_answer(store: impl Store) {
    let (tenant, theirs) = (tenant("t"), tenant("theirs"));
    let [a, b, c] = [turn("a", None), turn("b", Some("a")), turn("c", Some("b"))];
    let to = async |id: &str| store.turns_to(&tenant, id).await.unwrap();
    assert_eq!(to("a").await, []);
    // What a turn goes on from may be written later.
    store.keep_turns(&tenant, from_ref(&c)).await.unwrap();
    assert_eq!(to("c").await, []);
    store
        .keep_turns(&tenant, &[b.clone(), a.clone()])
        .await
        .unwrap();
    assert_eq!(to("c").await, [a.clone(), b.clone(), c.clone()]);
    assert_eq!(to("b").await, [a.clone(), b.clone()]);
    // A branch shares what came before.
    let d = turn("d", Some("b"));
    store.keep_turns(&tenant, from_ref(&d)).await.unwrap();
    assert_eq!(to("d").await, [a.clone(), b.clone(), d]);
    // The first one counts, and other tenants have turns of their own.
    let other = TurnRow {
        at_ms: 8,
        ..turn("b", None)
    };
    store.keep_turns(&tenant, from_ref(&other)).await.unwrap();
    assert_eq!(to("b").await, [a, b]);
    assert_eq!(store.turns_to(&theirs, "b").await.unwrap(), []);
    store.keep_turns(&theirs, from_ref(&other)).await.unwrap();
    assert_eq!(store.turns_to(&theirs, "b").await.unwrap(), [other]);
}

/// A provider that gives out an id twice could make turns that go round in a circle.
pub(crate) async fn turns_in_a_circle_lead_nowhere(store: impl Store) {
    let tenant = tenant("t");
    let round = [
        turn("a", Some("b")),
        turn("b", Some("a")),
        turn("c", Some("c")),
    ];
    store.keep_turns(&tenant, &round).await.unwrap();
    for id in ["a", "b", "c"] {
        assert_eq!(store.turns_to(&tenant, id).await.unwrap(), []);
    }
}

pub(crate) async fn a_thousand_turns(store: impl Store) {
    let tenant = tenant("t");
    let mut turns = vec![turn("0", None)];
    for at in 1..1_000 {
        let previous = (at - 1).to_string();
        turns.push(turn(&at.to_string(), Some(&previous)));
    }
    store.keep_turns(&tenant, &turns).await.unwrap();
    assert_eq!(store.turns_to(&tenant, "999").await.unwrap(), turns);
}
