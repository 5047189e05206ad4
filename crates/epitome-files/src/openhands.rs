//! OpenHands' event histories: actions and observations, with the model's answer inside the first action it led to.

use std::collections::HashSet;
use std::io::{BufRead, Seek};

use epitome::{Block, Message, Role};
use epitome_wire::json::{Kind, Value};

use crate::blocks::{arguments, call, content, parts, result};
use crate::counts::fingerprint;
use crate::document::{Part, Wanted, items_of};
use crate::error::ReadError;
use crate::event::{Event, Origin};
use crate::position::Position;
use crate::problem::{Problem, ProblemCode};
use crate::time;

const WANTED: Wanted = Wanted {
    lists: &["history"],
    members: &["instance_id"],
};

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    emit(Event::Conversation);
    let mut made = HashSet::new();
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
            Part::Item { value: bytes, .. } => emit(event(value, bytes, position, &mut made)),
        },
    )
}

fn event(value: &Value<'_>, bytes: &[u8], position: Position, made: &mut HashSet<u64>) -> Event {
    let metadata = value
        .get("tool_call_metadata")
        .filter(|metadata| !metadata.members().is_empty());
    let message = if let Some(action) = value.string("action") {
        match &*action {
            "system" => Some(spoken(Role::System, value, bytes)),
            "message" => {
                let is_user = value.string("source").as_deref() == Some("user");
                let role = if is_user { Role::User } else { Role::Assistant };
                Some(spoken(role, value, bytes))
            }
            _ => metadata.and_then(|metadata| answer(metadata, bytes, made)),
        }
    } else if value.get("observation").is_some() {
        metadata.map(|metadata| {
            let has_failed = value.get("extras").is_some_and(
                |extras| matches!(extras.whole_number("exit_code"), Some(code) if code != 0),
            );
            let id = call_id(
                metadata,
                &metadata.string("tool_call_id").unwrap_or_default(),
            );
            result(&id, parts(value.get("content"), bytes), has_failed)
        })
    } else {
        return Event::Problem(Problem::new(
            ProblemCode::UnknownEntry,
            position,
            "an event that is neither an action nor an observation is left out",
        ));
    };
    match message {
        Some(message) => Event::Message {
            message,
            origin: Origin {
                id: value.whole_number("id").map(|id| id.to_string().into()),
                position,
                at_ms: time::of_entry(value),
                ..Origin::default()
            },
        },
        None => Event::Aside {
            kind: "event".to_owned(),
        },
    }
}

fn spoken(role: Role, value: &Value<'_>, bytes: &[u8]) -> Message {
    let said = value
        .get("args")
        .and_then(|arguments| arguments.get("content"))
        .filter(|said| !matches!(&said.kind, Kind::Null))
        .filter(|said| !matches!(said.as_text(), Some(text) if text.range().is_empty()))
        .or_else(|| value.get("message"));
    Message {
        role,
        blocks: content(said, role, bytes),
    }
}

/// The model's answer, once: several actions may come from one.
fn answer(metadata: &Value<'_>, bytes: &[u8], made: &mut HashSet<u64>) -> Option<Message> {
    let own = call_id(
        metadata,
        &metadata.string("tool_call_id").unwrap_or_default(),
    );
    if made.contains(&fingerprint(&own)) {
        return None;
    }
    let said = metadata
        .get("model_response")?
        .get("choices")?
        .items()
        .first()?
        .get("message")?;
    let mut blocks = content(said.get("content"), Role::Assistant, bytes);
    blocks.retain(|block| !matches!(block, Block::Text(text) if text.is_empty()));
    let calls = said.get("tool_calls").map_or(&[][..], Value::items);
    for request in calls {
        let id = call_id(metadata, &request.string("id").unwrap_or_default());
        let function = request.get("function")?;
        let name = function.string("name").unwrap_or_default();
        made.insert(fingerprint(&id));
        let given = arguments(function.get("arguments"), bytes);
        blocks.push(call(&id, &name, given));
    }
    (!calls.is_empty()).then_some(Message {
        role: Role::Assistant,
        blocks,
    })
}

/// Ids of calls repeat from answer to answer, so the answer's own id is put before them.
fn call_id(metadata: &Value<'_>, id: &str) -> String {
    let response = metadata
        .get("model_response")
        .and_then(|response| response.string("id"))
        .unwrap_or_default();
    format!("{response}:{id}")
}
