//! OpenAI Chat Completions.

use epitome::{Block, Digest, MEDIA_TOKENS, Media, ResultPart, Role, ToolResult};

use crate::canonical::{self, Canonical};
use crate::decoded::{Blocks, Decoded, Unreadable, opaque};
use crate::json::{Kind, Text, Value, escape};
use crate::media;

/// Members that hold reasoning, by the names servers give them.
const REASONING: &[&str] = &["reasoning_content", "reasoning", "reasoning_details"];

pub(crate) fn role(value: &Value<'_>) -> Option<Role> {
    Some(match value.string("role")?.as_ref() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => return None,
    })
}

pub(crate) fn decode<'a>(value: &Value<'a>) -> Result<Decoded<'a>, Unreadable> {
    let role = role(value).ok_or(Unreadable::UnknownRole)?;
    let mut out = Blocks::default();
    if role == Role::Tool {
        result(value, &mut out);
    } else {
        for name in REASONING {
            if let Some(thinking) = value.get(name).filter(|thinking| !thinking.is_null()) {
                out.push(Block::Thinking {
                    chars: thinking.range.len(),
                });
            }
        }
        content(value, role, &mut out);
        calls(value, &mut out);
    }
    Ok(out.into_decoded(role))
}

fn content<'a>(value: &Value<'a>, role: Role, out: &mut Blocks<'a>) {
    let Some(content) = value.get("content") else {
        return;
    };
    match &content.kind {
        Kind::Null => {}
        Kind::Text(text) => out.say(text, role),
        Kind::Array(parts) => {
            for part in parts {
                match part_text(part) {
                    Some(text) => out.say(text, role),
                    None => out.push(other_part(part)),
                }
            }
        }
        _ => out.push(opaque(content)),
    }
}

fn part_text<'p, 'a>(part: &'p Value<'a>) -> Option<&'p Text<'a>> {
    match part.string("type").as_deref() {
        Some("text" | "refusal") => ["text", "refusal"]
            .iter()
            .find_map(|name| part.get(name)?.as_text()),
        _ => None,
    }
}

fn other_part(part: &Value<'_>) -> Block {
    match part.string("type").as_deref() {
        Some("image_url") => medium("image", media::openai_image(part)),
        Some("input_audio") => medium("audio", MEDIA_TOKENS),
        Some("file") => medium("document", MEDIA_TOKENS),
        _ => opaque(part),
    }
}

fn medium(kind: &str, tokens: u32) -> Block {
    Block::Media(Media {
        kind: kind.to_owned(),
        tokens,
    })
}

fn calls<'a>(value: &Value<'a>, out: &mut Blocks<'a>) {
    let Some(calls) = value.get("tool_calls").filter(|calls| !calls.is_null()) else {
        return;
    };
    let Kind::Array(calls) = &calls.kind else {
        out.push(opaque(calls));
        return;
    };
    for call in calls {
        let (name, arguments) = match (call.get("function"), call.get("custom")) {
            (Some(function), _) => (function.string("name"), function.get("arguments")),
            (None, Some(custom)) => (custom.string("name"), custom.get("input")),
            (None, None) => (None, None),
        };
        let name = name.unwrap_or_default();
        // Servers without ids pair a result with its call by the tool's name, or by the order alone.
        let id = call.string("id").unwrap_or_else(|| name.clone());
        out.call(&id, &name, arguments);
    }
}

fn result<'a>(value: &Value<'a>, out: &mut Blocks<'a>) {
    let mut parts = Vec::new();
    match value.get("content").map(|content| &content.kind) {
        None | Some(Kind::Null) => {}
        Some(Kind::Text(text)) => {
            out.result_texts.push((0, 0, *text));
            parts.push(ResultPart::Text(text.decode().into_owned()));
        }
        Some(Kind::Array(items)) => {
            for item in items {
                parts.push(match item.get("text").and_then(Value::as_text) {
                    Some(text) => {
                        out.result_texts.push((0, parts.len(), *text));
                        ResultPart::Text(text.decode().into_owned())
                    }
                    None => match other_part(item) {
                        Block::Media(media) => {
                            let place = (0, parts.len(), item.range.clone());
                            out.result_media.push(place);
                            ResultPart::Media(media)
                        }
                        _ => ResultPart::Opaque {
                            chars: item.range.len(),
                        },
                    },
                });
            }
        }
        Some(_) => parts.push(ResultPart::Opaque {
            chars: value.range.len(),
        }),
    }
    let id = value
        .string("tool_call_id")
        .or_else(|| value.string("name"))
        .unwrap_or_default();
    out.push(Block::Result(ToolResult {
        call_id: id.into(),
        parts,
        is_error: false,
    }));
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
            Kind::Array(parts) => parts
                .iter()
                .for_each(|part| canonical_part(part, role, &mut out)),
            Kind::Null => {}
            _ => out.json(b'c', content),
        }
    }
    let calls = value.get("tool_calls").filter(|calls| !calls.is_null());
    if let Some(calls) = calls.filter(|calls| !matches!(calls.kind, Kind::Array(_))) {
        out.json(b'j', calls);
    }
    for call in calls.map_or(&[][..], Value::items) {
        if let Some(id) = call.get("id").and_then(Value::as_text) {
            out.text(b'i', id);
        }
        let body = call.get("function").or_else(|| call.get("custom"));
        if let Some(name) = body
            .and_then(|body| body.get("name"))
            .and_then(Value::as_text)
        {
            out.text(b'n', name);
        }
        let arguments = body.and_then(|body| body.get("arguments").or_else(|| body.get("input")));
        if let Some(arguments) = arguments.and_then(Value::as_text) {
            out.json_text(b'a', arguments);
        }
        if let Some(body) = body {
            out.rest(body, &["name", "arguments", "input"]);
        }
        out.rest(call, &["id", "function", "custom", "index"]);
    }
    let known = [
        "role",
        "content",
        "tool_calls",
        "annotations",
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "reasoning_signature",
    ];
    out.rest(value, &known);
    out.finish()
}

fn canonical_part(part: &Value<'_>, role: Role, out: &mut Canonical) {
    let is_text = part.string("type").as_deref() == Some("text");
    match part
        .get("text")
        .and_then(Value::as_text)
        .filter(|_| is_text)
    {
        Some(text) => out.said(text, role),
        None => {
            out.add(b'p', b"");
            out.rest(part, &[]);
        }
    }
}

pub(crate) fn summary_message(text: &str) -> Vec<u8> {
    let mut out = br#"{"role":"user","content":""#.to_vec();
    escape(text, &mut out);
    out.extend_from_slice(br#""}"#);
    out
}
