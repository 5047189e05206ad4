//! A message as the core sees it, with the places of what may be trimmed.

use std::ops::Range;

use epitome::{Block, Message, Role};

use crate::json::Text;

/// A decoded message.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// What it says.
    pub message: Message,
    /// The texts of its tool results: block, part, and where the text stands.
    pub result_texts: Vec<(usize, usize, Text<'a>)>,
    /// The media of its tool results: block, part, and where the part stands.
    pub result_media: Vec<(usize, usize, Range<usize>)>,
}

/// Why a message is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is no JSON object.
    #[error("a message is not an object")]
    NotAnObject,
    /// It has no role, or one that this format does not have.
    #[error("a message has no role that this format knows")]
    UnknownRole,
    /// A member has another type than the format says.
    #[error("`{0}` of a message has the wrong type")]
    WrongType(&'static str),
}

/// Collects blocks while they are decoded.
#[derive(Debug, Default)]
pub(crate) struct Blocks<'a> {
    pub(crate) blocks: Vec<Block>,
    pub(crate) result_texts: Vec<(usize, usize, Text<'a>)>,
    pub(crate) result_media: Vec<(usize, usize, Range<usize>)>,
}

impl<'a> Blocks<'a> {
    pub(crate) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    pub(crate) fn into_decoded(self, role: Role) -> Decoded<'a> {
        Decoded {
            message: Message {
                role,
                blocks: self.blocks,
            },
            result_texts: self.result_texts,
            result_media: self.result_media,
        }
    }
}
