use epitome_store::{AnyStore, TenantId};
use tokio_util::task::TaskTracker;

use super::*;
use crate::config::QuotaLimits;
use crate::index::Index;
use crate::journal::Workshop;
use crate::open_store::OpenStore;
use crate::quota::Quota;

fn histories(store: Option<&Arc<AnyStore>>, tasks: &TaskTracker) -> Histories {
    let index = Arc::new(Index::default());
    let quota = Arc::new(Quota::new(TenantId::local(), QuotaLimits::default()));
    let open = store.cloned().map(OpenStore::new);
    let journal = Journal::start(
        open,
        TenantId::local(),
        index,
        quota,
        &Workshop::default(),
        tasks,
    );
    Histories::new(Arc::new(journal))
}

fn in_memory() -> Histories {
    histories(None, &TaskTracker::new())
}

fn request(text: &str) -> (Continued, Bytes) {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    (Continued::read(&bytes).unwrap(), bytes)
}

async fn open(histories: &Histories, request: &Continued) -> Open {
    Open::new(request, histories.before(request).await, false)
}

fn close(histories: &Histories, open: Open, id: &str, items: &[Bytes]) {
    let mut answer = AnswerItems::default();
    answer.response = Some(id.to_owned());
    answer.items = items.to_vec();
    histories.close(open, &answer);
}

async fn in_full(histories: &Histories, request: &(Continued, Bytes)) -> Option<InFull> {
    let (request, bytes) = request;
    match histories.before(request).await {
        Before::Known(previous) => Some(InFull::new(request, bytes, previous)),
        Before::Nothing | Before::Unknown => None,
    }
}

