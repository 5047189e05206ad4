//! The event logs of GitHub Copilot's command line.

use std::io::{BufRead, Seek};

use epitome::{Block, Message, Role};
use epitome_wire::json::{Kind, Value};

use crate::blocks::{arguments, call, content, parts, result};
use crate::error::ReadError;
use crate::event::{Event, Origin};
use crate::lines::{Entry, entries};
use crate::problem::{Problem, ProblemCode};
use crate::time;

/// Families of events that say nothing to the model.
const ASIDES: &[&str] = &[
    "abort",
    "assistant",
    "hook",
    "permission",
    "session",
    "skill",
    "subagent",
    "system",
    "tool",
    "user",
];

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    emit(Event::Conversation);
    entries(source, emit, |entry, emit| emit(event(entry)))
}

fn event(entry: &Entry<'_>) -> Event {
    let kind = entry.value.string("type").unwrap_or_default();
    let Some(data) = entry.value.get("data") else {
        return unknown(entry, &kind);
    };
    let text = |role| Message {
        role,
        blocks: content(data.get("content"), role, entry.bytes),
    };
    let message = match &*kind {
        "session.start" => {
            return match data.string("sessionId") {
                Some(id) => Event::Id(id.into_owned()),
                None => aside(&kind),
            };
        }
        "system.message" => text(Role::System),
        "user.message" => text(Role::User),
        "assistant.message" => match answer(data, entry) {
            Some(message) => message,
            None => return aside("empty_answer"),
        },
        "tool.execution_complete" => output(data, entry),
        other => {
            let family = other.split('.').next().unwrap_or_default();
            return if ASIDES.contains(&family) {
                aside(other)
            } else {
                unknown(entry, other)
            };
        }
    };
    Event::Message {
        message,
        origin: Origin {
            id: entry.value.string("id").map(|id| id.into()),
            entry: entry.number,
            position: entry.position,
            at_ms: time::of_entry(&entry.value),
        },
    }
}

fn answer(data: &Value<'_>, entry: &Entry<'_>) -> Option<Message> {
    let mut blocks = content(data.get("content"), Role::Assistant, entry.bytes);
    blocks.retain(|block| !matches!(block, Block::Text(text) if text.is_empty()));
    for request in data.get("toolRequests").map_or(&[][..], Value::items) {
        let id = request.string("toolCallId").unwrap_or_default();
        let name = request.string("name").unwrap_or_default();
        let given = arguments(request.get("arguments"), entry.bytes);
        blocks.push(call(&id, &name, given));
    }
    (!blocks.is_empty()).then_some(Message {
        role: Role::Assistant,
        blocks,
    })
}

fn output(data: &Value<'_>, entry: &Entry<'_>) -> Message {
    let id = data.string("toolCallId").unwrap_or_default();
    let returned = data
        .get("result")
        .and_then(|result| result.get("content"))
        .filter(|content| !matches!(content.as_text(), Some(text) if text.range().is_empty()));
    let error = data.get("error").and_then(|error| error.get("message"));
    let has_failed = matches!(data.get("success"), Some(flag) if flag.kind == Kind::Bool(false));
    result(&id, parts(returned.or(error), entry.bytes), has_failed)
}

fn aside(kind: &str) -> Event {
    Event::Aside {
        kind: kind.to_owned(),
    }
}

fn unknown(entry: &Entry<'_>, kind: &str) -> Event {
    Event::Problem(Problem::new(
        ProblemCode::UnknownEntry,
        entry.position,
        format!("an entry of the unknown kind {kind:?} is left out"),
    ))
}
