//! What one message of OpenAI Chat Completions gets wrong by itself.

use super::finding::{Cure, Finding};
use super::parts::{drop_items, joined, raw, remove_member, set_member, with_edits};
use super::problem::ProblemCode;
use super::shared::{
    UNKNOWN_TOOL, drop_item, has_text, missing_name, missing_output, role, says_nothing,
    untyped_block, wrong_arguments, wrong_content,
};
use crate::json::{Kind, Value};

pub(super) fn form(message: &Value<'_>, bytes: &[u8]) -> Vec<Finding> {
    let known = [
        "system",
        "developer",
        "user",
        "assistant",
        "tool",
        "function",
    ];
    let role = match role(message, &known) {
        Ok(role) => role,
        Err(finding) => return vec![finding],
    };
    match role.as_str() {
        "tool" => {
            let mut out: Vec<Finding> = missing_output(message, "content", bytes)
                .into_iter()
                .collect();
            out.extend(parts(message, bytes));
            out
        }
        "assistant" => {
            let mut out = said(message, bytes, stands_without_content(message));
            out.extend(calls(message, bytes));
            out
        }
        _ => said(message, bytes, false),
    }
}

/// Whether an assistant message needs no content.
fn stands_without_content(message: &Value<'_>) -> bool {
    let has_calls = message
        .get("tool_calls")
        .is_some_and(|calls| !calls.items().is_empty());
    has_calls
        || ["function_call", "refusal", "audio"]
            .iter()
            .any(|name| message.get(name).is_some_and(|value| !value.is_null()))
}

fn said(message: &Value<'_>, bytes: &[u8], may_be_silent: bool) -> Vec<Finding> {
    let content = message.get("content");
    if says_nothing(content) {
        // Many clients send an empty text next to calls, and the provider takes it.
        let is_taken = match content.map(|content| &content.kind) {
            None | Some(Kind::Null) => true,
            Some(Kind::Text(text)) => text.is(""),
            Some(_) => false,
        };
        if may_be_silent && is_taken {
            return Vec::new();
        }
        let cure = match may_be_silent {
            true => Cure::Edits(
                vec![set_member(message, "content", *b"null")],
                "it is set to null",
            ),
            false => Cure::DropMessage,
        };
        let what = match may_be_silent {
            true => "its content is blank",
            false => "it says nothing",
        };
        return vec![Finding::of_message(ProblemCode::EmptyMessage, what, cure)];
    }
    match content.map(|content| (content, &content.kind)) {
        Some((content, Kind::Bool(_) | Kind::Number(_) | Kind::Object(_))) => {
            let cure = wrong_content(message, "content", content, bytes);
            let what = "its content is neither a text nor a list of parts";
            vec![Finding::of_message(
                ProblemCode::MalformedContent,
                what,
                cure,
            )]
        }
        _ => parts(message, bytes),
    }
}

fn parts(message: &Value<'_>, bytes: &[u8]) -> Vec<Finding> {
    let Some(content) = message.get("content") else {
        return Vec::new();
    };
    let mut out: Vec<Finding> = foreign_results(message, content, bytes)
        .into_iter()
        .collect();
    for (position, part) in content.items().iter().enumerate() {
        if let Some(untyped) = untyped_block(content, part, position, "text", bytes) {
            out.push(untyped);
            continue;
        }
        let kind = part.string("type").unwrap_or_default();
        let (code, what) = match kind.as_ref() {
            "text" if !has_text(part, "text") => {
                (ProblemCode::EmptyText, "the text is empty".to_owned())
            }
            "tool_use" | "thinking" => (
                ProblemCode::MisplacedBlock,
                format!("the format has no part of type {kind}"),
            ),
            _ => continue,
        };
        out.push(Finding::of_block(
            code,
            position,
            what,
            drop_item(content, part),
        ));
    }
    out
}

