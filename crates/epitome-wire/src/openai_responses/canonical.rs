//! What two spellings of an item must agree on.

use epitome::{Digest, Role};

use super::{ItemKind, has_failed, is_text, speaker};
use crate::canonical::{self, Canonical};
use crate::json::{Kind, Value};

/// Members that the provider or the client gives to an item for its own use; they change without anybody saying
/// something else.
const OWN_USE: &[&str] = &["id", "status", "internal_chat_message_metadata_passthrough"];

pub(crate) fn canonical(item: &Value<'_>) -> Option<Digest> {
    match ItemKind::of(item) {
        ItemKind::Message => message(item),
        // Thinking comes and goes; tools are no part of what is said.
        ItemKind::Reasoning | ItemKind::Tools => None,
        ItemKind::Call | ItemKind::ServerCall => call(item),
        ItemKind::Output => output(item),
        ItemKind::Reference => {
            let mut out = Canonical::new("reference");
            out.rest(item, &["type"]);
            out.finish()
        }
        ItemKind::Compaction | ItemKind::Other => {
            let mut out = Canonical::new(Role::Assistant.as_str());
            out.rest(item, OWN_USE);
            out.finish()
        }
    }
}

/// An object's other members, without those for own use and the `known` ones.
fn rest(item: &Value<'_>, known: &[&str], out: &mut Canonical) {
    let known: Vec<&str> = OWN_USE.iter().chain(known).copied().collect();
    out.rest(item, &known);
}

fn message(item: &Value<'_>) -> Option<Digest> {
    let Some(role) = speaker(item) else {
        return canonical::unknown(item);
    };
    if role == Role::System {
        return None;
    }
    let mut out = Canonical::new(role.as_str());
    if let Some(content) = item.get("content") {
        match &content.kind {
            Kind::Text(text) => out.said(text, role),
            Kind::Array(parts) => {
                for part in parts {
                    match part.get("text").and_then(Value::as_text) {
                        Some(text) if is_text(part) => out.said(text, role),
                        _ => {
                            out.add(b'p', b"");
                            out.rest(part, &[]);
                        }
                    }
                }
            }
            Kind::Null => {}
            _ => out.json(b'c', content),
        }
    }
    rest(item, &["type", "role", "content"], &mut out);
    out.finish()
}

fn call(item: &Value<'_>) -> Option<Digest> {
    let mut out = Canonical::new(Role::Assistant.as_str());
    out.add(b'f', b"");
    if let Some(arguments) = item.get("arguments").and_then(Value::as_text) {
        out.json_text(b'a', arguments);
        rest(item, &["arguments"], &mut out);
    } else {
        rest(item, &[], &mut out);
    }
    // An approval is answered by the id of its request.
    if let Some(id) = item.get("id").and_then(Value::as_text)
        && item.string("type").as_deref() == Some("mcp_approval_request")
    {
        out.text(b'i', id);
    }
    out.finish()
}

fn output(item: &Value<'_>) -> Option<Digest> {
    let mut out = Canonical::new(Role::Tool.as_str());
    out.add(b'o', b"");
    match item.get("output").map(|output| (output, &output.kind)) {
        // A string is one text.
        Some((_, Kind::Text(text))) => out.text(b's', text),
        Some((_, Kind::Array(parts))) => {
            for part in parts {
                match part.get("text").and_then(Value::as_text) {
                    Some(text) if is_text(part) => out.text(b's', text),
                    _ => {
                        out.add(b'q', b"");
                        out.rest(part, &[]);
                    }
                }
            }
        }
        None | Some((_, Kind::Null)) => {}
        Some((output, _)) => out.json(b'c', output),
    }
    if has_failed(item) {
        out.add(b'e', b"");
    }
    if let Some(id) = item.get("id").and_then(Value::as_text)
        && item.get("call_id").is_none()
        && item.string("type").as_deref() == Some("local_shell_call_output")
    {
        out.text(b'i', id);
    }
    rest(item, &["output"], &mut out);
    out.finish()
}
