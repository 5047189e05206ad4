//! SWE-agent's trajectories: chat messages in `history`.

use std::io::{BufRead, Seek};

use crate::document::{Part, Wanted, items_of};
use crate::error::ReadError;
use crate::event::Event;
use crate::tau::chat_message;

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
            Part::Item { value: bytes, .. } => emit(chat_message(value, bytes, position)),
        },
    )
}
