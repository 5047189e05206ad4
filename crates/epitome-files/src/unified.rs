//! One chat shape for the sessions of all agents.

use std::io::{BufRead, Seek};

use epitome::FileOperations;
use epitome_wire::json::Value;

use crate::document::{Part, Wanted, items_of};
use crate::error::ReadError;
use crate::event::{Event, Kept, Origin, Recorded, RecordedKind};
use crate::position::Position;
use crate::tau::chat_message;

const WANTED: Wanted = Wanted {
    lists: &["messages", "compactions"],
    members: &["id"],
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
            Part::Item {
                list: "compactions",
                ..
            } => emit(Event::Compaction(recorded(value, position))),
            Part::Item { value: bytes, .. } => emit(chat_message(value, bytes, position)),
        },
    )
}

fn recorded(value: &Value<'_>, position: Position) -> Recorded {
    let at = value.whole_number("at").unwrap_or_default();
    Recorded {
        kind: RecordedKind::Summary,
        at: usize::try_from(at).unwrap_or(usize::MAX),
        summary: value.string("summary").unwrap_or_default().into_owned(),
        kept: Kept::Nothing,
        tokens_before: value.whole_number("pre_tokens"),
        trigger: value.string("trigger").map(|text| text.into_owned()),
        files: FileOperations::default(),
        origin: Origin {
            position,
            ..Origin::default()
        },
    }
}
