use epitome::{Kept, Shown, Trim};

use epitome_store::{ChangeKind, ChangeRow, ConversationId};

use super::{
    ChainRecord, ChangePlace, ForkPlace, FrozenItem, FrozenView, LinkTrims, MadeFor, Record,
    Speaker, StoredTrim,
};

fn trim(shown: Shown) -> Trim {
    Trim {
        block: 1,
        part: 2,
        shown,
    }
}

/// Records outlive versions: the first form is read and written still.
#[test]
fn a_stored_trim_is_read_as_it_was_written() {
    let kept = |between: &[(usize, usize)]| {
        trim(Shown::Kept(Kept {
            head_chars: 30,
            between: between.iter().map(|(start, end)| *start..*end).collect(),
            tail_chars: 40,
        }))
    };
    for (trim, record) in [
        (kept(&[]), "[1,2,30,40]"),
        (kept(&[(50, 60), (70, 80)]), "[1,2,30,40,[[50,60],[70,80]]]"),
        (
            trim(Shown::Placeholder("[Left out: 7]".to_owned())),
            r#"[1,2,"[Left out: 7]"]"#,
        ),
    ] {
        let stored = StoredTrim::of(&trim);
        assert_eq!(serde_json::to_string(&stored).unwrap(), record);
        let read: StoredTrim = serde_json::from_str(record).unwrap();
        assert_eq!(read, stored);
        assert_eq!(read.trim(), trim);
    }
}

/// A record written before reports were kept is still an epoch.
#[test]
fn a_record_without_a_report_is_read() {
    let record = r#"{"covered_links":3,"task_in_head":true,"notes_cap_tokens":0,"summary_tokens":9,
        "trimmed_tokens":0,"trims":[],"reason":"hard_line","sources":[1]}"#;
    let Record::Chain(record) = Record::read(record).unwrap() else {
        panic!("not a record of a proxy");
    };
    assert_eq!(record.report, None);
    assert!(!record.write().unwrap().contains("report"));
}

/// A host may keep an object of its own; what it tells of the line is understood under three names.
#[test]
fn a_record_of_a_host_is_read() {
    for (text, hard_tokens) in [
        ("{}", None),
        (r#"{"reason":"window"}"#, None),
        (r#"{"hard_tokens":800}"#, Some(800)),
        (r#"{"hard_line_tokens":800,"by":"me"}"#, Some(800)),
        (r#"{"window_tokens":800}"#, Some(800)),
    ] {
        let record = Record::read(text).unwrap();
        assert!(matches!(record, Record::Other(_)), "{text}");
        assert_eq!(record.hard_tokens(), hard_tokens, "{text}");
        assert_eq!(record.written_by(), None);
        assert_eq!(Record::read(&record.write().unwrap()).unwrap(), record);
    }
}

/// What is wrong is said, with the place in the record, and what to do.
#[test]
fn what_cannot_be_read_says_why() {
    for (text, why) in [
        ("", "EOF"),
        ("not json", "expected"),
        ("[1]", "invalid"),
        (r#"{"covered_links":3}"#, "missing field `task_in_head`"),
        (r#"{"compaction":{},"shown":1}"#, "missing field `plan`"),
    ] {
        let error = Record::read(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
        assert!(error.contains("use that version"), "{error}");
    }
}

fn change(kind: ChangeKind, body: &str) -> ChangeRow {
    ChangeRow {
        conversation: ConversationId::new("talk").unwrap(),
        seq: 4,
        kind,
        compaction: None,
        body: body.to_owned(),
        at_ms: 1,
    }
}

#[test]
fn bodies_of_changes_are_read_as_they_were_written() {
    let place = ForkPlace {
        parent: "first".to_owned(),
        parent_entries: 9,
        parent_changes: 2,
        entries: 5,
    };
    let forked = change(ChangeKind::Forked, &place.write().unwrap());
    assert_eq!(ChangePlace::of(&forked).unwrap().entries, 5);
    let read = ForkPlace::of(std::slice::from_ref(&forked)).unwrap();
    assert_eq!(read, Some(place));
    let undone = change(ChangeKind::Undone, r#"{"entries":7}"#);
    assert_eq!(ChangePlace::of(&undone).unwrap().entries, 7);
    assert_eq!(ForkPlace::of(&[undone, forked]).unwrap(), None);
    assert_eq!(ForkPlace::of(&[]).unwrap(), None);
    for body in ["", "{}", r#"{"entries":"many"}"#] {
        let error = ChangePlace::of(&change(ChangeKind::Undone, body)).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("change 4 of conversation talk"), "{error}");
        assert!(ForkPlace::of(&[change(ChangeKind::Forked, body)]).is_err());
    }
}

#[test]
fn classes_are_read_as_they_were_written() {
    for (class, made_for, window_tokens) in [
        ("any", MadeFor::Any, None),
        ("window/30000", MadeFor::Window(30_000), Some(30_000)),
        ("output/30000", MadeFor::Output(30_000), Some(30_000)),
        ("refused/00000000000000ff", MadeFor::Refused(255), None),
    ] {
        assert_eq!(MadeFor::read(class), Some(made_for));
        assert_eq!(made_for.to_string(), class);
        assert_eq!(made_for.window_tokens(), window_tokens);
    }
    for class in ["", "session/talk/0", "window/", "window/x", "later/1"] {
        assert_eq!(MadeFor::read(class), None, "{class}");
    }
}

#[test]
fn what_shows_something_else_at_the_same_place_has_another_class() {
    let trimmed = |covered_links, link| ChainRecord {
        covered_links,
        trims: vec![LinkTrims {
            link,
            trims: vec![StoredTrim::Ends(0, 0, 40, 60)],
        }],
        ..ChainRecord::default()
    };
    let viewed = |covered_links, link| ChainRecord {
        covered_links,
        view: Some(FrozenView {
            items: vec![FrozenItem::Summary(Speaker::User)],
            from_link: covered_links,
            trims: vec![(link, vec![StoredTrim::Ends(0, 0, 40, 60)])],
            notes_cap_tokens: 0,
        }),
        ..ChainRecord::default()
    };
    let class = |record: &ChainRecord| MadeFor::Window(30_000).class_of(record);
    // Both end with the result at link 82, and the second covers more.
    for made in [trimmed, viewed] {
        assert_eq!(class(&made(63, 82)), "window/30000/covers/63");
        assert_eq!(class(&made(77, 82)), "window/30000/covers/77");
    }
    // Where nothing behind the span is touched the place says it all, as it always did.
    let plain = ChainRecord {
        covered_links: 77,
        ..ChainRecord::default()
    };
    assert_eq!(class(&plain), "window/30000");
    let read = MadeFor::read("window/30000/covers/77");
    assert_eq!(read, Some(MadeFor::Window(30_000)));
}
