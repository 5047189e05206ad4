//! A message as the core sees it, with the places of what may be trimmed.

use std::ops::Range;

use epitome::{Block, Call, Message, Role};

use crate::canonical::is_injected;
use crate::json::{Text, Value, compacted};

/// Members by which one thing refers to another.
const REFERENCES: &[&str] = &["id", "call_id", "item_id", "tool_use_id", "tool_call_id"];
/// How the names of others end that do. Names of sessions and users are no such thing: everything has the same.
const REFERENCE_ENDS: &[&str] = &["_call_id", "_request_id", "_item_id"];
/// An id is short.
const LONGEST_ID: usize = 200;

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

/// Something that nobody knows, by its size and the ids in it.
pub(crate) fn opaque(value: &Value<'_>) -> Block {
    Block::Opaque {
        chars: value.range.len(),
        ids: ids(value).map(Into::into).collect(),
    }
}

/// A message that nobody knows: in a role of which nothing is known where that is the reason.
pub(crate) fn unknown_message<'a>(value: &Value<'a>, role: Role) -> Decoded<'a> {
    let lists = ["content", "tool_calls", "output"];
    let parts = lists.iter().filter_map(|name| value.get(name));
    let inside = parts.flat_map(|list| list.items()).flat_map(ids);
    let block = Block::Opaque {
        chars: value.range.len(),
        ids: ids(value).chain(inside).map(Into::into).collect(),
    };
    let mut out = Blocks::default();
    out.push(block);
    out.into_decoded(role)
}

/// The ids by which something may be known to others, or others to it.
fn ids<'v>(value: &'v Value<'_>) -> impl Iterator<Item = String> + use<'v> {
    let members = value.members().iter().filter(|(name, _)| {
        let name = name.decode();
        let is_named = REFERENCES.contains(&&*name);
        is_named || REFERENCE_ENDS.iter().any(|end| name.ends_with(end))
    });
    let texts = members.filter_map(|(_, value)| value.as_text());
    texts
        .map(|text| text.decode().into_owned())
        .filter(|id| (1..=LONGEST_ID).contains(&id.len()))
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
