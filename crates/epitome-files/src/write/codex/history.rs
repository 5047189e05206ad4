//! The history that stands for an earlier one: what stays of it word for word, what is new in our spelling.

use epitome::{Message, Role};

use super::{Item, Writer};
use crate::codex::Items;
use crate::transcript::Conversation;
use crate::write::NewCompaction;

/// The items of a history.
#[derive(Default)]
pub(in crate::write) struct History {
    pub(super) items: Vec<String>,
    /// Whether items are in it that Codex wrote, whose blanks at the ends do not count.
    pub(super) is_verbatim: bool,
}

impl History {
    pub(super) fn spelled(&mut self, items: Vec<Item>) {
        self.items.extend(items.into_iter().map(|item| item.json));
    }
}

impl Writer {
    /// The history of a compaction behind `file`. What Codex puts there again by itself is left out: no entry behind
    /// the compaction tells it that these messages are there already.
    pub(in crate::write) fn history(
        &mut self,
        file: &[u8],
        conversation: &Conversation,
        new: &NewCompaction<'_>,
    ) -> History {
        // The conversation was read from the same bytes, so they can be read.
        let items = Items::of(file).unwrap_or_default();
        let sources = conversation.context().sources;
        let mut history = History::default();
        for (at, message) in new.context.iter().enumerate() {
            let place = new.places.get(at).copied().flatten();
            if is_apart(place, &sources, message) {
                continue;
            }
            let found = place.and_then(|place| found(&items, &sources, place));
            match found {
                Some(found) if !found.is_empty() => {
                    for item in found.iter().filter(|item| !item.is_repeated) {
                        history.items.push(item.json.clone());
                        history.is_verbatim |= !item.is_exact;
                    }
                }
                _ => history.spelled(self.items(message)),
            }
        }
        history
    }
}

/// The instructions in front of the history are not part of it.
fn is_apart(place: Option<usize>, sources: &[Option<usize>], message: &Message) -> bool {
    let source = place.and_then(|place| sources.get(place)).copied();
    source.flatten() == Some(0) && message.role == Role::System
}

/// The items of a message of the context.
fn found<'a>(
    items: &'a Items,
    sources: &[Option<usize>],
    place: usize,
) -> Option<&'a [crate::codex::Item]> {
    let found = match sources.get(place)? {
        Some(message) => items.messages.get(*message),
        // Messages without a source are those of the last replaced history, in order.
        None => {
            let before = sources.iter().take(place);
            let number = before.filter(|source| source.is_none()).count();
            items.replaced.get(number)
        }
    };
    found.map(Vec::as_slice)
}
