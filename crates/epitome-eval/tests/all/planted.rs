use epitome_eval::{Entry, History, Method, Planted, PlantedTable, Session};

use crate::support::{assistant, user};

/// About 66,000 tokens.
fn session() -> Session {
    let text = "nothing of note happens in this line of the session\n".repeat(50);
    let turn = |_| [user("Go on."), assistant(&text)];
    Session {
        id: "cc-cli-0240bd7a".to_owned(),
        format: "test".to_owned(),
        messages: (0..100).flat_map(turn).collect::<Vec<Entry>>(),
        compactions: Vec::new(),
    }
}

#[test]
fn the_sentences_are_those_of_the_scripts() {
    let session = session();
    let planted = Planted::of(&session, &History::of(&session)).unwrap();
    let texts: Vec<&str> = planted.plants.iter().map(|p| p.text.as_str()).collect();
    assert_eq!(texts.len(), 10);
    assert_eq!(
        texts[..3],
        [
            "From now on run the checks with scripts/juniper_delta.sh before you commit.",
            "Keep the public signature of juniperAmber exactly as it is.",
            "From now on run the checks with scripts/juniper_garnet.sh before you commit.",
        ]
    );
    let depths: Vec<usize> = planted.plants.iter().map(|p| p.depth).collect();
    assert_eq!(depths, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
}

#[test]
fn truncation_loses_all_but_the_newest() {
    let session = session();
    let planted = Planted::of(&session, &History::of(&session)).unwrap();
    let methods = [Method::DropOldest, Method::MaskUsers];
    let survivors = methods
        .map(|method| planted.survivors(method, 4_000))
        .to_vec();
    let table = PlantedTable::of(4_000, &methods, &[survivors]);
    assert_eq!((table.sessions, table.constraints), (1, 10));
    assert!(
        table.lines[0].by_depth[..4]
            .iter()
            .all(|share| *share == 0.0)
    );
    assert!(table.lines[1].all > 0.9);
}

#[test]
fn short_sessions_are_left_out() {
    let session = Session {
        messages: vec![user("hello")],
        ..session()
    };
    assert!(Planted::of(&session, &History::of(&session)).is_none());
}
