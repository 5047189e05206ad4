//! The text of a message by which people look for it.

use epitome::{Block, Message, Role};

use crate::decode;
use crate::json::{self, Kind, Value};
use crate::wire::Wire;

/// What was said, called and returned in a message. Thinking is not, nor what a client put in by itself.
///
/// The arguments of calls are given as what they say, so that escapes in them do not become parts of words.
///
/// ```
/// use epitome::{Block, Call, Message, Role};
/// use epitome_wire::searchable_text;
///
/// let call = Call::new("1", "write", r#"{"text":"first\nsecond"}"#);
/// let message = Message {
///     role: Role::Assistant,
///     blocks: vec![Block::Text("I write it.".into()), Block::Call(call)],
/// };
/// assert_eq!(searchable_text(&message), "I write it.\nwrite\ntext\nfirst\nsecond\n");
/// ```
#[must_use]
pub fn searchable_text(message: &Message) -> String {
    let mut text = String::new();
    for block in &message.blocks {
        match block {
            Block::Text(said) => add(said, &mut text),
            Block::Call(call) => {
                add(&call.name, &mut text);
                match json::read(call.arguments.as_bytes()) {
                    Ok(value) => add_value(&value, &mut text),
                    Err(_) => add(&call.arguments, &mut text),
                }
            }
            Block::Result(result) => result.texts().for_each(|part| add(part, &mut text)),
            Block::Injected(_)
            | Block::Thinking { .. }
            | Block::Media(_)
            | Block::Opaque { .. } => {}
        }
    }
    text
}

/// The searchable text of a stored message in the format that is called `wire`; `None` when it cannot be read.
#[must_use]
pub fn searchable_entry(wire: &str, raw: &[u8]) -> Option<String> {
    let wire = Wire::ALL.iter().find(|known| known.as_str() == wire)?;
    let value = json::read(raw).ok()?;
    let decoded = decode(*wire, &value).ok()?;
    let mut text = searchable_text(&decoded.message);
    // What somebody says in a role that nobody knows is found by every word of it.
    if decoded.message.is_unknown() && decoded.message.role == Role::User {
        add_value(&value, &mut text);
    }
    Some(text)
}

fn add(piece: &str, text: &mut String) {
    text.push_str(piece);
    text.push('\n');
}

fn add_value(value: &Value<'_>, text: &mut String) {
    match &value.kind {
        Kind::Null | Kind::Bool(_) => {}
        Kind::Number(number) => add(number, text),
        Kind::Text(said) => add(&said.decode(), text),
        Kind::Array(items) => items.iter().for_each(|item| add_value(item, text)),
        Kind::Object(members) => {
            for (name, member) in members {
                add(&name.decode(), text);
                add_value(member, text);
            }
        }
    }
}
