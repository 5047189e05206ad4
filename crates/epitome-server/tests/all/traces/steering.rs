//! What people do to a conversation while its proxy runs.

use epitome_store::{
    Appended, ChangeKind, ChangeRow, Changes, CompactionState, Compactions, ConversationId,
    Conversations, NewChange, PinMark, PinRow, Pins, TenantId,
};
use epitome_testkit::{Wire, client};
use http::Method;
use serde_json::Value;

use super::rig::{Outcome, Rig, Talk, server};
use crate::support::{Folder, action};

const WINDOW: u64 = 40_000;

/// A compaction that was taken back, as `epitome undo` does it, is not shown from the next request on; where the
/// conversation fits without it, it stays away until the conversation has grown.
pub(super) async fn an_undo_takes_effect_on_the_next_request() {
    let folder = Folder::new();
    let rig = Rig::start(server(200_000), |config| {
        config.store = folder.location();
        config.window_tokens = Some(WINDOW);
        config.settings = epitome::settings::Settings::of(epitome::PresetName::Layer);
    })
    .await;
    let mut talk = Talk::new(Wire::OpenaiChat, "scripted", 3);
    let mut compacted = None;
    for _ in 0..200 {
        talk.answered(400);
        let outcome = rig.ask(&talk).await;
        if !outcome.is_bare() {
            compacted = Some(outcome);
            break;
        }
    }
    let compacted = compacted.expect("a compaction");
    let tenant = TenantId::local();
    let store = folder.open().await;
    let conversations = store.conversations(&tenant, 10).await.unwrap();
    let conversation = conversations[0].id.clone();
    let rows = store.compactions_of(&tenant, &conversation).await.unwrap();
    let row = rows
        .iter()
        .rfind(|row| row.state == CompactionState::Published)
        .expect("it is published");
    let change = NewChange::from(ChangeRow {
        conversation,
        seq: 0,
        kind: ChangeKind::Undone,
        compaction: Some(row.id.clone()),
        body: r#"{"entries":1}"#.to_owned(),
        at_ms: 1,
    });
    let appended = store.append_change(&tenant, &change).await.unwrap();
    assert_eq!(appended, Appended::Stored);
    let after = rig.ask(&talk).await;
    assert!(
        after.is_bare(),
        "still compacted: {:?}, before {:?}",
        action(&after.received),
        action(&compacted.received)
    );
    after.assert_answered("after the undo");
    // It comes back by itself only when it must or the conversation has grown.
    let mut is_back = false;
    for _ in 0..40 {
        talk.answered(800);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered("later");
        is_back |= !outcome.is_bare();
    }
    assert!(is_back);
}

/// What the client wants kept out of the store is not in it, and is compacted all the same.
pub(super) async fn a_private_conversation_is_not_stored() {
    let folder = Folder::new();
    let rig = Rig::start(server(WINDOW), |config| {
        config.store = folder.location();
        config.window_tokens = Some(WINDOW);
    })
    .await;
    let mut talk = Talk::new(Wire::Anthropic, "scripted", 4);
    let mut compacted = 0;
    for _ in 0..60 {
        talk.answered(800);
        let headers = [
            ("x-epitome-store", "no"),
            ("content-type", "application/json"),
        ];
        let body = talk.request().to_string();
        let received = client::send(
            rig.proxy.address,
            &Method::POST,
            talk.wire.path(),
            &headers,
            body.into(),
        )
        .await
        .unwrap();
        assert_eq!(received.status, 200);
        compacted += usize::from(action(&received).0 == "compacted");
    }
    assert!(compacted > 3, "{compacted}");
    for request in rig.model.requests() {
        let names = request.headers.keys().map(|name| name.as_str().to_owned());
        assert_eq!(
            names.filter(|name| name.starts_with("x-epitome")).count(),
            0
        );
    }
    rig.proxy.stop().await;
    let store = folder.open().await;
    let tenant = TenantId::local();
    assert!(store.conversations(&tenant, 10).await.unwrap().is_empty());
}

/// A pin that was dropped, as `epitome pins --drop` does it, is dropped in what branches off too, and only there where a
/// branch dropped it.
pub(super) async fn a_dropped_pin_is_dropped_in_its_branches() {
    const WRONG: &str = "Never trust the old harbour map.";
    let folder = Folder::new();
    let rig = Rig::start(server(200_000), |config| {
        config.store = folder.location();
        config.window_tokens = Some(WINDOW);
    })
    .await;
    let tenant = TenantId::local();
    let store = folder.open().await;
    let carries = |outcome: &Outcome| {
        let summary = outcome.summary().expect("it does not fit without");
        let message: Value = serde_json::from_str(&summary).unwrap();
        let text = message["content"].as_str().expect("a text");
        let pins = epitome::Earlier::read(text).expect("a summary").pins;
        pins.iter().any(|pin| pin == WRONG)
    };
    let mut trunk = Talk::new(Wire::OpenaiChat, "scripted", 8);
    trunk.answered(400);
    trunk.messages.push(crate::support::assistant("Good."));
    let rules = format!("{WRONG} Always answer in short sentences.");
    trunk.messages.push(crate::support::user(rules));
    for _ in 0..110 {
        trunk.answered(400);
    }
    let first = rig.ask(&trunk).await;
    assert!(carries(&first));
    // The client goes back a good way and goes on from there.
    let mut branch = trunk.clone();
    let there = branch.messages.len() - 12;
    branch.messages.truncate(there);
    for _ in 0..8 {
        branch.answered(390);
    }
    let second = rig.ask(&branch).await;
    assert_ne!(first.conversation(), second.conversation());
    assert!(carries(&second));
    let mark = async |session: String, mark: PinMark| {
        let row = PinRow {
            conversation: ConversationId::new(&session).unwrap(),
            text: WRONG.to_owned(),
            mark,
            at_ms: 1,
        };
        // Entries are written behind the requests.
        while store
            .conversation(&tenant, &row.conversation)
            .await
            .unwrap()
            .is_none()
        {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        store.mark_pin(&tenant, &row).await.unwrap();
    };
    // In the branch only.
    trunk.answered(390);
    branch.answered(390);
    mark(second.conversation(), PinMark::Dropped).await;
    assert!(carries(&rig.ask(&trunk).await));
    assert!(!carries(&rig.ask(&branch).await));
    assert!(carries(&rig.ask(&trunk).await));
    mark(second.conversation(), PinMark::Restored).await;
    assert!(carries(&rig.ask(&branch).await));
    // In the trunk, and in a branch that begins later.
    mark(first.conversation(), PinMark::Dropped).await;
    assert!(!carries(&rig.ask(&trunk).await));
    let mut late = trunk.clone();
    late.messages.truncate(there - 12);
    for _ in 0..24 {
        late.answered(395);
    }
    let third = rig.ask(&late).await;
    assert_ne!(first.conversation(), third.conversation());
    assert!(!carries(&third));
    for _ in 0..5 {
        late.answered(395);
        assert!(!carries(&rig.ask(&late).await));
    }
}
