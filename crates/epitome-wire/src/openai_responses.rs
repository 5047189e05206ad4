//! OpenAI Responses: a conversation is a list of items, and one item is one entry.
//!
//! A call and its output are two items that share a `call_id`; thinking is an item of its own that its provider
//! takes only together with what it led to. Server tools answer inside the item of their call.

mod canonical;

use epitome::{Block, MEDIA_TOKENS, Media, ResultPart, Role, ToolResult};

use crate::decoded::{Blocks, Decoded, Unreadable, opaque};
use crate::json::{Kind, Text, Value, escape};
use crate::media;

pub(crate) use canonical::canonical;

/// What an item is, by its `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// Somebody speaks.
    Message,
    /// Only its provider can read it.
    Reasoning,
    /// A call that an item of its own answers.
    Call,
    /// What a tool returned.
    Output,
    /// A call that the provider carried out itself; the answer is in it.
    ServerCall,
    /// Tools that the client offers from here on.
    Tools,
    /// The provider's own summary of what was before, or the wish for one.
    Compaction,
    /// The name of an item that the provider keeps.
    Reference,
    /// Counted, never read.
    Other,
}

impl ItemKind {
    pub(crate) fn of(item: &Value<'_>) -> Self {
        let Some(name) = item.string("type") else {
            // A message may leave its type out; so may a reference, which has nothing but an id.
            let is_message = item.get("role").is_some() || item.get("content").is_some();
            return match item.get("id") {
                Some(_) if !is_message => Self::Reference,
                _ => Self::Message,
            };
        };
        let is_paired = item.string("call_id").is_some_and(|id| !id.is_empty());
        match name.as_ref() {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" | "custom_tool_call" | "mcp_approval_request" => Self::Call,
            "local_shell_call_output" | "mcp_approval_response" => Self::Output,
            "item_reference" => Self::Reference,
            "additional_tools" => Self::Tools,
            "context_compaction" => Self::Compaction,
            name if name.starts_with("compaction") => Self::Compaction,
            // A search for tools that the provider makes itself has no id to pair by.
            name if name.ends_with("_output") && is_paired => Self::Output,
            "function_call_output" | "custom_tool_call_output" => Self::Output,
            name if name.ends_with("_call") && is_paired => Self::Call,
            name if name.ends_with("_call") => Self::ServerCall,
            _ => Self::Other,
        }
    }

    const fn role(self) -> Role {
        match self {
            Self::Output => Role::Tool,
            Self::Tools => Role::System,
            _ => Role::Assistant,
        }
    }
}

fn speaker(item: &Value<'_>) -> Option<Role> {
    Some(match item.string("role")?.as_ref() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    })
}

/// Who speaks in an item, where that is known.
pub(crate) fn role(item: &Value<'_>) -> Option<Role> {
    match ItemKind::of(item) {
        ItemKind::Message => speaker(item),
        kind => Some(kind.role()),
    }
}

pub(crate) fn decode<'a>(item: &Value<'a>) -> Result<Decoded<'a>, Unreadable> {
    let kind = ItemKind::of(item);
    let mut role = kind.role();
    let mut out = Blocks::default();
    let chars = item.range.len();
    match kind {
        ItemKind::Message => {
            role = speaker(item).ok_or(Unreadable::UnknownRole)?;
            content(item, role, &mut out)?;
        }
        ItemKind::Reasoning => out.push(Block::Thinking { chars }),
        ItemKind::Call => out.call(&call_id(item), &tool_name(item), arguments(item)),
        ItemKind::Output => {
            let call_id = call_id(item);
            let parts = output(item, "output", 0, &mut out);
            out.push(result(call_id, parts, item));
        }
        ItemKind::ServerCall => server_call(item, &mut out),
        ItemKind::Tools | ItemKind::Compaction | ItemKind::Reference | ItemKind::Other => {
            out.push(opaque(item));
        }
    }
    Ok(out.into_decoded(role))
}

fn content<'a>(item: &Value<'a>, role: Role, out: &mut Blocks<'a>) -> Result<(), Unreadable> {
    let content = item.get("content").map(|content| &content.kind);
    match content.ok_or(Unreadable::WrongType("content"))? {
        Kind::Text(text) => out.say(text, role),
        Kind::Array(parts) => {
            for part in parts {
                match part_text(part) {
                    Some(text) => out.say(text, role),
                    None => out.push(other_part(part)),
                }
            }
        }
        _ => return Err(Unreadable::WrongType("content")),
    }
    Ok(())
}

/// Whether a part of a message or of an output is text.
fn is_text(part: &Value<'_>) -> bool {
    matches!(
        part.string("type").as_deref(),
        Some("input_text" | "output_text" | "text" | "summary_text")
    )
}

fn part_text<'p, 'a>(part: &'p Value<'a>) -> Option<&'p Text<'a>> {
    let name = match part.string("type").as_deref() {
        Some("refusal") => "refusal",
        _ if is_text(part) => "text",
        _ => return None,
    };
    part.get(name)?.as_text()
}

