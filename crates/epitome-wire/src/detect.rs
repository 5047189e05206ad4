//! What is this file? Found by looking at what it says, never at its name.

use bytes::Bytes;

use crate::body::{Body, BodyError};
use crate::json::Value;
use crate::wire::Wire;

/// A conversation in a file and how it was held there.
#[derive(Clone, Debug)]
pub struct Detected {
    /// The conversation.
    pub body: Body,
    /// Whether the file is a whole request body (`{"messages": […]}`).
    pub is_request: bool,
}

/// Reads a request body, a bare array of messages, or one message per line; the format is found by looking
/// unless `wire` names it.
///
/// # Errors
/// [`BodyError`] when it is none of these.
pub fn detect(bytes: &Bytes, wire: Option<Wire>) -> Result<Detected, BodyError> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let (body, is_request) = if first == Some(&b'[') {
        (Body::scan_array(bytes.clone(), Wire::OpenAiChat)?, false)
    } else {
        match Body::scan(bytes.clone(), Wire::OpenAiChat) {
            Ok(body) => (body, true),
            Err(error) => match Body::scan_lines(bytes.clone(), Wire::OpenAiChat) {
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

fn is_message(lines: &Body) -> bool {
    lines.read(0).is_ok_and(|value| value.get("role").is_some())
}

/// Tool traffic tells the formats apart; plain chats are the same in both, and then a `system` member or
/// the absence of system messages decides nothing, so the more common form is taken.
fn guess(body: &Body) -> Wire {
    if body.field(crate::body::Field::System).is_some() {
        return Wire::Anthropic;
    }
    (0..body.len())
        .filter_map(|index| body.read(index).ok())
        .find_map(|message| told_by(&message))
        .unwrap_or(Wire::OpenAiChat)
}

fn told_by(message: &Value<'_>) -> Option<Wire> {
    if matches!(
        message.string("role").as_deref(),
        Some("tool" | "developer")
    ) || message
        .get("tool_calls")
        .is_some_and(|calls| !calls.is_null())
    {
        return Some(Wire::OpenAiChat);
    }
    message
        .get("content")?
        .items()
        .iter()
        .find_map(|block| match block.string("type")?.as_ref() {
            "tool_use" | "tool_result" | "thinking" | "image" | "document" => Some(Wire::Anthropic),
            "image_url" | "input_audio" => Some(Wire::OpenAiChat),
            _ => None,
        })
}
