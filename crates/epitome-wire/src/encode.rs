//! From a message of the core to the messages of a wire, for those who have no bytes of their own.

use epitome::{Block, Call, Message, ResultPart, Role, ToolResult};

use crate::json::{self, Kind, quoted};
use crate::wire::Wire;

/// A message as one or more messages of a wire, each a JSON object on one line. Reading them back gives what was said,
/// called and returned.
///
/// Thinking is left out, because only its provider can write it, and so is injected text. A medium becomes a marker:
/// its bytes are not in the message. Where nothing is left there is no message.
///
/// ```
/// use epitome::{Message, Role};
/// use epitome_wire::{Wire, encode};
///
/// let message = Message::text(Role::User, "Good morning");
/// let encoded = encode(Wire::Anthropic, &message);
/// assert_eq!(encoded, [br#"{"role":"user","content":[{"type":"text","text":"Good morning"}]}"#.to_vec()]);
/// ```
#[must_use]
pub fn encode(wire: Wire, message: &Message) -> Vec<Vec<u8>> {
    let texts = match wire {
        Wire::OpenAiChat => openai_chat(message),
        Wire::OpenAiResponses => openai_responses(message),
        Wire::Anthropic => anthropic(message),
    };
    texts.into_iter().map(String::into_bytes).collect()
}

fn openai_chat(message: &Message) -> Vec<String> {
    let texts = said(message);
    let calls: Vec<String> = message
        .calls()
        .map(|call| {
            format!(
                r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
                quoted(&call.id),
                quoted(&call.name),
                quoted(&call.arguments)
            )
        })
        .collect();
    let results = message.results().map(|result| {
        format!(
            r#"{{"role":"tool","tool_call_id":{},"content":{}}}"#,
            quoted(&result.call_id),
            quoted(&result_text(result))
        )
    });
    let mut out: Vec<String> = results.collect();
    let content = quoted(&texts.join("\n"));
    if !calls.is_empty() {
        let content = if texts.is_empty() { "null" } else { &content };
        out.push(format!(
            r#"{{"role":"assistant","content":{content},"tool_calls":[{}]}}"#,
            calls.join(",")
        ));
    } else if !texts.is_empty() {
        // A tool speaks through its results only.
        let role = match message.role {
            Role::Tool => Role::User,
            role => role,
        };
        out.push(format!(
            r#"{{"role":"{}","content":{content}}}"#,
            role.as_str()
        ));
    }
    out
}

fn openai_responses(message: &Message) -> Vec<String> {
    let (role, kind) = match message.role {
        Role::Assistant => ("assistant", "output_text"),
        Role::System => ("system", "input_text"),
        Role::User | Role::Tool => ("user", "input_text"),
    };
    let results = message.results().map(|result| {
        format!(
            r#"{{"type":"function_call_output","call_id":{},"output":{}}}"#,
            quoted(&result.call_id),
            quoted(&result_text(result))
        )
    });
    let mut out: Vec<String> = results.collect();
    let parts: Vec<String> = said(message)
        .iter()
        .map(|text| format!(r#"{{"type":"{kind}","text":{}}}"#, quoted(text)))
        .collect();
    if !parts.is_empty() {
        out.push(format!(
            r#"{{"type":"message","role":"{role}","content":[{}]}}"#,
            parts.join(",")
        ));
    }
    out.extend(message.calls().map(|call| {
        format!(
            r#"{{"type":"function_call","call_id":{},"name":{},"arguments":{}}}"#,
            quoted(&call.id),
            quoted(&call.name),
            quoted(&call.arguments)
        )
    }));
    out
}

fn anthropic(message: &Message) -> Vec<String> {
    let mut results = Vec::new();
    let mut blocks = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text(text) if !text.trim().is_empty() => blocks.push(text_block(text)),
            Block::Media(media) => blocks.push(text_block(&format!("[{}]", media.kind))),
            Block::Call(call) => blocks.push(format!(
                r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
                quoted(&call.id),
                quoted(&call.name),
                input(call)
            )),
            Block::Result(result) => {
                let error = if result.is_error {
                    r#","is_error":true"#
                } else {
                    ""
                };
                results.push(format!(
                    r#"{{"type":"tool_result","tool_use_id":{},"content":[{}]{error}}}"#,
                    quoted(&result.call_id),
                    text_block(&result_text(result))
                ));
            }
            _ => {}
        }
    }
    // Results come first in the message that answers a call.
    results.append(&mut blocks);
    if results.is_empty() {
        return Vec::new();
    }
    let role = match message.role {
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::User | Role::Tool => "user",
    };
    vec![format!(
        r#"{{"role":"{role}","content":[{}]}}"#,
        results.join(",")
    )]
}

fn said(message: &Message) -> Vec<String> {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) if !text.trim().is_empty() => Some(text.clone()),
        Block::Media(media) => Some(format!("[{}]", media.kind)),
        _ => None,
    });
    texts.collect()
}

/// An empty result is a result all the same, and providers refuse empty text.
fn result_text(result: &ToolResult) -> String {
    let parts = result.parts.iter().map(|part| match part {
        ResultPart::Text(text) => text.clone(),
        ResultPart::Media(media) => format!("[{}]", media.kind),
        ResultPart::Opaque { .. } => String::from("[…]"),
    });
    let text = parts.collect::<Vec<_>>().join("\n");
    if text.trim().is_empty() {
        String::from("(empty)")
    } else {
        text
    }
}

/// Arguments that are no object go as the one member of an object.
fn input(call: &Call) -> String {
    let is_object = json::read(call.arguments.as_bytes())
        .is_ok_and(|value| matches!(value.kind, Kind::Object(_)));
    if is_object {
        call.arguments.to_string()
    } else {
        format!(r#"{{"arguments":{}}}"#, quoted(&call.arguments))
    }
}

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}
