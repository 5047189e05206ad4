//! What the formats share: content as text or as parts, calls, results.

use epitome::{Block, Call, MEDIA_TOKENS, Media, Message, ResultPart, Role, ToolResult};
use epitome_wire::is_injected;
use epitome_wire::json::{Kind, Text, Value};

use crate::event::Usage;

/// A call; arguments that are no text keep their own spelling.
pub(crate) fn call(id: &str, name: &str, arguments: String) -> Block {
    Block::Call(Call {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    })
}

/// A message that is nothing but a tool's result.
pub(crate) fn result(call_id: &str, parts: Vec<ResultPart>, is_error: bool) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: call_id.into(),
            parts,
            is_error,
        })],
    }
}

/// A text that somebody said, or that a client put in by itself.
pub(crate) fn said(text: String, role: Role) -> Block {
    if role == Role::User && is_put_in(&text) {
        Block::Injected(text)
    } else {
        Block::Text(text)
    }
}

/// Whether a client put a text in by itself: a reminder, or the news of a task that ran in the background.
pub(crate) fn is_put_in(text: &str) -> bool {
    is_injected(text) || text.trim_start().starts_with(NOTIFICATION)
}

/// How the news of a task in the background begins.
pub(crate) const NOTIFICATION: &str = "<task-notification>";

/// Thinking, by the text of it: signatures and ids are not text.
pub(crate) fn thinking(block: &Value<'_>) -> Block {
    let text = ["thinking", "data"]
        .iter()
        .find_map(|name| block.string(name));
    Block::Thinking {
        chars: text.map_or(0, |text| text.chars().count()),
    }
}

/// What a provider counted, by the names that a format has for the parts; `None` where it counted nothing.
pub(crate) fn usage_of(counted: &Value<'_>, input: &[&str], output: &str) -> Option<Usage> {
    let number = |name: &str| counted.whole_number(name).unwrap_or_default();
    let usage = Usage {
        input_tokens: input
            .iter()
            .map(|name| number(name))
            .fold(0, u64::saturating_add),
        output_tokens: number(output),
        ..Usage::default()
    };
    usage.says_something().then_some(usage)
}

/// The arguments of a call as text: a string as it reads, anything else as it is spelled.
pub(crate) fn arguments(value: Option<&Value<'_>>, source: &[u8]) -> String {
    match value {
        None => String::new(),
        Some(value) => match value.as_text() {
            Some(text) => text.decode().into_owned(),
            None => raw(value, source),
        },
    }
}

/// A value as it is spelled.
pub(crate) fn raw(value: &Value<'_>, source: &[u8]) -> String {
    let bytes = source.get(value.range.clone()).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// The word for a medium, if a part is one.
pub(crate) fn medium(part: &Value<'_>) -> Option<Media> {
    let kind = match part.string("type").as_deref() {
        Some("image" | "input_image" | "image_url") => "image",
        Some("document" | "input_file" | "file") => "document",
        Some("audio" | "input_audio") => "audio",
        _ => return None,
    };
    Some(Media {
        kind: kind.to_owned(),
        tokens: MEDIA_TOKENS,
    })
}

/// Content as blocks: a string, or parts of text, pictures and whatever else.
pub(crate) fn content(value: Option<&Value<'_>>, role: Role, source: &[u8]) -> Vec<Block> {
    parts(value, source)
        .into_iter()
        .map(|part| match part {
            ResultPart::Text(text) => said(text, role),
            ResultPart::Media(media) => Block::Media(media),
            ResultPart::Opaque { chars } => Block::opaque(chars),
        })
        .collect()
}

/// Content as the parts of a result.
pub(crate) fn parts(value: Option<&Value<'_>>, source: &[u8]) -> Vec<ResultPart> {
    let Some(value) = value else {
        return Vec::new();
    };
    match &value.kind {
        Kind::Null => Vec::new(),
        Kind::Text(text) => vec![text_part(text)],
        Kind::Array(items) => items.iter().map(|item| part(item, source)).collect(),
        Kind::Object(_) => match value.get("text").and_then(Value::as_text) {
            Some(text) => vec![text_part(text)],
            None => vec![ResultPart::Text(raw(value, source))],
        },
        Kind::Bool(_) | Kind::Number(_) => vec![ResultPart::Text(raw(value, source))],
    }
}

fn part(item: &Value<'_>, source: &[u8]) -> ResultPart {
    if let Some(text) = item.as_text().or_else(|| item.get("text")?.as_text()) {
        return text_part(text);
    }
    if let Some(media) = medium(item) {
        return ResultPart::Media(media);
    }
    match item.get("content") {
        Some(content) => {
            let mut inner = parts(Some(content), source);
            match (inner.len(), inner.pop()) {
                (1, Some(only)) => only,
                _ => ResultPart::Text(joined(&parts(Some(content), source))),
            }
        }
        None => ResultPart::Opaque {
            chars: item.range.len(),
        },
    }
}

fn text_part(text: &Text<'_>) -> ResultPart {
    ResultPart::Text(text.decode().into_owned())
}

/// Parts as one text, with a word for each picture.
fn joined(parts: &[ResultPart]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            ResultPart::Text(text) => Some(text.as_str()),
            ResultPart::Media(_) => Some(MEDIUM),
            ResultPart::Opaque { .. } => None,
        })
        .collect();
    texts.join("\n")
}

/// What stands for a picture in a text.
const MEDIUM: &str = "[image]";

/// A message as one text: what was said, or what a tool returned; calls and thinking aside.
#[must_use]
pub fn flat_text(message: &Message) -> String {
    let mut texts = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text(text) | Block::Injected(text) => texts.push(text.clone()),
            Block::Media(_) => texts.push(MEDIUM.to_owned()),
            Block::Result(result) => texts.push(joined(&result.parts)),
            Block::Thinking { .. } | Block::Call(_) | Block::Opaque { .. } => {}
        }
    }
    texts.join("\n")
}
