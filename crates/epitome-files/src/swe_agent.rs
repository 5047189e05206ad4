//! SWE-agent's trajectories: chat messages in `history`.

use std::io::{BufRead, Seek};

use epitome::{Block, Message, Role};

use crate::document::{Part, Wanted, items_of};
use crate::error::ReadError;
use crate::event::Event;
use crate::tau::chat_message;

/// Stands before what a tool returned.
const OBSERVATION: &str = "Observation: ";

const WANTED: Wanted = Wanted {
    lists: &["history"],
    members: &["environment"],
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
                if let Some(name) = value.as_text() {
                    emit(Event::Id(name.decode().into_owned()));
                }
            }
            Part::Item { value: bytes, .. } => {
                let mut event = chat_message(value, bytes, position);
                if value.string("message_type").as_deref() == Some("observation")
                    && let Event::Message { message, .. } = &mut event
                {
                    observed(message);
                }
                emit(event);
            }
        },
    )
}

/// What a tool returned, in a message of the user: it says so, as it does where the agent writes that itself.
fn observed(message: &mut Message) {
    let first = message.blocks.iter_mut().find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    });
    if let Some(text) =
        first.filter(|text| message.role == Role::User && !text.starts_with(OBSERVATION))
    {
        text.insert_str(0, OBSERVATION);
    }
}
