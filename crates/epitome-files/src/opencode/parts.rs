//! What a message of an OpenCode export is made of.

use epitome::{Block, MEDIA_TOKENS, Media, Message, ResultPart};
use epitome_wire::json::Value;

use super::{aside, is_true};
use crate::blocks::{arguments, call, flat_text, result};
use crate::event::Event;

/// What the model gets in place of a result that was pruned.
const PRUNED: &str = "[Old tool result content cleared]";
/// What the model gets as the result of a call that did not end.
const INTERRUPTED: &str = "[Tool execution was interrupted]";
/// What the model gets of a command that the user ran as a sub-agent.
const SUBTASK: &str = "The following tool was executed by the user";

/// An answer: what it says and calls, and what came back.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) blocks: Vec<Block>,
    pub(super) results: Vec<Message>,
}

impl Parts {
    /// What a user's message says.
    pub(super) fn of_user(parts: &[Value<'_>], emit: &mut dyn FnMut(Event)) -> Vec<Block> {
        let mut blocks = Vec::new();
        for part in parts {
            let kind = part.string("type").unwrap_or_default();
            match &*kind {
                "text" if !is_true(part, "ignored") => {
                    let text = part.string("text").unwrap_or_default().into_owned();
                    // What the client wrote is not what somebody typed.
                    blocks.push(match is_true(part, "synthetic") {
                        true => Block::Injected(text),
                        false => crate::blocks::said(text, epitome::Role::User),
                    });
                }
                "file" => blocks.extend(file(part).map(Block::Media)),
                "subtask" => blocks.push(Block::Injected(SUBTASK.to_owned())),
                other => emit(aside(other)),
            }
        }
        blocks.retain(|block| !matches!(block, Block::Text(text) if text.is_empty()));
        blocks
    }

    /// One part of an answer; `fresh` makes the id of a call its own.
    pub(super) fn add(
        &mut self,
        part: &Value<'_>,
        bytes: &[u8],
        fresh: impl FnOnce(&str) -> String,
        emit: &mut dyn FnMut(Event),
    ) {
        let kind = part.string("type").unwrap_or_default();
        match &*kind {
            "text" if !is_true(part, "ignored") => {
                let text = part.string("text").unwrap_or_default();
                if !text.trim().is_empty() {
                    self.blocks.push(Block::Text(text.into_owned()));
                }
            }
            "reasoning" => {
                let text = part.string("text").unwrap_or_default();
                let chars = text.chars().count();
                self.blocks.push(Block::Thinking { chars });
            }
            "tool" => {
                let id = fresh(&part.string("callID").unwrap_or_default());
                let name = part.string("tool").unwrap_or_default();
                let state = part.get("state");
                let input = state.and_then(|state| state.get("input"));
                self.blocks.push(call(&id, &name, arguments(input, bytes)));
                self.results.push(returned(&id, state, emit));
            }
            other => emit(aside(other)),
        }
    }

    pub(super) fn is_seen(&self) -> bool {
        let is_thinking = |block: &Block| matches!(block, Block::Thinking { .. });
        !self.blocks.iter().all(is_thinking)
    }

    /// All that it says.
    pub(super) fn text(self) -> String {
        flat_text(&Message {
            role: epitome::Role::Assistant,
            blocks: self.blocks,
        })
    }
}

/// The result of a call, as the model got it.
fn returned(id: &str, state: Option<&Value<'_>>, emit: &mut dyn FnMut(Event)) -> Message {
    let text = |text: &str| vec![ResultPart::Text(text.to_owned())];
    let Some(state) = state else {
        return result(id, text(INTERRUPTED), true);
    };
    match state.string("status").as_deref() {
        Some("completed") => {
            let time = state.get("time");
            if time.is_some_and(|time| time.get("compacted").is_some()) {
                emit(aside("pruned_result"));
                return result(id, text(PRUNED), false);
            }
            let mut parts = text(&state.string("output").unwrap_or_default());
            let attached = state.get("attachments").map_or(&[][..], Value::items);
            parts.extend(attached.iter().filter_map(file).map(ResultPart::Media));
            result(id, parts, false)
        }
        Some("error") => {
            let output = state
                .get("metadata")
                .filter(|metadata| is_true(metadata, "interrupted"))
                .and_then(|metadata| metadata.string("output"));
            match output {
                Some(output) => result(id, text(&output), false),
                None => result(id, text(&state.string("error").unwrap_or_default()), true),
            }
        }
        _ => result(id, text(INTERRUPTED), true),
    }
}

/// A picture or a document. Texts and folders stand beside it as text already.
fn file(part: &Value<'_>) -> Option<Media> {
    let mime = part.string("mime").unwrap_or_default();
    let kind = match mime.split('/').next() {
        _ if matches!(&*mime, "text/plain" | "application/x-directory") => return None,
        Some("image") => "image",
        Some("audio") => "audio",
        _ => "document",
    };
    Some(Media {
        kind: kind.to_owned(),
        tokens: MEDIA_TOKENS,
    })
}
