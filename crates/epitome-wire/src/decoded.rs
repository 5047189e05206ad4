//! A message as the core sees it, with the places of what may be trimmed.

use std::ops::Range;

use epitome::{Block, Call, Message, Role};

use crate::canonical::is_injected;
use crate::json::{Text, Value, compacted};

/// A decoded message.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// What it says.
    pub message: Message,
    /// The texts of its tool results: block, part, and where the text stands.
    pub result_texts: Vec<(usize, usize, Text<'a>)>,
    /// The media of its tool results: block, part, and where the part stands.
    pub result_media: Vec<(usize, usize, Range<usize>)>,
    /// What is said in it: block, and where the text stands.
    pub said: Vec<(usize, Text<'a>)>,
    /// The arguments of its calls: block, and where they stand.
    pub arguments: Vec<(usize, Arguments<'a>)>,
}

/// Where the arguments of a call stand.
#[derive(Clone, Debug)]
pub enum Arguments<'a> {
    /// In a string.
    Text(Text<'a>),
    /// As a value by itself.
    Value(Range<usize>),
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
    said: Vec<(usize, Text<'a>)>,
    arguments: Vec<(usize, Arguments<'a>)>,
}

impl<'a> Blocks<'a> {
    pub(crate) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// A text that somebody said, or that the client put there in the user's role.
    pub(crate) fn say(&mut self, text: &Text<'a>, role: Role) {
        self.said.push((self.blocks.len(), *text));
        let text = text.decode().into_owned();
        self.push(match role == Role::User && is_injected(&text) {
            true => Block::Injected(text),
            false => Block::Text(text),
        });
    }

    /// A call. Its arguments are text where the format says text, compact JSON elsewhere: what a person would quote, and
    /// what the model is charged for.
    pub(crate) fn call(&mut self, id: &str, name: &str, arguments: Option<&Value<'a>>) {
        let at = self.blocks.len();
        let text = match arguments.map(|value| (value, value.as_text())) {
            Some((_, Some(text))) => {
                self.arguments.push((at, Arguments::Text(*text)));
                text.decode().into_owned()
            }
            Some((value, None)) => {
                self.arguments
                    .push((at, Arguments::Value(value.range.clone())));
                compacted(value)
            }
            None => String::new(),
        };
        self.push(Block::Call(Call::new(id, name, text)));
    }

    pub(crate) fn into_decoded(self, role: Role) -> Decoded<'a> {
        Decoded {
            message: Message {
                role,
                blocks: self.blocks,
            },
            result_texts: self.result_texts,
            result_media: self.result_media,
            said: self.said,
            arguments: self.arguments,
        }
    }
}
