//! What the formats get wrong in the same way.

use super::finding::{Cure, Finding};
use super::parts::{joined, quoted, raw, set_member, spelled};
use super::problem::ProblemCode;
use crate::json::{Kind, Text, Value};
use crate::splice::Edit;

/// Stands where a tool returned nothing at all.
pub(super) const NO_OUTPUT: &str = "(no output)";
/// Stands for the name of a tool that nobody knows any more.
pub(super) const UNKNOWN_TOOL: &str = "unknown_tool";

/// Whether a role belongs to the format; if not, what is wrong. Names that other programs use for the same are
/// put right, anything else is nobody's to guess: a wrong guess would give a text authority it never had.
pub(super) fn role(message: &Value<'_>, allowed: &[&str]) -> Result<String, Finding> {
    let role = message.string("role").unwrap_or_default();
    if allowed.contains(&role.as_ref()) {
        return Ok(role.into_owned());
    }
    let meant = match role.to_lowercase().as_str() {
        "user" | "human" => Some("user"),
        "assistant" | "ai" | "bot" | "model" => Some("assistant"),
        "system" | "developer" => Some("system"),
        _ => None,
    };
    let cure = match meant {
        Some(meant) => Cure::Edits(
            vec![set_member(message, "role", quoted(meant))],
            "the format's own name for it is put in",
        ),
        None => Cure::None,
    };
    let what = match message.get("role") {
        Some(_) => format!("the format does not know the role {role:?}"),
        None => "it has no role".to_owned(),
    };
    Err(Finding::of_message(ProblemCode::UnknownRole, what, cure))
}

/// Content that is neither text nor a list: the list it belongs into, or its spelling as text.
pub(super) fn wrong_content(
    object: &Value<'_>,
    name: &str,
    content: &Value<'_>,
    bytes: &[u8],
) -> Cure {
    let is_block = content.string("type").is_some();
    let with = match is_block {
        true => joined(&[raw(bytes, content)]),
        false => spelled(bytes, content),
    };
    let deed = "it is put where a text or a list belongs";
    Cure::Edits(vec![set_member(object, name, with)], deed)
}

/// A content that says nothing: absent, null, blank, or an empty list.
pub(super) fn says_nothing(content: Option<&Value<'_>>) -> bool {
    match content.map(|content| &content.kind) {
        None | Some(Kind::Null) => true,
        Some(Kind::Text(text)) => is_blank(text),
        Some(Kind::Array(items)) => items.is_empty(),
        Some(_) => false,
    }
}

pub(super) fn is_blank(text: &Text<'_>) -> bool {
    text.decode().trim().is_empty()
}

/// Whether a member is a text that is not empty.
pub(super) fn has_text(object: &Value<'_>, name: &str) -> bool {
    object.string(name).is_some_and(|text| !text.is_empty())
}

/// An item of `list` goes.
pub(super) fn drop_item(list: &Value<'_>, item: &Value<'_>) -> Cure {
    Cure::DropItem {
        list: list.range.clone(),
        item: item.range.clone(),
    }
}

/// A block that is no object with a type: a text becomes a block of type `kind`, anything else goes.
pub(super) fn untyped_block(
    list: &Value<'_>,
    block: &Value<'_>,
    position: usize,
    kind: &str,
    bytes: &[u8],
) -> Option<Finding> {
    if block.string("type").is_some_and(|name| !name.is_empty()) {
        return None;
    }
    let made = "it is made a block of text";
    let cure = match &block.kind {
        Kind::Text(_) => {
            let mut with = format!(r#"{{"type":"{kind}","text":"#).into_bytes();
            with.extend_from_slice(raw(bytes, block));
            with.push(b'}');
            let range = block.range.clone();
            Cure::Edits(vec![Edit { range, with }], made)
        }
        Kind::Object(_) if block.string("text").is_some() => {
            Cure::Edits(vec![set_member(block, "type", quoted(kind))], made)
        }
        _ => drop_item(list, block),
    };
    let what = match &block.kind {
        Kind::Object(_) => "the block has no type",
        _ => "the block is not an object",
    };
    let code = ProblemCode::MalformedBlock;
    Some(Finding::of_block(code, position, what, cure))
}

/// A call whose tool is not named; `owner` holds the name.
pub(super) fn missing_name(owner: &Value<'_>, position: Option<usize>) -> Option<Finding> {
    if has_text(owner, "name") {
        return None;
    }
    let edit = set_member(owner, "name", quoted(UNKNOWN_TOOL));
    Some(Finding {
        code: ProblemCode::MissingName,
        block: position,
        what: "the call does not name its tool".to_owned(),
        cure: Cure::Edits(vec![edit], "it is called unknown_tool"),
    })
}

/// Arguments that are not a text, where the format wants JSON written as one.
pub(super) fn wrong_arguments(
    owner: &Value<'_>,
    name: &str,
    empty: &str,
    position: Option<usize>,
    bytes: &[u8],
) -> Option<Finding> {
    let given = owner.get(name);
    let with = match given.map(|value| (value, &value.kind)) {
        Some((_, Kind::Text(_))) => return None,
        None | Some((_, Kind::Null)) => quoted(empty),
        Some((value, _)) => spelled(bytes, value),
    };
    Some(Finding {
        code: ProblemCode::MalformedArguments,
        block: position,
        what: format!("`{name}` of the call is not a text"),
        cure: Cure::Edits(vec![set_member(owner, name, with)], "it is written as one"),
    })
}

/// A result that has neither text nor parts.
pub(super) fn missing_output(result: &Value<'_>, name: &str, bytes: &[u8]) -> Option<Finding> {
    let cure = match result.get(name).map(|value| (value, &value.kind)) {
        Some((_, Kind::Text(_))) => return None,
        Some((_, Kind::Array(items))) if !items.is_empty() => return None,
        None | Some((_, Kind::Null | Kind::Array(_))) => Cure::Edits(
            vec![set_member(result, name, quoted(NO_OUTPUT))],
            "a short text says that there was no output",
        ),
        Some((value, _)) => wrong_content(result, name, value, bytes),
    };
    let what = format!("`{name}` of the result is neither a text nor a list of parts");
    Some(Finding::of_message(ProblemCode::MissingOutput, what, cure))
}
