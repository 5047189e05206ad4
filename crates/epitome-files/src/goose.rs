//! Goose's sessions: a header and one message per line, or the document that its export writes.
//!
//! Whom a message is for stands in its `metadata`. When Goose compacts, it hides what went from the model and puts in a
//! message that only the model sees.

use std::io::{BufRead, Seek};

use epitome::{Block, FileOperations, Message, ResultPart, Role};
use epitome_wire::json::{self, Kind, Value};

use crate::blocks::{arguments, call, flat_text, medium, parts, result, said, thinking};
use crate::document::{Part, Wanted, items_of};
use crate::error::ReadError;
use crate::event::{Event, Kept, Origin, Recorded, RecordedKind};
use crate::lines::{Lines, entries, rewind};
use crate::position::Position;
use crate::problem::{Problem, ProblemCode};

const WANTED: Wanted = Wanted {
    lists: &["conversation", "messages"],
    members: &["id", "working_dir"],
};
/// What the header of a file of lines has, and no message.
const HEADER: &str = "working_dir";
/// What is between the client and the user.
const ASIDES: &[&str] = &[
    "toolConfirmationRequest",
    "actionRequired",
    "systemNotification",
    "conversationCompacted",
    "summarizationRequested",
    "contextLengthExceeded",
];

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    let is_lines = is_lines(source)?;
    rewind(source)?;
    emit(Event::Conversation);
    let mut reader = Reader::default();
    if is_lines {
        return entries(source, emit, |entry, emit| {
            let origin = Origin {
                id: entry.value.string("id").map(|id| id.into()),
                entry: entry.number,
                position: entry.position,
                at_ms: None,
            };
            match entry.value.string(HEADER) {
                Some(folder) => emit(Event::Folder(folder.into_owned())),
                None => reader.message(&entry.value, entry.bytes, &origin, emit),
            }
        });
    }
    items_of(
        source,
        &WANTED,
        emit,
        |part, value, position, emit| match part {
            Part::Member { name, .. } => {
                if let Some(text) = value.as_text() {
                    let text = text.decode().into_owned();
                    emit(match *name {
                        "id" => Event::Id(text),
                        _ => Event::Folder(text),
                    });
                }
            }
            Part::Item { value: bytes, .. } => {
                let origin = Origin {
                    id: value.string("id").map(|id| id.into()),
                    position,
                    ..Origin::default()
                };
                reader.message(value, bytes, &origin, emit);
            }
        },
    )
}

/// Whether the first line is an object of its own.
fn is_lines<R: BufRead>(source: &mut R) -> Result<bool, ReadError> {
    let mut lines = Lines::new(source);
    let first = lines.next_line()?;
    Ok(first.is_some_and(|line| {
        json::read(line.bytes).is_ok_and(|value| {
            matches!(value.kind, Kind::Object(_)) && value.get("conversation").is_none()
        })
    }))
}

/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    Both,
    OnlyModel,
    NotModel,
}

impl Audience {
    fn of(message: &Value<'_>) -> Self {
        let is_for = |name: &str| {
            let metadata = message.get("metadata");
            let flag = metadata.and_then(|metadata| metadata.get(name));
            flag.is_none_or(|flag| flag.kind != Kind::Bool(false))
        };
        match (is_for("agentVisible"), is_for("userVisible")) {
            (false, _) => Self::NotModel,
            (true, false) => Self::OnlyModel,
            (true, true) => Self::Both,
        }
    }
}

#[derive(Default)]
struct Reader {
    messages: usize,
    /// Whether what stands last is hidden from the model.
    is_hidden: bool,
}

