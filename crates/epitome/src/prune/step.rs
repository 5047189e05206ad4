//! Where steps end.

use std::borrow::Borrow;

use crate::message::{Message, Role};

/// Where the step that begins at `from` ends; `None` where it is still in flight, or nothing begins.
pub(super) fn step_end(messages: &[impl Borrow<Message>], from: usize) -> Option<usize> {
    let first = messages.get(from)?.borrow();
    let answered: Vec<&str> = first.results().map(|r| r.call_id.as_ref()).collect();
    let mut open: Vec<&str> = first.calls().map(|call| call.id.as_ref()).collect();
    open.retain(|id| !answered.contains(id));
    if open.is_empty() {
        return Some(from + 1);
    }
    for (position, message) in messages.iter().enumerate().skip(from + 1) {
        let message = message.borrow();
        let mut answers = message.results().peekable();
        // As in the log: anything but a result, or a client's own note, means that the call was abandoned.
        if answers.peek().is_none() && message.role != Role::System {
            return Some(position);
        }
        answers.for_each(|result| open.retain(|id| *id != &*result.call_id));
        if open.is_empty() {
            return Some(position + 1);
        }
    }
    None
}