fn item(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// Two turns, the second under a compaction.
async fn two_turns(histories: &Histories) {
    let (first, _) = request(r#"{"input":"one"}"#);
    let answer = item(r#"{"type":"message","a":1}"#);
    close(histories, open(histories, &first).await, "r1", &[answer]);
    let (second, _) = request(r#"{"previous_response_id":"r1","input":"two"}"#);
    let under = open(histories, &second).await.sent_under("k");
    close(
        histories,
        under,
        "r2",
        &[item(r#"{"type":"message","a":2}"#)],
    );
}

async fn are_known(histories: &Histories) {
    let third = request(r#"{"previous_response_id":"r2","input":"three"}"#);
    let full = in_full(histories, &third).await.unwrap();
    assert!(full.is_held_under("k"));
    assert!(!full.is_held_under("other"));
    assert_eq!(full.brief, third.1);
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let expected = format!(
        r#"{{"input":[{},{{"type":"message","a":1}},{},{{"type":"message","a":2}},{}]}}"#,
        user("one"),
        user("two"),
        user("three")
    );
    assert_eq!(full.full, expected.as_bytes());
    // Going on from an earlier answer is another branch, with what the provider has there.
    let branch = request(r#"{"previous_response_id":"r1","input":"else"}"#);
    let branch = in_full(histories, &branch).await.unwrap();
    assert!(!branch.is_held_under("k"));
}

#[tokio::test]
async fn a_chain_of_ids_is_said_in_full() {
    let histories = in_memory();
    two_turns(&histories).await;
    are_known(&histories).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_knows_what_this_one_saw() {
    let folder = tempfile::tempdir().unwrap();
    let location = epitome_testkit::stores::location(&folder.path().join("log.db"));
    let open = async || Arc::new(AnyStore::open(&location).await.unwrap());
    let tasks = TaskTracker::new();
    let seen = histories(Some(&open().await), &tasks);
    two_turns(&seen).await;
    drop(seen);
    tasks.close();
    tasks.wait().await;
    are_known(&histories(Some(&open().await), &TaskTracker::new())).await;
    // A turn whose beginning could not be found in time is kept, and is whole as soon as that is found.
    let blind = in_memory();
    let (third, _) = request(r#"{"previous_response_id":"r2","input":"three"}"#);
    let before = blind.before(&third).await;
    assert!(matches!(before, Before::Unknown));
    let late = Open::new(&third, before, false);
    let tasks = TaskTracker::new();
    let seen = histories(Some(&open().await), &tasks);
    close(&seen, late, "r3", &[]);
    drop(seen);
    tasks.close();
    tasks.wait().await;
    let again = histories(Some(&open().await), &TaskTracker::new());
    let fourth = request(r#"{"previous_response_id":"r3","input":"four"}"#);
    let full = in_full(&again, &fourth).await.unwrap().full;
    let full = String::from_utf8(full.to_vec()).unwrap();
    let said = ["one", "two", "three", "four"].map(|text| full.find(text).unwrap());
    assert!(said.is_sorted(), "{full}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_private_stays_in_memory() {
    let store = Arc::new(
        AnyStore::open(&epitome_testkit::stores::fresh())
            .await
            .unwrap(),
    );
    let tasks = TaskTracker::new();
    let histories = histories(Some(&store), &tasks);
    let (first, _) = request(r#"{"input":"one"}"#);
    let private = Open::new(&first, Before::Nothing, true);
    close(&histories, private, "secret", &[]);
    let (second, _) = request(r#"{"previous_response_id":"secret","input":"two"}"#);
    assert!(matches!(histories.before(&second).await, Before::Known(_)));
    let public = Open::new(&first, Before::Nothing, false);
    close(&histories, public, "open", &[]);
    // Both went the same way, so the one is there when the other would be.
    let any = |rows: &[TurnRow]| (!rows.is_empty()).then_some(());
    while histories.journal.turns_to("open", any).await.is_none() {
        crate::clock::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(histories.journal.turns_to("secret", any).await, None);
}

#[tokio::test]
async fn what_nobody_saw_is_not_known() {
    let histories = in_memory();
    let (request, _) = request(r#"{"previous_response_id":"elsewhere","input":"x"}"#);
    let before = histories.before(&request).await;
    assert!(matches!(before, Before::Unknown));
    close(&histories, Open::new(&request, before, false), "next", &[]);
    assert!(histories.kept.find("next").is_none());
}

#[tokio::test]
async fn the_oldest_are_forgotten_and_long_chains_end_quietly() {
    let histories = in_memory();
    let (first, _) = request(r#"{"input":"one"}"#);
    close(&histories, open(&histories, &first).await, "0", &[]);
    for turn in 1..50_000 {
        let text = format!(
            r#"{{"previous_response_id":"{}","input":"{turn}"}}"#,
            turn - 1
        );
        let (next, _) = request(&text);
        let next = open(&histories, &next).await;
        close(&histories, next, &turn.to_string(), &[]);
    }
    let large = item(&format!(
        r#"{{"type":"message","text":"{}"}}"#,
        "x".repeat(1 << 20)
    ));
    for turn in 0..80 {
        let open = open(&histories, &first).await;
        let id = format!("large {turn}");
        close(&histories, open, &id, std::slice::from_ref(&large));
    }
    assert!(histories.kept.find("49999").is_none());
    assert!(histories.kept.find("large 79").is_some());
}

#[tokio::test]
async fn what_was_read_since_is_gone_on_from() {
    let histories = in_memory();
    let (third, _) = request(r#"{"previous_response_id":"r2","input":"three"}"#);
    let late = open(&histories, &third).await;
    // Meanwhile the turns before it are read to the end.
    two_turns(&histories).await;
    close(&histories, late, "r3", &[]);
    let fourth = request(r#"{"previous_response_id":"r3","input":"four"}"#);
    let full = in_full(&histories, &fourth).await.unwrap().full;
    let full = String::from_utf8(full.to_vec()).unwrap();
    let said = ["one", "two", "three", "four"].map(|text| full.find(text).unwrap());
    assert!(said.is_sorted(), "{full}");
}

#[tokio::test]
async fn a_history_is_read_by_one() {
    let readings = Readings::default();
    let one = Reading::begin(&readings, "r1").unwrap();
    let mut waiting = Reading::begin(&readings, "r1").unwrap_err();
    let _other = Reading::begin(&readings, "r2").unwrap();
    drop(one);
    assert!(waiting.changed().await.is_err());
    let _again = Reading::begin(&readings, "r1").unwrap();
    // A request that finds it under way has what the other one read.
    let histories = in_memory();
    let reading = Reading::begin(&histories.readings, "r2").unwrap();
    let (third, _) = request(r#"{"previous_response_id":"r2","input":"three"}"#);
    let (before, ()) = tokio::join!(histories.before(&third), async {
        two_turns(&histories).await;
        drop(reading);
    });
    assert!(matches!(before, Before::Known(_)));
}
