//! One thing that an engine does with a conversation, and what may come of it.

use bytes::Bytes;
use epitome::{Block, Call, Message, ResultPart, Role, ToolResult};
use epitome_engine::conversation::StepAction;
use epitome_engine::{Conversation, ConversationError};
use epitome_store::ChangeKind;
use epitome_wire::{Wire, encode};

use super::Act;
use super::model::Happened;
use super::pen::{Outcome, Pen};

/// What came of one step.
pub(super) struct Done {
    /// What the store may have more than before.
    pub(super) allowed: Vec<Happened>,
    pub(super) is_superseded: bool,
    /// For the tally.
    pub(super) name: &'static str,
}

impl Done {
    fn new(name: &'static str, allowed: impl Into<Vec<Happened>>) -> Self {
        Self {
            allowed: allowed.into(),
            is_superseded: name == SUPERSEDED,
            name,
        }
    }

    fn of_error(error: &ConversationError) -> Self {
        match error {
            ConversationError::Superseded => Self::new(SUPERSEDED, [Happened::nothing()]),
            ConversationError::NoPlan(_) | ConversationError::Commit(_) => {
                Self::new("refused", [Happened::nothing()])
            }
            other => panic!("{other}"),
        }
    }
}

const SUPERSEDED: &str = "superseded";
pub(super) const NOBODY_ASKED: &str = "nobody asked";
const COMPACTED: ChangeKind = ChangeKind::Compacted;
const TOO_LATE: ChangeKind = ChangeKind::Superseded;

/// Does it. An answer is only given here; the work that waits for it is finished by whoever runs the engine.
pub(super) async fn perform(
    act: &Act,
    conversation: &Conversation,
    pen: &Pen,
    message: &Message,
    wire: Wire,
) -> Done {
    let id = conversation.id().as_str();
    match act {
        Act::Push(_) => match conversation.push(message).await {
            Ok(()) => Done::new("push", [Happened::pushed(raw(wire, message))]),
            Err(error) => Done::of_error(&error),
        },
        Act::Prepare => match conversation.prepare_step().await {
            Ok(step) => match step.action {
                StepAction::Compacted(_) => {
                    Done::new("compacted in a step", [Happened::changed([COMPACTED])])
                }
                StepAction::Preparing => Done::new("preparing", [Happened::nothing()]),
                StepAction::Proceed => Done::new("proceed", [Happened::nothing()]),
                StepAction::Unchanged(_) => Done::new("unchanged", [Happened::nothing()]),
            },
            Err(error) => Done::of_error(&error),
        },
        Act::Answer(outcome) => {
            let name = match (pen.answer(id, *outcome), outcome) {
                (false, _) => NOBODY_ASKED,
                (true, Outcome::Written) => "answered",
                (true, Outcome::Failed) => "answered with a failure",
            };
            Done::new(name, possible(act, wire, message))
        }
        Act::Compact(outcome) => {
            let compacted = tokio::select! {
                compacted = conversation.compact(None) => compacted,
                () = pen.answer_all(id, *outcome) => unreachable!("it never ends"),
            };
            match compacted {
                Ok(_) => Done::new("compact", [Happened::changed([COMPACTED])]),
                Err(error) => Done::of_error(&error),
            }
        }
        Act::CompactTwice => {
            let both = async {
                tokio::join!(
                    conversation.compact(None),
                    conversation.compact(Some("files"))
                )
            };
            let (one, other) = tokio::select! {
                both = both => both,
                () = pen.answer_all(id, Outcome::Written) => unreachable!("it never ends"),
            };
            let good = [&one, &other].iter().filter(|made| made.is_ok()).count();
            let late = [&one, &other]
                .iter()
                .filter(|made| matches!(made, Err(ConversationError::Superseded)))
                .count();
            let mut changes = vec![COMPACTED; good];
            let without = Happened::changed(changes.clone());
            if late == 0 {
                return Done::new("compact twice", [without]);
            }
            changes.push(TOO_LATE);
            let mut done = Done::new("too late", [Happened::changed(changes), without]);
            // Whether the other engine was in the way, only the one that is too late can tell.
            done.is_superseded = good == 0;
            done
        }
        Act::Undo => match conversation.undo().await {
            Ok(()) => Done::new("undo", [Happened::changed([ChangeKind::Undone])]),
            Err(error) => Done::of_error(&error),
        },
        Act::Fork(_) | Act::Crash(..) | Act::Wait | Act::Delete => {
            unreachable!("not a thing of one engine")
        }
    }
}

/// All that may come of it when nobody is left to tell.
pub(super) fn possible(act: &Act, wire: Wire, message: &Message) -> Vec<Happened> {
    let done = match act {
        Act::Push(_) => vec![Happened::pushed(raw(wire, message))],
        Act::Undo => vec![Happened::changed([ChangeKind::Undone])],
        Act::Compact(_) => vec![
            Happened::changed([COMPACTED]),
            Happened::changed([TOO_LATE]),
        ],
        _ => vec![Happened::changed([COMPACTED])],
    };
    done.into_iter().chain([Happened::nothing()]).collect()
}

pub(crate) fn raw(wire: Wire, message: &Message) -> Bytes {
    let mut encoded = encode(wire, message).into_iter();
    let raw = encoded.next().expect("a message that can be sent");
    assert!(encoded.next().is_none());
    Bytes::from(raw)
}

/// What is said after `last`: questions, answers, calls and their results take turns. No two are the same.
pub(crate) fn next_message(last: Option<&Message>, number: usize, kind: usize) -> Message {
    let text = format!(
        "Number {number}. {}",
        "The parser reads one more list of the file, and the tests say what is left to do. "
            .repeat(10 + kind % 10)
    );
    let call = last.and_then(|last| last.calls().next());
    match (last.map(|last| last.role), call) {
        (_, Some(call)) => Message {
            role: Role::Tool,
            blocks: vec![Block::Result(ToolResult {
                call_id: call.id.clone(),
                parts: vec![ResultPart::Text(text)],
                is_error: kind.is_multiple_of(11),
            })],
        },
        (None | Some(Role::Assistant), None) => Message::text(Role::User, text),
        _ if kind.is_multiple_of(3) => Message::text(Role::Assistant, text),
        _ => Message {
            role: Role::Assistant,
            blocks: vec![Block::Call(Call::new(
                format!("call_{number}"),
                "read_file",
                format!(r#"{{"path":"src/list_{number}.rs"}}"#),
            ))],
        },
    }
}
