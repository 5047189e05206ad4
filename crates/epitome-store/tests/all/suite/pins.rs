use epitome_store::{ConversationId, Error, PinMark, PinRow, Store};

use crate::fixtures::{chain, conversation, tenant};

fn pin(name: &str, text: &str, mark: PinMark, at_ms: i64) -> PinRow {
    PinRow {
        conversation: conversation(name),
        text: text.to_owned(),
        mark,
        at_ms,
    }
}

pub(crate) async fn pins_are_dropped_and_restored(store: impl Store) {
    let (tenant, theirs) = (tenant("t"), tenant("theirs"));
    let wrong = pin("c", "Use the red one.", PinMark::Dropped, 5);
    let error = store.mark_pin(&tenant, &wrong).await.unwrap_err();
    assert!(matches!(error, Error::Dangling(_)), "{error:?}");
    store.append(&tenant, &chain("c", &["a"], 0)).await.unwrap();
    let other = pin("c", "Always ask.", PinMark::Dropped, 3);
    for row in [&wrong, &other, &wrong] {
        store.mark_pin(&tenant, row).await.unwrap();
    }
    let marked = async || {
        store
            .marked_pins(&tenant, &conversation("c"))
            .await
            .unwrap()
    };
    assert_eq!(marked().await, [other.clone(), wrong.clone()]);
    assert_eq!(
        PinRow::dropped(marked().await),
        ["Always ask.", "Use the red one."]
    );
    let back = pin("c", "Use the red one.", PinMark::Restored, 4);
    store.mark_pin(&tenant, &back).await.unwrap();
    assert_eq!(marked().await, [other, back]);
    assert_eq!(PinRow::dropped(marked().await), ["Always ask."]);
    let none = store.marked_pins(&theirs, &conversation("c")).await;
    assert_eq!(none.unwrap(), []);
}

pub(crate) async fn forks_share_dropped_pins(store: impl Store) {
    let tenant = tenant("t");
    let parents = [
        ("root", None),
        ("child", Some("root")),
        ("leaf", Some("child")),
    ];
    for (name, parent) in parents {
        let mut append = chain(name, &[name], 0);
        append.conversation.parent = parent.map(conversation);
        store.append(&tenant, &append).await.unwrap();
    }
    let wrong = pin("root", "Use the red one.", PinMark::Dropped, 1);
    store.mark_pin(&tenant, &wrong).await.unwrap();
    let dropped = async |id: &ConversationId| {
        let rows = store.marked_pins(&tenant, id).await.unwrap();
        PinRow::dropped(rows)
    };
    for (name, _) in parents {
        assert_eq!(dropped(&conversation(name)).await, [wrong.text.as_str()]);
    }
    // A branch may say otherwise, for itself and for what branches off from it.
    let back = pin("child", "Use the red one.", PinMark::Restored, 2);
    store.mark_pin(&tenant, &back).await.unwrap();
    assert_eq!(dropped(&conversation("root")).await, [wrong.text.as_str()]);
    for name in ["child", "leaf"] {
        assert_eq!(dropped(&conversation(name)).await, [] as [&str; 0]);
    }
    assert_eq!(dropped(&conversation("nobody")).await, [] as [&str; 0]);
}