fn other_part(part: &Value<'_>) -> Block {
    match part.string("type").as_deref() {
        Some("input_image" | "computer_screenshot") => medium("image", media::openai_image(part)),
        Some("input_audio") => medium("audio", MEDIA_TOKENS),
        Some("input_file") => medium("document", MEDIA_TOKENS),
        _ => opaque(part),
    }
}

fn medium(kind: &str, tokens: u32) -> Block {
    Block::Media(Media {
        kind: kind.to_owned(),
        tokens,
    })
}

/// By what a call and its output are paired. Approvals and local shells have names of their own for it; a call without an
/// id is answered by the output without one.
fn call_id(item: &Value<'_>) -> String {
    let names: &[&str] = match item.string("type").as_deref() {
        Some("mcp_approval_request") => &["id"],
        Some("mcp_approval_response") => &["approval_request_id"],
        Some("local_shell_call_output") => &["call_id", "id"],
        _ => &["call_id"],
    };
    names
        .iter()
        .find_map(|name| item.string(name))
        .map(|id| id.into_owned())
        .unwrap_or_default()
}

/// The tool's own name, or what kind of call it is.
fn tool_name(item: &Value<'_>) -> String {
    let kind = item.string("type").unwrap_or_default();
    match item.string("name") {
        Some(name) => name.into_owned(),
        None => kind.strip_suffix("_call").unwrap_or(&kind).to_owned(),
    }
}

/// What the tool was asked to do.
fn arguments<'p, 'a>(item: &'p Value<'a>) -> Option<&'p Value<'a>> {
    let names = [
        "arguments",
        "input",
        "action",
        "actions",
        "operation",
        "code",
        "queries",
    ];
    names.iter().find_map(|name| item.get(name))
}

fn result(call_id: String, parts: Vec<ResultPart>, item: &Value<'_>) -> Block {
    Block::Result(ToolResult {
        call_id: call_id.into(),
        parts,
        is_error: has_failed(item),
    })
}

fn has_failed(item: &Value<'_>) -> bool {
    item.get("error").is_some_and(|error| !error.is_null())
        || item.string("status").as_deref() == Some("failed")
}

/// What stands under `name`, for the result that will be block `at`.
fn output<'a>(
    item: &Value<'a>,
    name: &'static str,
    at: usize,
    out: &mut Blocks<'a>,
) -> Vec<ResultPart> {
    let mut parts = Vec::new();
    let Some(output) = item.get(name) else {
        return parts;
    };
    let keep = |out: &mut Blocks<'a>, parts: &mut Vec<ResultPart>, text: &Text<'a>| {
        out.result_texts.push((at, parts.len(), *text));
        parts.push(ResultPart::Text(text.decode().into_owned()));
    };
    match &output.kind {
        Kind::Null => {}
        Kind::Text(text) => keep(out, &mut parts, text),
        Kind::Array(items) => {
            for item in items {
                let own = item.get("text").and_then(Value::as_text);
                // A code interpreter prints logs, a shell two streams.
                let printed = ["logs", "stdout", "stderr"].map(|name| {
                    item.get(name)
                        .and_then(Value::as_text)
                        .filter(|_| own.is_none())
                });
                let texts: Vec<_> = own
                    .into_iter()
                    .chain(printed.into_iter().flatten())
                    .collect();
                if texts.is_empty() {
                    let part = other_result(item);
                    if matches!(part, ResultPart::Media(_)) {
                        let place = (at, parts.len(), item.range.clone());
                        out.result_media.push(place);
                    }
                    parts.push(part);
                }
                for text in texts {
                    keep(out, &mut parts, text);
                }
            }
        }
        Kind::Object(_) | Kind::Number(_) | Kind::Bool(_) => parts.push(other_result(output)),
    }
    parts
}

fn other_result(part: &Value<'_>) -> ResultPart {
    match other_part(part) {
        Block::Media(media) => ResultPart::Media(media),
        _ => ResultPart::Opaque {
            chars: part.range.len(),
        },
    }
}

/// A call of a tool that the provider runs: call and answer are one item, so nothing stays open.
fn server_call<'a>(item: &Value<'a>, out: &mut Blocks<'a>) {
    let id = item.string("id").unwrap_or_default().into_owned();
    out.call(&id, &tool_name(item), arguments(item));
    let parts = match item.string("type").as_deref() {
        Some("image_generation_call") => match medium("image", MEDIA_TOKENS) {
            Block::Media(media) => vec![ResultPart::Media(media)],
            _ => Vec::new(),
        },
        Some("code_interpreter_call") => output(item, "outputs", 1, out),
        Some("file_search_call") => output(item, "results", 1, out),
        _ => output(item, "output", 1, out),
    };
    out.push(result(id, parts, item));
}

/// A message with one text.
pub(crate) fn text_message(role: Role, text: &str) -> Vec<u8> {
    let part = match role {
        Role::Assistant => "output_text",
        Role::System | Role::User | Role::Tool => "input_text",
    };
    let mut out = format!(
        r#"{{"type":"message","role":"{}","content":[{{"type":"{part}","text":""#,
        role.as_str()
    )
    .into_bytes();
    escape(text, &mut out);
    out.extend_from_slice(br#""}]}"#);
    out
}
