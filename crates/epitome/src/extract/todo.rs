//! What somebody listed in words as still to do.

use crate::message::{Message, Role};

/// How lines begin that are to be ticked off, without the mark of a list.
const OPEN_BOX: &str = "[ ] ";
const LIST_MARKS: &[char] = &['-', '*', '+', ' ', '\t'];

/// What the user or the assistant lists as not done yet; `None` where a message lists nothing of this kind. A check list
/// that a client sends along is a form to fill in, and what a tool returned is nobody's list.
pub(super) fn open_items(message: &Message) -> Option<Vec<String>> {
    if !message.spoken().any(|text| text.contains(OPEN_BOX)) {
        return None;
    }
    let said: Vec<&str> = match message.role {
        Role::User => message.typed().collect(),
        Role::Assistant => message.spoken().collect(),
        Role::System | Role::Tool => return None,
    };
    let lines = said.into_iter().flat_map(str::lines);
    let items: Vec<String> = lines
        .filter_map(|line| line.trim_start_matches(LIST_MARKS).strip_prefix(OPEN_BOX))
        .map(str::to_owned)
        .collect();
    (!items.is_empty()).then_some(items)
}