/// Results as Anthropic writes them become messages of their own, in front of what else the message says.
fn foreign_results(message: &Value<'_>, content: &Value<'_>, bytes: &[u8]) -> Option<Finding> {
    let is_result = |part: &&Value<'_>| part.string("type").as_deref() == Some("tool_result");
    let position = content.items().iter().position(|part| is_result(&part))?;
    let results: Vec<&Value<'_>> = content.items().iter().filter(is_result).collect();
    let mut messages: Vec<Vec<u8>> = results
        .iter()
        .map(|result| tool_message(result, bytes))
        .collect();
    let ranges: Vec<_> = results.iter().map(|result| result.range.clone()).collect();
    let (edit, is_all) = drop_items(bytes, &content.range, &ranges)?;
    let rest = with_edits(bytes, &[edit]);
    let has_more = !is_all || stands_without_content(message);
    if has_more {
        // An assistant's words come before what its tools returned.
        let at = match message.string("role").as_deref() {
            Some("assistant") => 0,
            _ => messages.len(),
        };
        messages.insert(at, rest);
    }
    Some(Finding::of_block(
        ProblemCode::MisplacedResult,
        position,
        "a result has to be a message of the role tool",
        Cure::Replace(messages, "it is written as one"),
    ))
}

fn tool_message(result: &Value<'_>, bytes: &[u8]) -> Vec<u8> {
    let id = result
        .get("tool_use_id")
        .map_or(&b"\"\""[..], |id| raw(bytes, id));
    let content = result
        .get("content")
        .map_or(&b"\"\""[..], |content| raw(bytes, content));
    [
        br#"{"role":"tool","tool_call_id":"#,
        id,
        br#","content":"#,
        content,
        b"}",
    ]
    .concat()
}

fn calls(message: &Value<'_>, bytes: &[u8]) -> Vec<Finding> {
    let Some(calls) = message.get("tool_calls").filter(|calls| !calls.is_null()) else {
        return Vec::new();
    };
    let wrong = |what: &str, cure| {
        vec![Finding::of_message(
            ProblemCode::MalformedContent,
            what,
            cure,
        )]
    };
    let removed = || {
        let edits = remove_member(message, "tool_calls").into_iter().collect();
        Cure::Edits(edits, "`tool_calls` is removed")
    };
    match &calls.kind {
        Kind::Array(items) if items.is_empty() => wrong("`tool_calls` is empty", removed()),
        Kind::Array(items) => {
            let numbered = items.iter().enumerate();
            numbered
                .flat_map(|(position, item)| call(calls, item, position, bytes))
                .collect()
        }
        Kind::Object(_) if calls.get("function").is_some() => {
            let list = joined(&[raw(bytes, calls)]);
            let cure = Cure::Edits(
                vec![set_member(message, "tool_calls", list)],
                "it is put into one",
            );
            wrong("`tool_calls` is not a list", cure)
        }
        _ => wrong("`tool_calls` is not a list", removed()),
    }
}

fn call(calls: &Value<'_>, call: &Value<'_>, position: usize, bytes: &[u8]) -> Vec<Finding> {
    if !matches!(call.kind, Kind::Object(_)) {
        let what = "the call is not an object";
        let cure = drop_item(calls, call);
        return vec![Finding::of_block(
            ProblemCode::MalformedBlock,
            position,
            what,
            cure,
        )];
    }
    let (owner, arguments, empty) = match call.string("type").as_deref() {
        Some("custom") => ("custom", "input", ""),
        _ => ("function", "arguments", "{}"),
    };
    match call
        .get(owner)
        .filter(|called| matches!(called.kind, Kind::Object(_)))
    {
        Some(called) => {
            let mut out: Vec<Finding> = missing_name(called, Some(position)).into_iter().collect();
            out.extend(wrong_arguments(
                called,
                arguments,
                empty,
                Some(position),
                bytes,
            ));
            out
        }
        None => {
            let with = format!(r#"{{"name":"{UNKNOWN_TOOL}","{arguments}":"{empty}"}}"#);
            let cure = Cure::Edits(
                vec![set_member(call, owner, with)],
                "it is called unknown_tool",
            );
            let what = "the call does not name its tool";
            vec![Finding::of_block(
                ProblemCode::MissingName,
                position,
                what,
                cure,
            )]
        }
    }
}
