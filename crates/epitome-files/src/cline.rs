//! The tasks of Cline and Roo Code: `api_conversation_history.json`, a list of messages in the form of Anthropic's, which
//! later versions of Roo wrap and write in the form of the AI SDK. `ui_messages.json`, what the window showed, is read as
//! far as somebody said something in it.

use std::collections::HashSet;
use std::io::{BufRead, Seek};

use epitome::{Block, FileOperations, Message, ResultPart, Role};
use epitome_wire::json::{Kind, Value};

use crate::blocks::{arguments, call, flat_text, medium, parts, result, said, thinking};
use crate::document::{Part, Wanted, items_of};
use crate::error::ReadError;
use crate::event::{Event, Kept, Origin, Recorded, RecordedKind};
use crate::position::Position;
use crate::problem::{Problem, ProblemCode};

const WANTED: Wanted = Wanted {
    lists: &["messages"],
    members: &[],
};
/// What the user typed into the window.
const TYPED: &[&str] = &["task", "user_feedback", "user_feedback_diff"];
/// What the model said in it.
const SAID: &[&str] = &["text", "completion_result"];

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    emit(Event::Conversation);
    let mut reader = Reader::default();
    items_of(source, &WANTED, emit, |part, value, position, emit| {
        if let Part::Item { value: bytes, .. } = part {
            reader.item(value, bytes, position, emit);
        }
    })
}

#[derive(Default)]
struct Reader {
    messages: usize,
    /// The summaries that messages say they were replaced by.
    replaced_by: HashSet<String>,
}

impl Reader {
    fn item(
        &mut self,
        value: &Value<'_>,
        bytes: &[u8],
        position: Position,
        emit: &mut dyn FnMut(Event),
    ) {
        let origin = Origin {
            position,
            ..Origin::default()
        };
        let role = match value.string("role").as_deref() {
            Some("user" | "tool") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => return self.shown(value, &origin, emit),
        };
        if let Some(parent) = value.string("condenseParent") {
            self.replaced_by.insert(parent.into_owned());
        }
        if is_true(value, "isTruncationMarker") {
            return emit(aside("truncation_marker"));
        }
        let found = messages(value, role, bytes);
        let condensed = value
            .string("condenseId")
            .filter(|id| self.replaced_by.contains(&**id));
        if is_true(value, "isSummary") && condensed.is_some() {
            let summary: Vec<String> = found.iter().map(flat_text).collect();
            return emit(Event::Compaction(Recorded {
                kind: RecordedKind::Summary,
                at: self.messages,
                summary: summary.join("\n"),
                kept: Kept::Nothing,
                tokens_before: None,
                trigger: None,
                files: FileOperations::default(),
                origin,
            }));
        }
        for message in found {
            self.push(message, &origin, emit);
        }
    }

    /// An entry of what the window showed, or of reasoning that only its provider can read.
    fn shown(&mut self, value: &Value<'_>, origin: &Origin, emit: &mut dyn FnMut(Event)) {
        let text = value.string("text").filter(|text| !text.trim().is_empty());
        let kind = value.string("type").unwrap_or_default();
        let say = value.string("say").unwrap_or_default();
        let role = match &*kind {
            "say" if TYPED.contains(&&*say) => Role::User,
            "say" if SAID.contains(&&*say) => Role::Assistant,
            "say" => return emit(aside(&format!("say.{say}"))),
            "ask" => {
                let ask = value.string("ask").unwrap_or_default();
                return emit(aside(&format!("ask.{ask}")));
            }
            "reasoning" => return emit(aside("reasoning")),
            other => {
                return emit(Event::Problem(Problem::new(
                    ProblemCode::UnknownEntry,
                    origin.position,
                    format!("an entry of the unknown kind {other:?} is left out"),
                )));
            }
        };
        match text {
            // The first text is the task once more.
            Some(text) if say == "text" && self.messages == 0 => {
                let message = Message::text(Role::User, text.into_owned());
                self.push(message, origin, emit);
            }
            Some(text) => {
                self.push(Message::text(role, text.into_owned()), origin, emit);
            }
            None => emit(aside(&format!("say.{say}"))),
        }
    }

    fn push(&mut self, message: Message, origin: &Origin, emit: &mut dyn FnMut(Event)) {
        self.messages += 1;
        emit(Event::Message {
            message,
            origin: origin.clone(),
        });
    }
}

/// The messages that one of the list is: results are its user's, and ours are a tool's.
fn messages(value: &Value<'_>, role: Role, bytes: &[u8]) -> Vec<Message> {
    let mut out = Vec::new();
    let mut blocks = Vec::new();
    let content = value.get("content");
    if let Some(text) = content.and_then(Value::as_text) {
        blocks.push(said(text.decode().into_owned(), role));
    }
    for block in content.map_or(&[][..], Value::items) {
        match block.string("type").as_deref() {
            Some("text") => {
                let text = block.string("text").unwrap_or_default();
                if !text.is_empty() {
                    blocks.push(said(text.into_owned(), role));
                }
            }
            Some("tool_use" | "tool-call") => {
                let id = block.string("id").or_else(|| block.string("toolCallId"));
                let name = block.string("name").or_else(|| block.string("toolName"));
                let given = block.get("input").or_else(|| block.get("args"));
                let given = arguments(given, bytes);
                blocks.push(call(
                    &id.unwrap_or_default(),
                    &name.unwrap_or_default(),
                    given,
                ));
            }
            Some("tool_result" | "tool-result") => out.push(output(block, bytes)),
            Some("thinking" | "redacted_thinking") => blocks.push(thinking(block)),
            Some("reasoning") => blocks.push(Block::Thinking {
                chars: block.string("text").map_or(0, |text| text.chars().count()),
            }),
            _ => blocks
                .push(medium(block).map_or_else(|| Block::opaque(block.range.len()), Block::Media)),
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

fn output(block: &Value<'_>, bytes: &[u8]) -> Message {
    let id = block
        .string("tool_use_id")
        .or_else(|| block.string("toolCallId"));
    let given = match (block.get("content"), block.get("output")) {
        (Some(content), _) => parts(Some(content), bytes),
        // The AI SDK says of what kind an output is, and then what it is.
        (None, Some(output)) => match output.get("value") {
            Some(value) => parts(Some(value), bytes),
            None => parts(Some(output), bytes),
        },
        (None, None) => Vec::new(),
    };
    let is_error = |part: &ResultPart| matches!(part, ResultPart::Text(text) if text.trim_start().starts_with("[ERROR]"));
    let has_failed = is_true(block, "is_error")
        || (block.get("output").is_some() && given.first().is_some_and(is_error));
    result(&id.unwrap_or_default(), given, has_failed)
}

fn is_true(value: &Value<'_>, name: &str) -> bool {
    matches!(value.get(name), Some(flag) if flag.kind == Kind::Bool(true))
}

fn aside(kind: &str) -> Event {
    Event::Aside {
        kind: kind.to_owned(),
    }
}
