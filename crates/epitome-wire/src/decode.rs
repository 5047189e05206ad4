//! One message of any format: read for the core, recognised, or written.

use epitome::{Digest, Role};

use crate::decoded::{Decoded, Unreadable, unknown_message};
use crate::json::{Kind, Value, escape};
use crate::wire::Wire;
use crate::{anthropic, openai_chat, openai_responses};

/// Decodes a message. What its format does not know (a role, a kind of block, a member of another type) is opaque: it has a
/// size and ids, and stays where it is.
///
/// ```
/// use epitome_wire::{Wire, decode, json};
///
/// let strange = json::read(br#"{"role":"wizard","content":"abracadabra"}"#)?;
/// assert!(decode(Wire::OpenAiChat, &strange)?.message.is_unknown());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Unreadable`] when it is no object.
pub fn decode<'a>(wire: Wire, value: &Value<'a>) -> Result<Decoded<'a>, Unreadable> {
    if !matches!(value.kind, Kind::Object(_)) {
        return Err(Unreadable::NotAnObject);
    }
    let (decoded, role) = match wire {
        Wire::OpenAiChat => (openai_chat::decode(value), openai_chat::role(value)),
        Wire::OpenAiResponses => (
            openai_responses::decode(value),
            openai_responses::role(value),
        ),
        Wire::Anthropic => (anthropic::decode(value), anthropic::role(value)),
    };
    // Somebody else said it, whoever that is: nothing of it is the model's or the client's own.
    let role = role.unwrap_or(Role::User);
    Ok(decoded.unwrap_or_else(|_| unknown_message(value, role)))
}

/// The canonical digest of a message; `None` for one that is no link of a chain (the client's own
/// instructions, or nothing but injected text).
#[must_use]
pub fn canonical(wire: Wire, value: &Value<'_>) -> Option<Digest> {
    match wire {
        Wire::OpenAiChat => openai_chat::canonical(value),
        Wire::OpenAiResponses => openai_responses::canonical(value),
        Wire::Anthropic => anthropic::canonical(value),
    }
}

/// The summary as a message of this format.
#[must_use]
pub fn summary_message(wire: Wire, text: &str, cache_mark: Option<&[u8]>) -> Vec<u8> {
    match wire {
        Wire::OpenAiChat => openai_chat::summary_message(text),
        Wire::OpenAiResponses => openai_responses::text_message(Role::User, text),
        Wire::Anthropic => anthropic::summary_message(text, cache_mark),
    }
}

/// A plain text message. Chat and Anthropic spell it the same way.
pub(crate) fn text_message(wire: Wire, role: Role, text: &str) -> Vec<u8> {
    if wire == Wire::OpenAiResponses {
        return openai_responses::text_message(role, text);
    }
    let mut out = format!(r#"{{"role":"{}","content":""#, role.as_str()).into_bytes();
    escape(text, &mut out);
    out.extend_from_slice(br#""}"#);
    out
}

/// A tool result that never came, as a message of this format.
pub(crate) fn answer_message(wire: Wire, call_id: &str, text: &str) -> Vec<u8> {
    let (start, middle, end) = match wire {
        Wire::OpenAiChat => (
            r#"{"role":"tool","tool_call_id":""#,
            r#"","content":""#,
            r#""}"#,
        ),
        Wire::OpenAiResponses => (
            r#"{"type":"function_call_output","call_id":""#,
            r#"","output":""#,
            r#""}"#,
        ),
        Wire::Anthropic => (
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":""#,
            r#"","content":""#,
            r#""}]}"#,
        ),
    };
    let mut out = start.as_bytes().to_vec();
    escape(call_id, &mut out);
    out.extend_from_slice(middle.as_bytes());
    escape(text, &mut out);
    out.extend_from_slice(end.as_bytes());
    out
}
