//! What is written reads back equal, and a compaction behind a file rebuilds the context that its format's rules give.

use std::io::Cursor;

use epitome::{
    Block, Call, FileOperations, Media, Message, ResultPart, Role, ToolFailure, ToolResult,
};
use epitome_files::{
    Context, Conversation, FileFormat, Kept, LossCode, NewCompaction, Origin, Recorded,
    RecordedKind, Stamp, Transcript, appended, carried, chat_messages, write_file,
};
use epitome_testkit::Random;
use epitome_testkit::cases::property;
use epitome_testkit::data::{data, files};

const STAMP: Stamp<'_> = Stamp {
    session_id: "5aa69cdb-42d7-48df-9377-3887a4cff539",
    folder: "/work",
    time_ms: 1_771_996_735_852,
};
const WRITTEN: [FileFormat; 4] = [
    FileFormat::Pi,
    FileFormat::ClaudeCode,
    FileFormat::Codex,
    FileFormat::Unified,
];

fn read(bytes: &[u8], format: FileFormat) -> Transcript {
    Transcript::collect(&mut Cursor::new(bytes), format).unwrap()
}

/// A compaction without where it stands.
fn facts(recorded: &Recorded) -> Recorded {
    Recorded {
        origin: Origin::default(),
        ..recorded.clone()
    }
}

/// Writes a conversation, finds out what the file is, reads it back and compares.
fn reads_back_equal(conversation: &Conversation, format: FileFormat) {
    let (expected, losses) = carried(conversation, format).unwrap();
    let written = write_file(conversation, format, STAMP).unwrap();
    assert_eq!(losses, written.losses);
    if losses.is_empty() && format != FileFormat::Unified && format != FileFormat::Codex {
        let visible = |conversation: &Conversation| chat_messages(&conversation.messages);
        assert_eq!(visible(&expected), visible(conversation), "{format}");
    }
    if expected.messages.is_empty() {
        return;
    }
    assert_eq!(FileFormat::sniff(&written.bytes), Some(format));
    let transcript = read(&written.bytes, format);
    assert_eq!(transcript.problems.kept, [], "{format}");
    assert_eq!(transcript.conversations.len(), 1);
    let again = &transcript.conversations[0];
    for (at, (ours, theirs)) in again.messages.iter().zip(&expected.messages).enumerate() {
        assert_eq!(ours, theirs, "{format}: message {at}");
    }
    assert_eq!(again.messages.len(), expected.messages.len(), "{format}");
    if format == FileFormat::Pi {
        // A reset tells nothing of files.
        assert!(
            losses
                .iter()
                .all(|loss| loss.code != LossCode::FileOperations)
        );
    }
    let ours: Vec<Recorded> = again.compactions.iter().map(facts).collect();
    let theirs: Vec<Recorded> = expected.compactions.iter().map(facts).collect();
    assert_eq!(ours, theirs, "{format}");
    assert_eq!(again.context(), expected.context(), "{format}");
}

fn text(random: &mut Random) -> String {
    const TEXTS: [&str; 8] = [
        "look at src/main.rs",
        " indented\n",
        "\u{1F600} \"quoted\" \\ back",
        "",
        "tab\tand\u{1}control",
        "<system-reminder>be kind</system-reminder>",
        "two\n\nparagraphs\r\n",
        "Ünïcödé \u{2028}",
    ];
    TEXTS[random.below(TEXTS.len())].to_owned()
}

fn said(text: String, role: Role) -> Block {
    if role == Role::User && text.starts_with("<system-reminder>") {
        Block::Injected(text)
    } else {
        Block::Text(text)
    }
}

fn result(random: &mut Random, id: &str) -> Message {
    let mut parts: Vec<ResultPart> = (0..random.below(3))
        .map(|_| ResultPart::Text(text(random)))
        .collect();
    if random.below(12) == 0 {
        parts.push(ResultPart::Media(Media {
            kind: "image".to_owned(),
            tokens: 1_600,
        }));
    }
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: id.into(),
            parts,
            is_error: random.below(4) == 0,
        })],
    }
}

