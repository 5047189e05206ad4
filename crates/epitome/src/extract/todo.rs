//! What an agent noted as still to do.

use crate::files::arguments;
use crate::message::{Call, Message, Role};

/// Words in a tool's name that make it one for notes of this kind.
const TOOLS: &[&str] = &["todo", "plan"];
/// Names under which such tools take what is to do, and how far it is.
const ITEMS: &[&str] = &["content", "step", "text", "title", "task"];
const STATES: &[&str] = &["status", "state"];
/// States of what is done with.
const CLOSED: &[&str] = &["completed", "complete", "done", "cancelled", "canceled"];

/// How lines begin that are to be ticked off, without the mark of a list.
const OPEN_BOX: &str = "[ ] ";
const LIST_MARKS: &[char] = &['-', '*', '+', ' ', '\t'];

/// What a message lists as not done yet, in a call or in words; `None` where it lists nothing of this kind.
pub(super) fn open_items(message: &Message) -> Option<Vec<String>> {
    let called = message.calls().filter_map(in_call).last();
    called.or_else(|| {
        let said: Vec<&str> = match message.role {
            Role::User => message.typed().collect(),
            _ => message.spoken().collect(),
        };
        let lines = said.into_iter().flat_map(str::lines);
        let items: Vec<String> = lines
            .filter_map(|line| line.trim_start_matches(LIST_MARKS).strip_prefix(OPEN_BOX))
            .map(str::to_owned)
            .collect();
        (!items.is_empty()).then_some(items)
    })
}

/// The items of a call that are not done yet; `None` where the call is no list of things to do.
fn in_call(call: &Call) -> Option<Vec<String>> {
    let name = call.name.to_lowercase();
    if !TOOLS.iter().any(|word| name.contains(word)) {
        return None;
    }
    let mut items: Vec<(String, Option<String>)> = Vec::new();
    let mut early = None;
    for (name, value) in arguments::strings(&call.arguments) {
        let value = value.into_owned();
        if ITEMS.contains(&&*name) {
            items.push((value, early.take()));
        } else if STATES.contains(&&*name) {
            match items.last_mut().filter(|(_, state)| state.is_none()) {
                Some((_, state)) => *state = Some(value),
                None => early = Some(value),
            }
        }
    }
    let has_states = items.iter().any(|(_, state)| state.is_some());
    let is_open = |state: &Option<String>| {
        let state = state.as_deref().unwrap_or_default();
        !CLOSED.contains(&state)
    };
    let open = items.into_iter().filter(|(_, state)| is_open(state));
    has_states.then(|| open.map(|(item, _)| item).collect())
}
