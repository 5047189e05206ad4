//! What one message of Anthropic Messages gets wrong by itself.

use super::finding::{Cure, Finding, Place};
use super::marks::is_marked;
use super::parts::{drop_items, joined, raw, remove_member, set_member, with_edits};
use super::problem::ProblemCode;
use super::shared::{
    drop_item, has_text, is_blank, missing_name, role, says_nothing, untyped_block, wrong_content,
};
use crate::json::{Kind, Value, read};

pub(super) fn form(message: &Value<'_>, bytes: &[u8], place: Place) -> Vec<Finding> {
    let is_foreign_result = message.string("role").as_deref() == Some("tool");
    if is_foreign_result && has_text(message, "tool_call_id") {
        return vec![foreign_result(message, bytes)];
    }
    let role = match role(message, &["user", "assistant", "system"]) {
        Ok(role) => role,
        Err(finding) => return vec![finding],
    };
    let Some(content) = message.get("content").filter(|content| !content.is_null()) else {
        return vec![empty("it has no content")];
    };
    let is_prefill = place.is_last && role == "assistant";
    match &content.kind {
        Kind::Text(_) | Kind::Array(_) if says_nothing(Some(content)) => match is_prefill {
            true => Vec::new(),
            false => vec![empty("it says nothing")],
        },
        Kind::Text(_) => Vec::new(),
        Kind::Array(blocks) => {
            let mut out = Vec::from_iter(misplaced_results(content, &role, bytes));
            for (position, block) in blocks.iter().enumerate() {
                let in_list = Block {
                    content,
                    block,
                    position,
                    bytes,
                };
                out.extend(in_list.findings(&role));
            }
            out.extend(trailing_thinking(content, &role));
            out
        }
        _ => {
            let cure = wrong_content(message, "content", content, bytes);
            let what = "its content is neither a text nor a list of blocks";
            vec![Finding::of_message(
                ProblemCode::MalformedContent,
                what,
                cure,
            )]
        }
    }
}

fn empty(what: &str) -> Finding {
    Finding::of_message(ProblemCode::EmptyMessage, what, Cure::DropMessage)
}

