//! The chats of Gemini's command line: one document, results inside the calls.

use std::io::{BufRead, Seek};

use epitome::{Block, Message, ResultPart, Role};
use epitome_wire::json::Value;

use crate::blocks::{arguments, call, content, raw, result};
use crate::document::{Part, Wanted, items_of};
use crate::error::ReadError;
use crate::event::{Event, Origin};
use crate::position::Position;
use crate::problem::{Problem, ProblemCode};
use crate::time;

const WANTED: Wanted = Wanted {
    lists: &["messages"],
    members: &["sessionId"],
};

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    emit(Event::Conversation);
    items_of(
        source,
        &WANTED,
        emit,
        |part, value, position, emit| match part {
            Part::Member { .. } => {
                if let Some(id) = value.as_text() {
                    emit(Event::Id(id.decode().into_owned()));
                }
            }
            Part::Item { value: bytes, .. } => item(value, bytes, position, emit),
        },
    )
}

fn item(value: &Value<'_>, bytes: &[u8], position: Position, emit: &mut dyn FnMut(Event)) {
    let origin = Origin {
        id: value.string("id").map(|id| id.into()),
        position,
        at_ms: time::of_entry(value),
        ..Origin::default()
    };
    match value.string("type").as_deref() {
        Some("user") => emit(Event::Message {
            message: Message {
                role: Role::User,
                blocks: content(value.get("content"), Role::User, bytes),
            },
            origin,
        }),
        Some("gemini") => answer(value, bytes, &origin, emit),
        Some(kind @ ("info" | "warning" | "error" | "quit" | "about" | "compression")) => {
            emit(Event::Aside {
                kind: kind.to_owned(),
            });
        }
        kind => {
            let kind = kind.unwrap_or_default();
            emit(Event::Problem(Problem::new(
                ProblemCode::UnknownEntry,
                position,
                format!("a message of the unknown kind {kind:?} is left out"),
            )));
        }
    }
}

fn answer(value: &Value<'_>, bytes: &[u8], origin: &Origin, emit: &mut dyn FnMut(Event)) {
    let mut blocks = Vec::new();
    if let Some(thoughts) = value
        .get("thoughts")
        .filter(|found| !found.items().is_empty())
    {
        let chars = thoughts.range.len();
        blocks.push(Block::Thinking { chars });
    }
    blocks.extend(
        content(value.get("content"), Role::Assistant, bytes)
            .into_iter()
            .filter(|block| !matches!(block, Block::Text(text) if text.is_empty())),
    );
    let calls = value.get("toolCalls").map_or(&[][..], Value::items);
    for request in calls {
        let id = request.string("id").unwrap_or_default();
        let name = request.string("name").unwrap_or_default();
        blocks.push(call(&id, &name, arguments(request.get("args"), bytes)));
    }
    let is_seen = blocks
        .iter()
        .any(|block| !matches!(block, Block::Thinking { .. }));
    if is_seen {
        let message = Message {
            role: Role::Assistant,
            blocks,
        };
        emit(Event::Message {
            message,
            origin: origin.clone(),
        });
    }
    for request in calls {
        let id = request.string("id").unwrap_or_default();
        let returned = match request.get("result") {
            Some(value) => value
                .as_text()
                .map_or_else(|| raw(value, bytes), |text| text.decode().into_owned()),
            None => "null".to_owned(),
        };
        let has_failed = request.string("status").as_deref() == Some("error");
        emit(Event::Message {
            message: result(&id, vec![ResultPart::Text(returned)], has_failed),
            origin: origin.clone(),
        });
    }
}
