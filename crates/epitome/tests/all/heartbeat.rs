use epitome::{
    Block, HEARTBEAT_OK, HEARTBEAT_SECTION, Media, Message, Role, heartbeat_exchanges,
    is_heartbeat_ok,
};

use crate::support::{assistant, calls, log_of, result, system, user};

const POLL: &str = "Read HEARTBEAT.md if it exists. Do not repeat old tasks. If nothing needs attention, reply HEARTBEAT_OK.";

/// A conversation whose third and fourth messages are `check` and `answer`.
fn found(check: Message, answer: Message) -> bool {
    let messages = [
        user("Fix the build."),
        assistant("Fixed."),
        check,
        answer,
        user("Go on."),
    ];
    let ranges = heartbeat_exchanges(&messages);
    assert!(ranges.iter().all(|range| *range == (2..4)), "{ranges:?}");
    !ranges.is_empty()
}

#[test]
fn the_word_and_nothing_else() {
    for text in [
        "HEARTBEAT_OK",
        " HEARTBEAT_OK\n",
        "**HEARTBEAT_OK**",
        "`HEARTBEAT_OK`.",
        "> _HEARTBEAT_OK_!",
        "✅ HEARTBEAT_OK",
    ] {
        assert!(is_heartbeat_ok(text), "{text}");
    }
    for text in [
        "",
        "heartbeat_ok",
        "HEARTBEAT_OK disk is full",
        "All fine. HEARTBEAT_OK",
        "HEARTBEAT_OK HEARTBEAT_OK",
        "HEARTBEAT_OKAY",
        "HEARTBEAT OK",
        "2 HEARTBEAT_OK",
    ] {
        assert!(!is_heartbeat_ok(text), "{text}");
    }
}

#[test]
fn checks_and_their_answers_are_found() {
    let messages = [
        user("Fix the build."),
        assistant("Fixed."),
        user(POLL),
        assistant(HEARTBEAT_OK),
        user("ping"),
        assistant("*HEARTBEAT_OK*"),
        user("And the tests?"),
        assistant("They pass."),
        user(POLL),
        assistant(HEARTBEAT_OK),
    ];
    assert_eq!(heartbeat_exchanges(&messages), [2..4, 4..6, 8..10]);
    let log = log_of(&messages);
    for range in heartbeat_exchanges(&messages) {
        assert!(log.is_cut(range.start) && (range.end == log.len() || log.is_cut(range.end)));
    }
    assert!(heartbeat_exchanges(&[]).is_empty());
    assert!(heartbeat_exchanges(&[assistant(HEARTBEAT_OK)]).is_empty());
}

#[test]
fn thinking_and_reminders_go_with_the_exchange() {
    let mut check = user("ping");
    check
        .blocks
        .push(Block::Injected("<system-reminder>".to_owned()));
    let mut answer = assistant(HEARTBEAT_OK);
    answer.blocks.insert(0, Block::Thinking { chars: 80 });
    assert!(found(check, answer));
}

#[test]
fn nothing_with_tools_media_or_unknown_blocks() {
    let with = |mut message: Message, block: Block| {
        message.blocks.push(block);
        message
    };
    let call = calls(&["a"]).blocks.remove(0);
    let returned = result("a", "x").blocks.remove(0);
    let image = Block::Media(Media {
        kind: "image".to_owned(),
        tokens: 10,
    });
    let opaque = Block::opaque(9);
    assert!(found(user(POLL), assistant(HEARTBEAT_OK)));
    assert!(!found(user(POLL), with(assistant(HEARTBEAT_OK), call)));
    assert!(!found(
        user(POLL),
        with(assistant(HEARTBEAT_OK), opaque.clone())
    ));
    assert!(!found(with(user(POLL), returned), assistant(HEARTBEAT_OK)));
    assert!(!found(with(user(POLL), image), assistant(HEARTBEAT_OK)));
    assert!(!found(with(user(POLL), opaque), assistant(HEARTBEAT_OK)));
    assert!(!found(
        user(POLL),
        with(assistant(HEARTBEAT_OK), Block::Text("But look.".to_owned()))
    ));
    assert!(!found(system(POLL), assistant(HEARTBEAT_OK)));
    assert!(!found(user(POLL), user(HEARTBEAT_OK)));
    let late = [
        user("x"),
        calls(&["a"]),
        user(POLL),
        assistant(HEARTBEAT_OK),
        result("a", "y"),
    ];
    assert!(
        heartbeat_exchanges(&late).is_empty(),
        "no legal cut behind it"
    );
    let looked = [
        user("x"),
        assistant("y"),
        user(POLL),
        calls(&["a"]),
        result("a", "y"),
        assistant(HEARTBEAT_OK),
    ];
    assert!(
        heartbeat_exchanges(&looked).is_empty(),
        "it looked at something"
    );
}

#[test]
fn a_task_or_a_rule_is_no_check() {
    let opening = [user("Watch the disk and report."), assistant(HEARTBEAT_OK)];
    assert!(heartbeat_exchanges(&opening).is_empty());
    let polled = [system("s"), user(POLL), assistant(HEARTBEAT_OK)];
    assert_eq!(
        heartbeat_exchanges(&polled),
        std::iter::once(1..3).collect::<Vec<_>>()
    );
    assert!(!found(
        user("Never restart the database."),
        assistant(HEARTBEAT_OK)
    ));
}

#[test]
fn the_section_names_the_word() {
    assert!(HEARTBEAT_SECTION.contains(HEARTBEAT_OK));
    assert_eq!(
        Message::text(Role::System, HEARTBEAT_SECTION).blocks.len(),
        1
    );
}
