//! The structural rules on decoded messages, as the laws use them.

use std::collections::HashSet;

use epitome::{Block, Message, Role};

use crate::wire::Wire;

/// A structural problem and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which message.
    pub position: usize,
    /// What is wrong.
    pub kind: ViolationKind,
}

/// What can be wrong with a list of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ViolationKind {
    /// There are no messages.
    NoMessages,
    /// The first message is not the user's.
    FirstNotUser,
    /// A call is not answered by the messages right after it.
    UnansweredCall,
    /// A result answers no call of the message before.
    OrphanResult,
    /// Two calls of one message have the same id.
    RepeatedCallId,
    /// A message says nothing.
    EmptyMessage,
    /// Thinking stands at the end of a message.
    EndsInThinking,
    /// Thinking is an entry of its own, and what it led to does not follow.
    LoneThinking,
}

impl ViolationKind {
    /// The stable code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoMessages => "no_messages",
            Self::FirstNotUser => "first_not_user",
            Self::UnansweredCall => "unanswered_call",
            Self::OrphanResult => "orphan_result",
            Self::RepeatedCallId => "repeated_call_id",
            Self::EmptyMessage => "empty_message",
            Self::EndsInThinking => "ends_in_thinking",
            Self::LoneThinking => "lone_thinking",
        }
    }
}

/// The structural problems of a list of messages under the rules of its provider. A history that ends in
/// calls without results is reported; one that ends in results is normal.
///
/// Responses pairs calls and outputs by their ids alone, so that something may stand between them; Chat and
/// Anthropic want the results right behind the calls.
#[must_use]
pub fn violations(wire: Wire, messages: &[Message]) -> Vec<Violation> {
    let mut out = Vec::new();
    let mut report = |position, kind| out.push(Violation { position, kind });
    let spoken = |message: &&Message| message.role != Role::System;
    match messages.iter().find(spoken) {
        None => report(0, ViolationKind::NoMessages),
        Some(first) if wire == Wire::Anthropic && first.role != Role::User => {
            let position = messages.iter().position(|m| m.role != Role::System);
            report(position.unwrap_or(0), ViolationKind::FirstNotUser);
        }
        Some(_) => {}
    }
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (position, message) in messages.iter().enumerate() {
        if message.role == Role::System {
            continue;
        }
        if message.results().next().is_none() && wire != Wire::OpenAiResponses {
            for (owner, _) in open.drain(..) {
                report(owner, ViolationKind::UnansweredCall);
            }
        }
        let mut own = HashSet::new();
        for block in &message.blocks {
            match block {
                Block::Call(call) => {
                    let is_waiting = wire == Wire::OpenAiResponses
                        && open.iter().any(|(_, id)| *id == &*call.id);
                    if is_waiting || !own.insert(call.id.as_ref()) {
                        report(position, ViolationKind::RepeatedCallId);
                    }
                    open.push((position, &call.id));
                }
                Block::Result(result) => {
                    match open.iter().position(|(_, id)| *id == &*result.call_id) {
                        Some(at) => drop(open.remove(at)),
                        None => report(position, ViolationKind::OrphanResult),
                    }
                }
                _ => {}
            }
        }
        let is_item_of_thinking = wire == Wire::OpenAiResponses && message.is_only_thinking();
        if is_item_of_thinking {
            let next = messages.get(position + 1);
            if next.is_none_or(|next| next.role != Role::Assistant) {
                report(position, ViolationKind::LoneThinking);
            }
        } else if is_empty(message)
            && !(message.role == Role::Assistant && position + 1 == messages.len())
        {
            report(position, ViolationKind::EmptyMessage);
        }
        if wire == Wire::Anthropic && matches!(message.blocks.last(), Some(Block::Thinking { .. }))
        {
            report(position, ViolationKind::EndsInThinking);
        }
    }
    for (owner, _) in open {
        report(owner, ViolationKind::UnansweredCall);
    }
    out
}

fn is_empty(message: &Message) -> bool {
    message.blocks.iter().all(|block| match block {
        Block::Text(text) | Block::Injected(text) => text.trim().is_empty(),
        Block::Thinking { .. } => true,
        Block::Call(_) | Block::Result(_) | Block::Media(_) | Block::Opaque { .. } => false,
    })
}
