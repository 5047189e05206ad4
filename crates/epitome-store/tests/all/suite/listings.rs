use epitome_store::{BeliefRow, Error, LearnedWindow, Outcome, Store};

use crate::fixtures::{chain, compaction, conversation, nothing, tenant};

pub(crate) async fn conversations_newest_first(store: impl Store) {
    let tenant = tenant("t");
    let mut first = chain("first", &["a", "b"], 0);
    first.conversation.label = Some("old label".to_owned());
    first.touched_ms = 10;
    let row = compaction("k", "first", "b");
    store
        .commit_compaction(&tenant, &first, &row)
        .await
        .unwrap();
    let mut second = chain("second", &["a", "b", "x"], 2);
    second.conversation.parent = Some(conversation("first"));
    second.touched_ms = 20;
    store.append(&tenant, &second).await.unwrap();

    let ids = |rows: &[epitome_store::ConversationRow]| -> Vec<String> {
        rows.iter().map(|row| row.id.to_string()).collect()
    };
    let listed = store.conversations(&tenant, 10).await.unwrap();
    assert_eq!(ids(&listed), ["second", "first"]);
    assert_eq!(listed[0].parent, Some(conversation("first")));
    assert_eq!((listed[0].nodes, listed[0].compactions), (1, 0));
    assert_eq!((listed[1].nodes, listed[1].compactions), (2, 1));
    assert_eq!(listed[1].label.as_deref(), Some("old label"));

    let mut touch = nothing("first", 30);
    touch.conversation.label = Some("new label".to_owned());
    store.append(&tenant, &touch).await.unwrap();
    store.append(&tenant, &nothing("first", 5)).await.unwrap();
    let listed = store.conversations(&tenant, 1).await.unwrap();
    assert_eq!(ids(&listed), ["first"]);
    assert_eq!(listed[0].touched_ms, 30);
    assert_eq!(listed[0].created_ms, 1);
    assert_eq!(listed[0].label.as_deref(), Some("new label"));
}

pub(crate) async fn outcomes_newest_first(store: impl Store) {
    let tenant = tenant("t");
    let outcome = |at_ms: i64, reason: &str| Outcome {
        conversation: (at_ms > 1).then(|| conversation("never-appended")),
        at_ms,
        action: "compact".to_owned(),
        reason: reason.to_owned(),
        tokens_before: u64::MAX,
        tokens_after: 3,
        model: "m".to_owned(),
    };
    for (at_ms, reason) in [(2, "b"), (1, "a"), (3, "c"), (3, "d")] {
        let outcome = outcome(at_ms, reason);
        store.record_outcome(&tenant, &outcome).await.unwrap();
    }
    let listed = store.outcomes(&tenant, 3).await.unwrap();
    let reasons: Vec<_> = listed.iter().map(|one| one.reason.as_str()).collect();
    assert_eq!(reasons, ["d", "c", "b"]);
    let oldest = store.outcomes(&tenant, 10).await.unwrap().pop().unwrap();
    let mut expected = outcome(1, "a");
    expected.tokens_before = i64::MAX as u64;
    assert_eq!(oldest, expected);
}

pub(crate) async fn window_upsert(store: impl Store) {
    let learned = [
        ("https://b", "m", 1_000, 5),
        ("https://a", "m", 200_000, 10),
        ("https://a", "m", 128_000, 20),
        ("https://a", "m", 64_000, 15),
    ];
    for (endpoint, model, window_tokens, at_ms) in learned {
        let result = store.learn_window(endpoint, model, window_tokens, at_ms);
        result.await.unwrap();
    }
    let window = |endpoint: &str, window_tokens, at_ms| LearnedWindow {
        endpoint: endpoint.to_owned(),
        model: "m".to_owned(),
        window_tokens,
        at_ms,
    };
    let expected = [
        window("https://a", 128_000, 20),
        window("https://b", 1_000, 5),
    ];
    assert_eq!(store.learned_windows().await.unwrap(), expected);
    let belief = |model: &str, window: &str, at_ms| BeliefRow {
        endpoint: "a".to_owned(),
        model: model.to_owned(),
        window: Some(window.to_owned()),
        counts: None,
        at_ms,
    };
    for row in [
        belief("m", "2", 20),
        belief("m", "1", 10),
        belief("n", "3", 5),
    ] {
        store.save_belief(&row).await.unwrap();
    }
    let counts = BeliefRow {
        window: None,
        counts: Some("c".to_owned()),
        ..belief("n", "", 6)
    };
    store.save_belief(&counts).await.unwrap();
    // The rule of 1583c78: the time of a belief is that of its window, and counts leave it as it is.
    let counted = BeliefRow {
        counts: counts.counts.clone(),
        ..belief("n", "3", 5)
    };
    let expected = [belief("m", "2", 20), counted];
    assert_eq!(store.beliefs().await.unwrap(), expected);
    for row in &expected {
        let one = store.belief(&row.endpoint, &row.model).await.unwrap();
        assert_eq!(one.as_ref(), Some(row));
    }
    assert_eq!(store.belief("nowhere", "m").await.unwrap(), None);
    assert!(store.forget_belief("a", "m").await.unwrap());
    assert!(!store.forget_belief("a", "m").await.unwrap());
    assert_eq!(store.beliefs().await.unwrap(), expected[1..]);
    let windows = store.learned_windows().await.unwrap();
    for row in &windows {
        let forgotten = store.forget_belief(&row.endpoint, &row.model).await;
        assert!(forgotten.unwrap());
    }
    assert_eq!(store.learned_windows().await.unwrap(), []);
}

pub(crate) async fn closed_store(store: impl Store) {
    store.close().await;
    store.close().await;
    let error = store.conversations(&tenant("t"), 1).await.unwrap_err();
    assert!(matches!(error, Error::Closed), "{error:?}");
    let error = store
        .append(&tenant("t"), &nothing("c", 1))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Closed), "{error:?}");
}