/// A result as OpenAI Chat writes it.
fn foreign_result(message: &Value<'_>, bytes: &[u8]) -> Finding {
    let mut with = br#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"#.to_vec();
    with.extend(
        message
            .get("tool_call_id")
            .map_or(&b""[..], |id| raw(bytes, id)),
    );
    if let Some(content) = message.get("content").filter(|content| !content.is_null()) {
        with.extend_from_slice(br#","content":"#);
        with.extend_from_slice(raw(bytes, content));
    }
    with.extend_from_slice(b"}]}");
    let what = "a result has to stand in a message of the user";
    let cure = Cure::Replace(vec![with], "it is written as one");
    Finding::of_message(ProblemCode::MisplacedResult, what, cure)
}

/// Results outside the user's messages move into one right behind.
fn misplaced_results(content: &Value<'_>, role: &str, bytes: &[u8]) -> Option<Finding> {
    if role == "user" {
        return None;
    }
    let is_result = |block: &&Value<'_>| block.string("type").as_deref() == Some("tool_result");
    let results: Vec<&Value<'_>> = content.items().iter().filter(is_result).collect();
    let position = content.items().iter().position(|block| is_result(&block))?;
    let ranges: Vec<_> = results.iter().map(|block| block.range.clone()).collect();
    let (edit, is_all) = drop_items(bytes, &content.range, &ranges)?;
    let mut messages = Vec::new();
    if !is_all {
        messages.push(with_edits(bytes, &[edit]));
    }
    let blocks: Vec<&[u8]> = results.iter().map(|block| raw(bytes, block)).collect();
    messages.push(
        [
            br#"{"role":"user","content":"#,
            joined(&blocks).as_slice(),
            b"}",
        ]
        .concat(),
    );
    Some(Finding::of_block(
        ProblemCode::MisplacedResult,
        position,
        "a result has to stand in a message of the user",
        Cure::Replace(messages, "it is moved into one right behind"),
    ))
}

fn is_thinking(block: &Value<'_>) -> bool {
    matches!(
        block.string("type").as_deref(),
        Some("thinking" | "redacted_thinking")
    )
}

fn trailing_thinking(content: &Value<'_>, role: &str) -> Option<Finding> {
    let last = content
        .items()
        .last()
        .filter(|last| role == "assistant" && is_thinking(last))?;
    Some(Finding::of_block(
        ProblemCode::EndsInThinking,
        content.items().len() - 1,
        "the message ends in thinking",
        drop_item(content, last),
    ))
}

struct Block<'v, 'a> {
    content: &'v Value<'a>,
    block: &'v Value<'a>,
    position: usize,
    bytes: &'v [u8],
}

impl Block<'_, '_> {
    fn finding(&self, code: ProblemCode, what: &str, cure: Cure) -> Finding {
        Finding::of_block(code, self.position, what, cure)
    }

    fn dropped(&self, code: ProblemCode, what: &str) -> Finding {
        self.finding(code, what, drop_item(self.content, self.block))
    }

    fn findings(&self, role: &str) -> Vec<Finding> {
        let untyped = untyped_block(self.content, self.block, self.position, "text", self.bytes);
        if let Some(untyped) = untyped {
            return vec![untyped];
        }
        let kind = self.block.string("type").unwrap_or_default();
        match kind.as_ref() {
            "tool_use" | "server_tool_use" | "mcp_tool_use" | "thinking" | "redacted_thinking"
                if role != "assistant" =>
            {
                let what =
                    format!("a block of type {kind} can only stand in the assistant's messages");
                vec![self.dropped(ProblemCode::MisplacedBlock, &what)]
            }
            "text" => self.text(),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => self.call(),
            "tool_result" => self.result(),
            "thinking" | "redacted_thinking" => self.thinking(&kind),
            _ => Vec::new(),
        }
    }

    fn text(&self) -> Vec<Finding> {
        let text = self.block.get("text").and_then(Value::as_text);
        if text.is_some_and(|text| !is_blank(text)) {
            return Vec::new();
        }
        let mut out = vec![self.dropped(ProblemCode::EmptyText, "the text is empty")];
        if is_marked(self.block) {
            let what = "an empty text cannot carry a cache mark";
            out.push(self.finding(ProblemCode::MisplacedCacheMark, what, Cure::None));
        }
        out
    }

    fn call(&self) -> Vec<Finding> {
        let mut out: Vec<Finding> = missing_name(self.block, Some(self.position))
            .into_iter()
            .collect();
        let input = self.block.get("input");
        if !matches!(input.map(|input| &input.kind), Some(Kind::Object(_))) {
            let edit = set_member(self.block, "input", self.object_of(input));
            let cure = Cure::Edits(vec![edit], "it is put into one");
            let what = "`input` of the call is not an object";
            out.push(self.finding(ProblemCode::MalformedArguments, what, cure));
        }
        out
    }

    /// Arguments as an object: the one that a text spells, an empty one, or one around what is there.
    fn object_of(&self, input: Option<&Value<'_>>) -> Vec<u8> {
        let Some(input) = input.filter(|input| !input.is_null()) else {
            return b"{}".to_vec();
        };
        if let Some(text) = input.as_text() {
            let text = text.decode();
            let spelled =
                read(text.as_bytes()).is_ok_and(|value| matches!(value.kind, Kind::Object(_)));
            if spelled {
                return text.trim().as_bytes().to_vec();
            }
        }
        [br#"{"input":"#, raw(self.bytes, input), b"}"].concat()
    }

    fn result(&self) -> Vec<Finding> {
        let Some(inner) = self.block.get("content").filter(|inner| !inner.is_null()) else {
            return Vec::new();
        };
        match &inner.kind {
            Kind::Text(_) => Vec::new(),
            Kind::Array(parts) => {
                let is_empty = |part: &&Value<'_>| {
                    part.string("type").as_deref() == Some("text")
                        && part
                            .string("text")
                            .is_none_or(|text| text.trim().is_empty())
                };
                let what = "a text inside the result is empty";
                let found = parts.iter().filter(is_empty);
                found
                    .map(|part| self.finding(ProblemCode::EmptyText, what, drop_item(inner, part)))
                    .collect()
            }
            _ => {
                let cure = wrong_content(self.block, "content", inner, self.bytes);
                let what = "the content of the result is neither a text nor a list of blocks";
                vec![self.finding(ProblemCode::MalformedContent, what, cure)]
            }
        }
    }

    fn thinking(&self, kind: &str) -> Vec<Finding> {
        let mut out = Vec::new();
        if is_marked(self.block) {
            let edits = remove_member(self.block, "cache_control")
                .into_iter()
                .collect();
            let cure = Cure::Edits(edits, "the mark is removed");
            let what = "thinking cannot carry a cache mark";
            out.push(self.finding(ProblemCode::MisplacedCacheMark, what, cure));
        }
        let is_given = match kind {
            "redacted_thinking" => has_text(self.block, "data"),
            _ => self.block.string("thinking").is_some(),
        };
        if !is_given {
            out.push(self.dropped(ProblemCode::MissingThinking, "there is no thinking in it"));
        } else if kind == "thinking" && !has_text(self.block, "signature") {
            out.push(self.dropped(ProblemCode::MissingSignature, "the thinking is not signed"));
        }
        out
    }
}