/// Conversations of every kind that a file can hold, odd ones included.
fn conversation(random: &mut Random, size: usize) -> Conversation {
    const ARGUMENTS: [&str; 5] = [
        r#"{"a": [1, 2.50, "x"]}"#,
        "{}",
        "*** Begin Patch",
        "",
        "[1]",
    ];
    let mut messages = Vec::new();
    for number in 0..size {
        let texts = |random: &mut Random, role: Role| -> Vec<Block> {
            (0..random.below(3))
                .map(|_| said(text(random), role))
                .collect()
        };
        match random.below(6) {
            0 => messages.push(Message {
                role: Role::System,
                blocks: texts(random, Role::System),
            }),
            1 | 2 => messages.push(Message {
                role: Role::User,
                blocks: texts(random, Role::User),
            }),
            _ => {
                let mut blocks = texts(random, Role::Assistant);
                if random.below(4) == 0 {
                    blocks.insert(0, Block::Thinking { chars: 7 });
                }
                let ids: Vec<String> = (0..random.below(3))
                    .map(|call| format!("call_{number}_{call}"))
                    .collect();
                for id in &ids {
                    let arguments = ARGUMENTS[random.below(ARGUMENTS.len())];
                    let (id, name) = (id.as_str(), "read_file");
                    blocks.push(Block::Call(Call::new(id, name, arguments)));
                }
                messages.push(Message {
                    role: Role::Assistant,
                    blocks,
                });
                for id in &ids {
                    if random.below(8) > 0 {
                        messages.push(result(random, id));
                    }
                }
            }
        }
    }
    let mut ends: Vec<usize> = (0..random.below(3))
        .map(|_| random.below(messages.len() + 1))
        .collect();
    ends.sort_unstable();
    let compactions = ends
        .into_iter()
        .map(|at| (at, random.below(6) == 0, random.below(3)))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|(at, is_reset, kept)| Recorded {
            kind: if is_reset {
                RecordedKind::Reset
            } else {
                RecordedKind::Summary
            },
            at,
            summary: text(random),
            kept: match kept {
                0 => Kept::Nothing,
                1 => Kept::From(random.below(at + 1)),
                _ if is_reset => Kept::Nothing,
                _ => Kept::Replaced(messages.iter().take(2).cloned().collect()),
            },
            tokens_before: (random.below(2) == 0).then_some(1_234),
            trigger: (random.below(2) == 0).then(|| "auto".to_owned()),
            files: FileOperations {
                read_files: vec!["src/a.rs".to_owned()],
                tool_failures: vec![ToolFailure {
                    tool_name: "bash".to_owned(),
                    summary: "\"no\"".to_owned(),
                }],
                ..FileOperations::default()
            },
            origin: Origin::default(),
        })
        .collect();
    Conversation {
        id: Some("the-session".to_owned()),
        origins: vec![Origin::default(); messages.len()],
        messages,
        compactions,
        ..Conversation::default()
    }
}

#[test]
fn what_is_written_reads_back_equal() {
    property(4, 12, |random, size| {
        let conversation = conversation(random, size + 1);
        for format in WRITTEN {
            reads_back_equal(&conversation, format);
        }
    });
}

#[test]
fn recorded_sessions_read_back_equal_in_every_format() {
    let Some(folder) = data("files_write", "native") else {
        return;
    };
    for (name, extension) in [
        ("pi", "jsonl"),
        ("claude-code", "jsonl"),
        ("codex", "jsonl"),
        ("copilot-cli", "jsonl"),
        ("gemini-cli", "json"),
        ("openhands", "json"),
        ("swe-agent", "traj"),
        ("tau-bench", "json"),
        ("tau2-bench", "json"),
        ("aider", "md"),
    ] {
        for path in files(&folder.join(name), extension) {
            let bytes = std::fs::read(&path).unwrap();
            let transcript = read(&bytes, FileFormat::sniff(&bytes).unwrap());
            let is_said = |conversation: &&Conversation| !conversation.messages.is_empty();
            for conversation in transcript.conversations.iter().filter(is_said).take(5) {
                for format in WRITTEN {
                    reads_back_equal(conversation, format);
                }
            }
        }
    }
}

#[test]
fn times_are_written_as_dates() {
    for (time_ms, date) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_771_996_735_852, "2026-02-25T05:18:55.852Z"),
    ] {
        let stamp = Stamp { time_ms, ..STAMP };
        let written = write_file(&Conversation::default(), FileFormat::Pi, stamp).unwrap();
        let header = String::from_utf8(written.bytes).unwrap();
        assert!(header.contains(date), "{header}");
    }
}