impl Reader {
    fn message(
        &mut self,
        value: &Value<'_>,
        bytes: &[u8],
        origin: &Origin,
        emit: &mut dyn FnMut(Event),
    ) {
        let role = match value.string("role").as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            other => {
                let role = other.unwrap_or_default();
                return emit(Event::Problem(Problem::new(
                    ProblemCode::UnreadableEntry,
                    origin.position,
                    format!("a message of the unknown role {role:?} is left out"),
                )));
            }
        };
        let found = messages(value, role, bytes, origin.position, emit);
        if found.is_empty() {
            return;
        }
        let audience = Audience::of(value);
        let was_hidden = std::mem::replace(&mut self.is_hidden, audience == Audience::NotModel);
        if was_hidden && audience != Audience::NotModel {
            let summary = match audience {
                Audience::OnlyModel => found.iter().map(flat_text).collect::<Vec<_>>().join("\n"),
                _ => String::new(),
            };
            let has_summary = !summary.is_empty();
            emit(self.compaction(summary, origin));
            if has_summary {
                return;
            }
        }
        for message in found {
            self.messages += 1;
            emit(Event::Message {
                message,
                origin: origin.clone(),
            });
        }
    }

    fn compaction(&self, summary: String, origin: &Origin) -> Event {
        Event::Compaction(Recorded {
            kind: match summary.is_empty() {
                true => RecordedKind::Reset,
                false => RecordedKind::Summary,
            },
            at: self.messages,
            summary,
            kept: Kept::Nothing,
            tokens_before: None,
            trigger: None,
            files: FileOperations::default(),
            origin: origin.clone(),
        })
    }
}

/// The messages that one of Goose's is: results are its user's, and ours are a tool's.
fn messages(
    value: &Value<'_>,
    role: Role,
    bytes: &[u8],
    position: Position,
    emit: &mut dyn FnMut(Event),
) -> Vec<Message> {
    let mut out = Vec::new();
    let mut blocks = Vec::new();
    for block in value.get("content").map_or(&[][..], Value::items) {
        let kind = block.string("type").unwrap_or_default();
        match &*kind {
            "text" => {
                let text = block.string("text").unwrap_or_default();
                if !text.is_empty() {
                    blocks.push(said(text.into_owned(), role));
                }
            }
            "thinking" | "redactedThinking" => blocks.push(thinking(block)),
            "toolRequest" | "frontendToolRequest" => blocks.push(request(block, bytes)),
            "toolResponse" => out.push(response(block, bytes)),
            aside if ASIDES.contains(&aside) => emit(Event::Aside {
                kind: aside.to_owned(),
            }),
            other => match medium(block) {
                Some(media) => blocks.push(Block::Media(media)),
                None => {
                    emit(Event::Problem(Problem::new(
                        ProblemCode::UnknownEntry,
                        position,
                        format!("content of the unknown kind {other:?} is kept as its size"),
                    )));
                    blocks.push(Block::opaque(block.range.len()));
                }
            },
        }
    }
    let is_seen = blocks
        .iter()
        .any(|block| !matches!(block, Block::Thinking { .. }));
    if is_seen {
        out.push(Message { role, blocks });
    }
    out
}

fn request(block: &Value<'_>, bytes: &[u8]) -> Block {
    let id = block.string("id").unwrap_or_default();
    let asked = block.get("toolCall").or_else(|| block.get("tool_call"));
    let Some(value) = asked.and_then(|asked| asked.get("value")) else {
        // A call that could not be read: what was wrong with it stands in its place.
        let error = asked.and_then(|asked| asked.string("error"));
        return call(&id, "unreadable_call", error.unwrap_or_default().into());
    };
    let name = value.string("name").unwrap_or_default();
    call(&id, &name, arguments(value.get("arguments"), bytes))
}

fn response(block: &Value<'_>, bytes: &[u8]) -> Message {
    let id = block.string("id").unwrap_or_default();
    let given = block.get("toolResult").or_else(|| block.get("tool_result"));
    let Some(value) = given.and_then(|given| given.get("value")) else {
        let error = given.and_then(|given| given.string("error"));
        let error = ResultPart::Text(error.unwrap_or_default().into_owned());
        return result(&id, vec![error], true);
    };
    // Earlier versions wrote the parts alone.
    let content = match &value.kind {
        Kind::Array(_) => Some(value),
        _ => value.get("content"),
    };
    let has_failed = matches!(value.get("isError"), Some(flag) if flag.kind == Kind::Bool(true));
    result(&id, parts(content, bytes), has_failed)
}
