//! What is this file? Found by looking at what it says, never at its name.

use bytes::Bytes;

use crate::body::{Body, BodyError};
use crate::json::Value;
use crate::openai_responses::ItemKind;
use crate::wire::Wire;

/// A conversation in a file and how it was held there.
#[derive(Clone, Debug)]
pub struct Detected {
    /// The conversation.
    pub body: Body,
    /// Whether the file is a whole request body (`{"messages": […]}`, or `{"input": […]}`).
    pub is_request: bool,
}

/// Reads a request body, a bare array of messages, or one message per line; the format is found by looking
/// unless `wire` names it.
///
/// # Errors
/// [`BodyError`] when it is none of these.
pub fn detect(bytes: &Bytes, wire: Option<Wire>) -> Result<Detected, BodyError> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let expected = wire.unwrap_or(Wire::OpenAiChat);
    let (body, is_request) = if first == Some(&b'[') {
        (Body::scan_array(bytes.clone(), expected)?, false)
    } else {
        match scan_request(bytes, wire) {
            Ok(body) => (body, true),
            Err(error) => match Body::scan_lines(bytes.clone(), expected) {
                Ok(lines) if is_message(&lines) => (lines, false),
                Ok(_) | Err(_) => return Err(error),
            },
        }
    };
    let wire = wire.unwrap_or_else(|| guess(&body));
    Ok(Detected {
        body: body.with_wire(wire),
        is_request,
    })
}

/// A request body under either name of its list; without any list, what is wrong with the more common form.
fn scan_request(bytes: &Bytes, wire: Option<Wire>) -> Result<Body, BodyError> {
    let expected = wire.unwrap_or(Wire::OpenAiChat);
    Body::scan(bytes.clone(), expected).or_else(|error| match (wire, error) {
        (None, BodyError::NoMessages(_)) => {
            Body::scan(bytes.clone(), Wire::OpenAiResponses).map_err(|_| error)
        }
        _ => Err(error),
    })
}

fn is_message(lines: &Body) -> bool {
    lines
        .read(0)
        .is_ok_and(|value| value.get("role").is_some() || is_item(&value))
}

/// Whether this is an item that only Responses has.
fn is_item(value: &Value<'_>) -> bool {
    !matches!(
        ItemKind::of(value),
        ItemKind::Message | ItemKind::Reference | ItemKind::Compaction | ItemKind::Other
    )
}

/// Tool traffic tells the formats apart; plain chats are the same in both, and then a `system` member or
/// the absence of system messages decides nothing, so the more common form is taken.
fn guess(body: &Body) -> Wire {
    if body.wire() == Wire::OpenAiResponses {
        return Wire::OpenAiResponses;
    }
    if body.field(crate::body::Field::System).is_some() {
        return Wire::Anthropic;
    }
    (0..body.len())
        .filter_map(|index| body.read(index).ok())
        .find_map(|message| told_by(&message))
        .unwrap_or(Wire::OpenAiChat)
}

fn told_by(message: &Value<'_>) -> Option<Wire> {
    if is_item(message) {
        return Some(Wire::OpenAiResponses);
    }
    let has_calls = message
        .get("tool_calls")
        .is_some_and(|calls| !calls.is_null());
    if has_calls || message.string("role").as_deref() == Some("tool") {
        return Some(Wire::OpenAiChat);
    }
    let content = message.get("content")?;
    // Anthropic's answers carry the same type, but never a string.
    if content.as_text().is_some() && message.string("type").as_deref() == Some("message") {
        return Some(Wire::OpenAiResponses);
    }
    content
        .items()
        .iter()
        .find_map(|block| match block.string("type")?.as_ref() {
            "tool_use" | "tool_result" | "thinking" | "image" | "document" => Some(Wire::Anthropic),
            "image_url" | "input_audio" => Some(Wire::OpenAiChat),
            "input_text" | "output_text" | "input_image" | "input_file" => {
                Some(Wire::OpenAiResponses)
            }
            _ => None,
        })
}
