//! Conversations of tau-bench and tau2-bench: a list of records with chat messages in each.

use std::io::{BufRead, Seek};

use epitome::{Message, Role};
use epitome_wire::json::Value;

use crate::blocks::{arguments, call, content, parts, result};
use crate::document::{Part, Wanted, items_of};
use crate::error::ReadError;
use crate::event::{Event, Origin};
use crate::position::Position;
use crate::problem::{Problem, ProblemCode};

const WANTED: Wanted = Wanted {
    lists: &["simulations"],
    members: &[],
};

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    items_of(source, &WANTED, emit, |part, record, position, emit| {
        let Part::Item { value: bytes, .. } = part else {
            return;
        };
        let Some(messages) = record.get("traj").or_else(|| record.get("messages")) else {
            emit(Event::Problem(Problem::new(
                ProblemCode::UnreadableEntry,
                position,
                "a record without messages is left out",
            )));
            return;
        };
        emit(Event::Conversation);
        if let Some(id) = record_id(record, bytes) {
            emit(Event::Id(id));
        }
        for message in messages.items() {
            let position = Position {
                byte: position.byte + message.range.start as u64,
                line: None,
            };
            emit(chat_message(message, bytes, position));
        }
    })
}

fn record_id(record: &Value<'_>, bytes: &[u8]) -> Option<String> {
    if let Some(id) = record.string("id") {
        return Some(id.into_owned());
    }
    let task = arguments(record.get("task_id"), bytes);
    let trial = arguments(record.get("trial"), bytes);
    (!task.is_empty()).then(|| format!("task {task} trial {trial}"))
}

/// A message in the form of OpenAI Chat, with the liberties that recorders take: arguments as objects, calls
/// without `function`, ids of results under other names.
pub(crate) fn chat_message(value: &Value<'_>, bytes: &[u8], position: Position) -> Event {
    let role = match value.string("role").as_deref() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        other => {
            let role = other.unwrap_or_default();
            return Event::Problem(Problem::new(
                ProblemCode::UnreadableEntry,
                position,
                format!("a message of the unknown role {role:?} is left out"),
            ));
        }
    };
    let message = if role == Role::Tool {
        let ids = value.get("tool_call_ids").map_or(&[][..], Value::items);
        let id = value
            .string("tool_call_id")
            .or_else(|| Some(ids.first()?.as_text()?.decode()))
            .or_else(|| value.string("id"))
            .unwrap_or_default();
        let has_failed = value
            .get("error")
            .is_some_and(|flag| flag.kind == epitome_wire::json::Kind::Bool(true));
        result(&id, parts(value.get("content"), bytes), has_failed)
    } else {
        let mut blocks = content(value.get("content"), role, bytes);
        for request in value.get("tool_calls").map_or(&[][..], Value::items) {
            let id = request.string("id").unwrap_or_default();
            let function = request.get("function").unwrap_or(request);
            let name = function.string("name").unwrap_or_default();
            let given = arguments(function.get("arguments"), bytes);
            blocks.push(call(&id, &name, given));
        }
        Message { role, blocks }
    };
    Event::Message {
        message,
        origin: Origin {
            position,
            ..Origin::default()
        },
    }
}
