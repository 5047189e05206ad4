//! Anthropic Messages.

use epitome::{Block, Digest, MEDIA_TOKENS, Media, ResultPart, Role, ToolResult};

use crate::canonical::{self, Canonical};
use crate::decoded::{Blocks, Decoded, Unreadable, opaque};
use crate::json::{Kind, Value, quoted};
use crate::media;

/// What a content block is, by its `type`.
enum BlockKind {
    Text,
    Thinking,
    Call,
    Result,
    Media(&'static str),
    Other,
}

fn kind(block: &Value<'_>) -> BlockKind {
    match block.string("type").as_deref() {
        Some("text") => BlockKind::Text,
        Some("thinking" | "redacted_thinking") => BlockKind::Thinking,
        // `tool_use`, `server_tool_use`, `mcp_tool_use`, and those to come.
        Some(name) if name.ends_with("tool_use") => BlockKind::Call,
        // Server tools answer in blocks of their own: `web_search_tool_result` and its like.
        Some(name) if name.ends_with("tool_result") => BlockKind::Result,
        Some("image") => BlockKind::Media("image"),
        Some("document") => BlockKind::Media("document"),
        _ => BlockKind::Other,
    }
}

pub(crate) fn role(value: &Value<'_>) -> Option<Role> {
    Some(match value.string("role")?.as_ref() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => return None,
    })
}

pub(crate) fn decode<'a>(value: &Value<'a>) -> Result<Decoded<'a>, Unreadable> {
    let role = role(value).ok_or(Unreadable::UnknownRole)?;
    let mut out = Blocks::default();
    match value.get("content").map(|content| &content.kind) {
        Some(Kind::Text(text)) => out.say(text, role),
        Some(Kind::Array(blocks)) => {
            for block in blocks {
                decode_block(block, role, &mut out);
            }
        }
        _ => return Err(Unreadable::WrongType("content")),
    }
    Ok(out.into_decoded(role))
}

fn decode_block<'a>(block: &Value<'a>, role: Role, out: &mut Blocks<'a>) {
    let chars = block.range.len();
    let decoded = match kind(block) {
        BlockKind::Text => match block.get("text").and_then(Value::as_text) {
            Some(text) => return out.say(text, role),
            None => opaque(block),
        },
        BlockKind::Thinking => Block::Thinking { chars },
        BlockKind::Call => {
            // A call without an id is answered by the result without one.
            let id = block.string("id").unwrap_or_default();
            let name = block.string("name").unwrap_or_default();
            return out.call(&id, &name, block.get("input"));
        }
        BlockKind::Result => {
            let at = out.blocks.len();
            Block::Result(result(block, at, out))
        }
        BlockKind::Media(kind) => Block::Media(medium(kind, block)),
        BlockKind::Other => opaque(block),
    };
    out.push(decoded);
}

fn member(block: &Value<'_>, name: &str) -> Option<String> {
    block.string(name).map(|text| text.into_owned())
}

fn medium(kind: &str, block: &Value<'_>) -> Media {
    Media {
        kind: kind.to_owned(),
        tokens: match kind {
            "image" => media::anthropic_image(block),
            _ => MEDIA_TOKENS,
        },
    }
}

fn result<'a>(block: &Value<'a>, at: usize, out: &mut Blocks<'a>) -> ToolResult {
    let mut parts = Vec::new();
    match block.get("content").map(|content| (content, &content.kind)) {
        None | Some((_, Kind::Null)) => {}
        Some((_, Kind::Text(text))) => {
            out.result_texts.push((at, 0, *text));
            parts.push(ResultPart::Text(text.decode().into_owned()));
        }
        Some((_, Kind::Array(items))) => {
            for item in items {
                let part = match kind(item) {
                    BlockKind::Text => match item.get("text").and_then(Value::as_text) {
                        Some(text) => {
                            out.result_texts.push((at, parts.len(), *text));
                            ResultPart::Text(text.decode().into_owned())
                        }
                        None => ResultPart::Opaque {
                            chars: item.range.len(),
                        },
                    },
                    BlockKind::Media(kind) => {
                        let place = (at, parts.len(), item.range.clone());
                        out.result_media.push(place);
                        ResultPart::Media(medium(kind, item))
                    }
                    _ => ResultPart::Opaque {
                        chars: item.range.len(),
                    },
                };
                parts.push(part);
            }
        }
        Some((content, _)) => parts.push(ResultPart::Opaque {
            chars: content.range.len(),
        }),
    }
    ToolResult {
        call_id: member(block, "tool_use_id").unwrap_or_default().into(),
        parts,
        is_error: block.get("is_error").map(|flag| &flag.kind) == Some(&Kind::Bool(true)),
    }
}

pub(crate) fn canonical(value: &Value<'_>) -> Option<Digest> {
    let Some(role) = role(value) else {
        return canonical::unknown(value);
    };
    if role == Role::System {
        return None;
    }
    let mut out = Canonical::new(role.as_str());
    if let Some(content) = value.get("content") {
        match &content.kind {
            Kind::Text(text) => out.said(text, role),
            Kind::Array(blocks) => {
                for block in blocks {
                    canonical_block(block, role, &mut out);
                }
            }
            _ => out.json(b'c', content),
        }
    }
    out.rest(value, &["role", "content", "id"]);
    out.finish()
}

fn canonical_block(block: &Value<'_>, role: Role, out: &mut Canonical) {
    match kind(block) {
        BlockKind::Text => {
            if let Some(text) = block.get("text").and_then(Value::as_text) {
                out.said(text, role);
            }
            out.rest(block, &["type", "text"]);
        }
        BlockKind::Thinking => {}
        BlockKind::Result => {
            out.add(b'o', b"");
            match block.get("content").map(|content| &content.kind) {
                // A string is one text block.
                Some(Kind::Text(text)) => out.text(b's', text),
                Some(Kind::Array(items)) => {
                    for item in items {
                        match (kind(item), item.get("text").and_then(Value::as_text)) {
                            (BlockKind::Text, Some(text)) => out.text(b's', text),
                            _ => {
                                out.add(b'q', b"");
                                out.rest(item, &[]);
                            }
                        }
                    }
                }
                None | Some(Kind::Null) => {}
                Some(_) => {
                    if let Some(content) = block.get("content") {
                        out.json(b'c', content);
                    }
                }
            }
            if block.get("is_error").map(|flag| &flag.kind) == Some(&Kind::Bool(true)) {
                out.add(b'e', b"");
            }
            out.rest(block, &["content", "is_error"]);
        }
        BlockKind::Call | BlockKind::Media(_) | BlockKind::Other => {
            out.add(b'b', b"");
            out.rest(block, &[]);
        }
    }
}

/// A cache mark among the blocks of a message, as it is spelled.
pub(crate) fn cache_mark<'a>(value: &Value<'_>, source: &'a [u8]) -> Option<&'a [u8]> {
    let content = value.get("content")?;
    let mark = content
        .items()
        .iter()
        .rev()
        .find_map(|block| block.get("cache_control"))?;
    (!mark.is_null()).then(|| source.get(mark.range.clone()).unwrap_or_default())
}

pub(crate) fn summary_message(text: &str, cache_mark: Option<&[u8]>) -> Vec<u8> {
    let mut out = br#"{"role":"user","content":[{"type":"text","text":"#.to_vec();
    out.extend_from_slice(quoted(text).as_bytes());
    if let Some(mark) = cache_mark {
        out.extend_from_slice(br#","cache_control":"#);
        out.extend_from_slice(mark);
    }
    out.extend_from_slice(b"}]}");
    out
}