#[test]
fn a_read_only_format_is_not_written() {
    let error = write_file(&Conversation::default(), FileFormat::Aider, STAMP).unwrap_err();
    assert!(error.to_string().contains("aider"), "{error}");
}

/// Compacts by hand: a summary, and everything from `keep` messages before the end.
fn compacted(file: &[u8], format: FileFormat, summary: &str, keep: usize) -> (Vec<u8>, Context) {
    let transcript = read(file, format);
    let conversation = &transcript.conversations[0];
    let context = conversation.context();
    let there = context.sources.iter().rev().take_while(|at| at.is_some());
    let there = match format {
        // A history that replaces another may be replaced in its turn, whatever it is made of.
        FileFormat::Codex => context.messages.len(),
        _ => there.count(),
    };
    let from = context.messages.len() - keep.min(there);
    let system = context
        .messages
        .iter()
        .take_while(|message| message.role == Role::System)
        .count();
    let mut expected = Context::default();
    for at in 0..system {
        expected.messages.push(context.messages[at].clone());
        expected.sources.push(context.sources[at]);
    }
    expected.messages.push(Message::text(Role::User, summary));
    expected.sources.push(None);
    for at in from..context.messages.len() {
        expected.messages.push(context.messages[at].clone());
        expected.sources.push(context.sources[at]);
    }
    let files = FileOperations {
        read_files: vec!["src/a.rs".to_owned()],
        ..FileOperations::default()
    };
    let places: Vec<Option<usize>> = (0..system)
        .map(Some)
        .chain([None])
        .chain((from..context.messages.len()).map(Some))
        .collect();
    let new = NewCompaction {
        summary,
        first_kept: context
            .sources
            .get(from)
            .copied()
            .flatten()
            .unwrap_or(conversation.messages.len()),
        context: &expected.messages,
        places: &places,
        tokens_before: 100,
        tokens_after: 10,
        files: &files,
    };
    let file = appended(file, format, conversation, &new, STAMP).unwrap();
    (file, expected)
}

/// The positions of calls and results aside, because a new file has new ones.
fn same(context: &Context, expected: &Context, format: FileFormat) {
    if format == FileFormat::Codex {
        // Codex says again by itself what it said in the developer's role.
        let visible = |context: &Context| {
            let messages = context.messages.iter().enumerate();
            let shown = messages.filter(|(at, message)| *at == 0 || message.role != Role::System);
            chat_messages(shown.map(|(_, message)| message))
        };
        assert_eq!(visible(context), visible(expected));
    } else {
        assert_eq!(context, expected, "{format}");
    }
}

#[test]
fn a_compaction_behind_a_recorded_file_rebuilds_the_context_and_a_second_one_chains() {
    let Some(folder) = data("files_write", "native") else {
        return;
    };
    let mut paths = files(&folder.join("pi"), "jsonl");
    paths.extend(files(&folder.join("claude-code"), "jsonl"));
    paths.extend(files(&folder.join("codex"), "jsonl"));
    paths.extend(files(&folder.join("../unified"), "json"));
    for path in paths {
        let original = std::fs::read(&path).unwrap();
        let format = FileFormat::sniff(&original).unwrap();
        let whole = read(&original, format).conversations[0].messages.len();
        let (first, expected) = compacted(&original, format, "first summary", 6);
        if format != FileFormat::Unified {
            assert!(first.starts_with(&original), "{}", path.display());
        }
        let transcript = read(&first, format);
        let conversation = &transcript.conversations[0];
        assert_eq!(conversation.messages.len(), whole, "{}", path.display());
        same(&conversation.context(), &expected, format);
        // The second one is made of what the first one left.
        let (second, expected) = compacted(&first, format, "second summary", 2);
        let transcript = read(&second, format);
        let conversation = &transcript.conversations[0];
        assert_eq!(conversation.messages.len(), whole, "{}", path.display());
        same(&conversation.context(), &expected, format);
        let before = read(&original, format).conversations[0].compactions.len();
        assert_eq!(conversation.compactions.len(), before + 2);
    }
}
