//! Leases. Those that are over at once and those that last for an hour are the same by every clock.

use epitome_store::{Appended, ChangeKind, NewChange, Store};

use crate::fixtures::{conversation, nothing, tenant};
use crate::suite::changes::change;

/// Longer than any test.
const HOUR_MS: i64 = 3_600_000;

pub(crate) async fn leases_have_one_holder(store: impl Store) {
    let tenant = tenant("t");
    let id = conversation("c");
    let acquire = async |holder: &str, lasts_ms| {
        let asked = store.acquire_lease(&tenant, &id, holder, 7, 7 + lasts_ms);
        asked.await.unwrap()
    };
    let renew = async |fence, lasts_ms| {
        let renewed = store.renew_lease(&tenant, &id, fence, 7, 7 + lasts_ms);
        renewed.await.unwrap()
    };
    assert_eq!(acquire("one", 0).await, Some(1));
    assert!(renew(1, 0).await, "over, but nobody took it");
    assert_eq!(acquire("two", 0).await, Some(2), "expired");
    assert_eq!(acquire("two", 0).await, Some(3), "own, but expired");
    assert!(!renew(2, HOUR_MS).await);
    assert!(renew(3, HOUR_MS).await);
    assert_eq!(acquire("one", HOUR_MS).await, None, "it was prolonged");
    assert!(renew(3, 0).await);
    assert_eq!(acquire("one", HOUR_MS).await, None, "never shortened");
    assert_eq!(acquire("two", 0).await, Some(3), "held: the same");
    assert_eq!(acquire("one", HOUR_MS).await, None, "not shortened either");
    store.release_lease(&tenant, &id, 1).await.unwrap();
    assert_eq!(acquire("one", HOUR_MS).await, None, "1 is no longer held");
    store.release_lease(&tenant, &id, 3).await.unwrap();
    assert!(!renew(3, HOUR_MS).await, "released");
    assert_eq!(acquire("one", i64::MAX - 7).await, Some(4));
    assert_eq!(acquire("two", HOUR_MS).await, None);
    let id = conversation("d");
    let other = store.acquire_lease(&tenant, &id, "one", 0, 1);
    assert_eq!(other.await.unwrap(), Some(1));
}

/// For stores that have no clock of their own.
pub(crate) async fn leases_end_by_the_callers_clock(store: impl Store) {
    let tenant = tenant("t");
    let id = conversation("c");
    let acquire = async |holder: &str, now_ms, until_ms| {
        let asked = store.acquire_lease(&tenant, &id, holder, now_ms, until_ms);
        asked.await.unwrap()
    };
    assert_eq!(acquire("one", 0, 100).await, Some(1));
    assert_eq!(acquire("two", 50, 150).await, None);
    assert_eq!(acquire("one", 50, 150).await, Some(1), "held: the same");
    assert_eq!(acquire("two", 149, 249).await, None, "it was prolonged");
    assert!(store.renew_lease(&tenant, &id, 1, 0, 200).await.unwrap());
    assert!(store.renew_lease(&tenant, &id, 1, 0, 20).await.unwrap());
    assert_eq!(acquire("two", 199, 299).await, None, "never shortened");
    assert_eq!(acquire("two", 200, 300).await, Some(2), "expired");
    assert!(!store.renew_lease(&tenant, &id, 1, 0, 900).await.unwrap());
    store.release_lease(&tenant, &id, 1).await.unwrap();
    assert_eq!(acquire("one", 250, 350).await, None, "1 is no longer held");
    store.release_lease(&tenant, &id, 2).await.unwrap();
    assert!(!store.renew_lease(&tenant, &id, 2, 0, 900).await.unwrap());
    assert_eq!(acquire("two", 251, 300).await, Some(3), "released");
    assert_eq!(acquire("two", 400, 500).await, Some(4), "own, but expired");
    let id = conversation("d");
    let other = store.acquire_lease(&tenant, &id, "one", 0, 1);
    assert_eq!(other.await.unwrap(), Some(1));
}

pub(crate) async fn lost_lease_supersedes(store: impl Store) {
    let tenant = tenant("t");
    let id = conversation("c");
    store.append(&tenant, &nothing("c", 1)).await.unwrap();
    let mut fenced = change(0, ChangeKind::Forked, None);
    let append = async |fenced: &NewChange| store.append_change(&tenant, fenced).await.unwrap();
    fenced.fence = Some(1);
    assert_eq!(append(&fenced).await, Appended::Superseded, "never held");
    let granted = store.acquire_lease(&tenant, &id, "one", 10, 10).await;
    assert_eq!(granted.unwrap(), Some(1));
    assert_eq!(append(&fenced).await, Appended::Stored);
    let granted = store.acquire_lease(&tenant, &id, "two", 10, 20).await;
    assert_eq!(granted.unwrap(), Some(2));
    fenced.change.seq = 1;
    assert_eq!(append(&fenced).await, Appended::Superseded);
    fenced.fence = Some(2);
    assert_eq!(append(&fenced).await, Appended::Stored);
    store.release_lease(&tenant, &id, 2).await.unwrap();
    fenced.change.seq = 2;
    assert_eq!(append(&fenced).await, Appended::Superseded, "released");
}
