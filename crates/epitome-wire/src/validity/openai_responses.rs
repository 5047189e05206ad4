//! What one item of OpenAI Responses gets wrong by itself.

use super::finding::{Cure, Finding};
use super::parts::{quoted, raw, remove_member, set_member};
use super::problem::ProblemCode;
use super::shared::{
    drop_item, has_text, missing_name, missing_output, role, says_nothing, untyped_block,
    wrong_arguments, wrong_content,
};
use crate::json::{Kind, Text, Value};

pub(super) fn form(item: &Value<'_>, bytes: &[u8]) -> Vec<Finding> {
    let kind = item.string("type").unwrap_or_default();
    let mut out: Vec<Finding> = identifier(item, &kind).into_iter().collect();
    match kind.as_ref() {
        // A name of something that the provider keeps has no other form to check.
        "" if is_reference(item) => {}
        "" | "message" => out.extend(message(item, bytes)),
        "reasoning" => out.extend(missing_summary(item)),
        "function_call" => {
            out.extend(missing_name(item, None));
            out.extend(wrong_arguments(item, "arguments", "{}", None, bytes));
        }
        "custom_tool_call" => {
            out.extend(missing_name(item, None));
            out.extend(wrong_arguments(item, "input", "", None, bytes));
        }
        "function_call_output" | "custom_tool_call_output" => {
            let is_list = matches!(
                item.get("output").map(|output| &output.kind),
                Some(Kind::Array(_))
            );
            if !is_list {
                out.extend(missing_output(item, "output", bytes));
            }
        }
        _ => {}
    }
    out
}

/// The name of an item that the provider keeps: an id, and perhaps an empty type.
fn is_reference(item: &Value<'_>) -> bool {
    let is_bare =
        |name: &Text<'_>, value: &Value<'_>| name.is("id") || (name.is("type") && value.is_null());
    let members = item.members();
    item.string("id").is_some() && members.iter().all(|(name, value)| is_bare(name, value))
}

fn missing_summary(item: &Value<'_>) -> Option<Finding> {
    if matches!(
        item.get("summary").map(|summary| &summary.kind),
        Some(Kind::Array(_))
    ) {
        return None;
    }
    let edit = set_member(item, "summary", *b"[]");
    let cure = Cure::Edits(vec![edit], "an empty one is put in");
    let what = "the reasoning has no list of summaries";
    Some(Finding::of_message(
        ProblemCode::MalformedReasoning,
        what,
        cure,
    ))
}

/// Ids are typed; one that is not may be left out, but not invented.
fn identifier(item: &Value<'_>, kind: &str) -> Option<Finding> {
    let prefix = match kind {
        "function_call" => "fc",
        "reasoning" => "rs",
        "message" => "msg",
        _ => return None,
    };
    let id = item.string("id")?;
    if id.is_empty() || id.starts_with(prefix) {
        return None;
    }
    let edits = remove_member(item, "id").into_iter().collect();
    let what = format!("its id {id:?} does not begin with {prefix:?}");
    let cure = Cure::Edits(edits, "the id is removed");
    Some(Finding::of_message(ProblemCode::MalformedId, what, cure))
}

fn message(item: &Value<'_>, bytes: &[u8]) -> Vec<Finding> {
    let is_foreign_result = item.string("role").as_deref() == Some("tool");
    if is_foreign_result && has_text(item, "tool_call_id") {
        return vec![foreign_result(item, bytes)];
    }
    let role = match role(item, &["user", "assistant", "system", "developer"]) {
        Ok(role) => role,
        Err(finding) => return vec![finding],
    };
    let content = item.get("content");
    if says_nothing(content) {
        let what = "it says nothing";
        return vec![Finding::of_message(
            ProblemCode::EmptyMessage,
            what,
            Cure::DropMessage,
        )];
    }
    match content.map(|content| (content, &content.kind)) {
        Some((content, Kind::Array(parts))) => {
            let numbered = parts.iter().enumerate();
            numbered
                .filter_map(|(position, part)| self::part(content, part, position, &role, bytes))
                .collect()
        }
        Some((content, Kind::Bool(_) | Kind::Number(_) | Kind::Object(_))) => {
            let cure = wrong_content(item, "content", content, bytes);
            let what = "its content is neither a text nor a list of parts";
            vec![Finding::of_message(
                ProblemCode::MalformedContent,
                what,
                cure,
            )]
        }
        _ => Vec::new(),
    }
}

/// A result as OpenAI Chat writes it.
fn foreign_result(item: &Value<'_>, bytes: &[u8]) -> Finding {
    let mut with = br#"{"type":"function_call_output","call_id":"#.to_vec();
    with.extend(
        item.get("tool_call_id")
            .map_or(&b"\"\""[..], |id| raw(bytes, id)),
    );
    with.extend_from_slice(br#","output":"#);
    // Parts of Chat have other names, so that only a text is taken over as it is.
    match item.get("content") {
        Some(content) if content.as_text().is_some() => with.extend_from_slice(raw(bytes, content)),
        Some(content) => {
            let texts = content
                .items()
                .iter()
                .filter_map(|part| part.string("text"));
            with.extend(quoted(&texts.collect::<Vec<_>>().join("\n")));
        }
        None => with.extend_from_slice(b"\"\""),
    }
    with.push(b'}');
    let what = "a result has to be an item of its own";
    let cure = Cure::Replace(vec![with], "it is written as one");
    Finding::of_message(ProblemCode::MisplacedResult, what, cure)
}

fn part(
    content: &Value<'_>,
    part: &Value<'_>,
    position: usize,
    role: &str,
    bytes: &[u8],
) -> Option<Finding> {
    let text_kind = match role {
        "assistant" => "output_text",
        _ => "input_text",
    };
    if let Some(untyped) = untyped_block(content, part, position, text_kind, bytes) {
        return Some(untyped);
    }
    let kind = part.string("type").unwrap_or_default();
    let is_allowed = match role {
        "assistant" => matches!(kind.as_ref(), "output_text" | "refusal"),
        _ => matches!(
            kind.as_ref(),
            "input_text" | "input_image" | "input_file" | "input_audio"
        ),
    };
    if !is_allowed {
        let is_text = matches!(kind.as_ref(), "text" | "input_text" | "output_text");
        let cure = match is_text && part.string("text").is_some() {
            true => Cure::Edits(
                vec![set_member(part, "type", quoted(text_kind))],
                "the type that belongs there is put in",
            ),
            false => drop_item(content, part),
        };
        let what = format!("a message of the role {role} has no part of type {kind}");
        return Some(Finding::of_block(
            ProblemCode::MisplacedBlock,
            position,
            what,
            cure,
        ));
    }
    let is_empty = kind.ends_with("_text") && !has_text(part, "text");
    is_empty.then(|| {
        let cure = drop_item(content, part);
        Finding::of_block(ProblemCode::EmptyText, position, "the text is empty", cure)
    })
}
