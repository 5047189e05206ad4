//! Damaged session files: what can be saved is saved, and what was whole stays as it was.

use std::io::Cursor;

use epitome::{Block, Call, Message, ResultPart, Role, ToolResult};
use epitome_files::{
    Conversation, FileFormat, NO_RESULT, RepairError, Stamp, Transcript, repaired, write_file,
};

const STAMP: Stamp<'static> = Stamp {
    session_id: "session",
    folder: "/",
    time_ms: 1_000,
};
const WRITTEN: [FileFormat; 4] = [
    FileFormat::Pi,
    FileFormat::ClaudeCode,
    FileFormat::Codex,
    FileFormat::Unified,
];

fn call(id: &str) -> Block {
    Block::Call(Call::new(id, "read", "{}"))
}

fn result(id: &str, text: &str) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: id.into(),
            parts: vec![ResultPart::Text(text.to_owned())],
            is_error: false,
        })],
    }
}

fn assistant(blocks: Vec<Block>) -> Message {
    Message {
        role: Role::Assistant,
        blocks,
    }
}

fn file(messages: &[Message], format: FileFormat) -> Vec<u8> {
    let conversation = Conversation {
        messages: messages.to_vec(),
        ..Conversation::default()
    };
    write_file(&conversation, format, STAMP).unwrap().bytes
}

fn messages(bytes: &[u8], format: FileFormat) -> Vec<Message> {
    let transcript = Transcript::collect(&mut Cursor::new(bytes), format).unwrap();
    transcript.conversations[0].messages.clone()
}

fn whole() -> Vec<Message> {
    vec![
        Message::text(Role::User, "Read both."),
        assistant(vec![call("a"), call("b")]),
        result("a", "one"),
        result("b", "two"),
        assistant(vec![Block::Text("Done.".to_owned())]),
    ]
}

#[test]
fn what_is_whole_comes_back_byte_for_byte() {
    for format in WRITTEN {
        let bytes = file(&whole(), format);
        let repaired = repaired(&bytes, format, STAMP).unwrap();
        assert_eq!(repaired.bytes, bytes, "{format}");
        assert_eq!(repaired.done.total(), 0, "{format}");
    }
}

#[test]
fn a_line_that_cannot_be_read_goes_and_the_others_stay_as_they_are() {
    for format in [FileFormat::Pi, FileFormat::ClaudeCode, FileFormat::Codex] {
        let bytes = file(&whole(), format);
        let text = String::from_utf8(bytes.clone()).unwrap();
        for damaged in [
            format!("{text}{{\"type\":\"mess"),
            format!("{text}not json at all\n"),
            format!("{text}[1, 2]\n"),
        ] {
            let repaired = repaired(damaged.as_bytes(), format, STAMP).unwrap();
            assert_eq!(repaired.bytes, bytes, "{format}: {damaged}");
            assert_eq!(repaired.done.total(), 1, "{format}");
        }
    }
}

#[test]
fn calls_and_results_are_paired_again() {
    let cases: [(&str, Vec<Message>, Vec<Message>); 4] = [
        (
            "an orphan",
            vec![
                Message::text(Role::User, "Hi."),
                result("nobody", "lost"),
                assistant(vec![Block::Text("Hello.".to_owned())]),
            ],
            vec![
                Message::text(Role::User, "Hi."),
                assistant(vec![Block::Text("Hello.".to_owned())]),
            ],
        ),
        (
            "no answer",
            vec![
                Message::text(Role::User, "Hi."),
                assistant(vec![call("a")]),
                Message::text(Role::User, "Well?"),
            ],
            vec![
                Message::text(Role::User, "Hi."),
                assistant(vec![call("a")]),
                {
                    let mut message = result("a", NO_RESULT);
                    if let Block::Result(result) = &mut message.blocks[0] {
                        result.is_error = true;
                    }
                    message
                },
                Message::text(Role::User, "Well?"),
            ],
        ),
        (
            "two answers",
            vec![
                Message::text(Role::User, "Hi."),
                assistant(vec![call("a")]),
                result("a", "one"),
                result("a", "again"),
            ],
            vec![
                Message::text(Role::User, "Hi."),
                assistant(vec![call("a")]),
                result("a", "one"),
            ],
        ),
        (
            "an id used twice",
            vec![
                Message::text(Role::User, "Hi."),
                assistant(vec![call("a")]),
                result("a", "one"),
                assistant(vec![call("a")]),
                result("a", "two"),
            ],
            vec![
                Message::text(Role::User, "Hi."),
                assistant(vec![call("a")]),
                result("a", "one"),
                assistant(vec![call("a-2")]),
                result("a-2", "two"),
            ],
        ),
    ];
    for (name, damaged, expected) in cases {
        for format in WRITTEN {
            let bytes = file(&damaged, format);
            let once = repaired(&bytes, format, STAMP).unwrap();
            if once.bytes == bytes {
                // Some formats cannot even say it wrong.
                assert_ne!(messages(&bytes, format), damaged, "{name} in {format}");
                continue;
            }
            assert_eq!(
                messages(&once.bytes, format),
                expected,
                "{name} in {format}"
            );
            let twice = repaired(&once.bytes, format, STAMP).unwrap();
            assert_eq!(
                twice.bytes, once.bytes,
                "{name} in {format}: once is enough"
            );
            assert_eq!(twice.done.total(), 0, "{name} in {format}");
        }
    }
}

#[test]
fn a_broken_tree_is_one_conversation_again() {
    let text = String::from_utf8(file(&whole(), FileFormat::Pi)).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    // The entry that the third hangs on is gone.
    lines.remove(2);
    let damaged = lines.join("\n") + "\n";
    let repaired_file = repaired(damaged.as_bytes(), FileFormat::Pi, STAMP).unwrap();
    let again = repaired(&repaired_file.bytes, FileFormat::Pi, STAMP).unwrap();
    assert_eq!(again.done.total(), 0);
    assert!(repaired_file.done.total() > 0);
    let said = messages(&repaired_file.bytes, FileFormat::Pi);
    assert!(said.contains(&assistant(vec![Block::Text("Done.".to_owned())])));
}

#[test]
fn a_format_that_is_only_read_says_so() {
    let damaged = br#"{"trajectory":[],"history":[{"role":"user","content":"a"},{"role":"tool","content":"x","tool_call_ids":["c"]}],"info":{}}"#;
    let outcome = repaired(damaged, FileFormat::SweAgent, STAMP);
    assert!(
        matches!(outcome, Err(RepairError::Unwritable(_))),
        "{outcome:?}"
    );
}
