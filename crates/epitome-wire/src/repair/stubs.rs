//! What is put in where something has to stand, and marks that are too many.

use epitome::Role;
use epitome::reference::layer;

use super::draft::{Draft, Entry, fix};
use crate::decode::{answer_message, text_message};
use crate::json::{Value, escape};
use crate::validity::{
    MOST_CACHE_MARKS, ProblemCode, Setting, Speaker, marked_objects, remove_member, with_edits,
};
use crate::wire::Wire;

/// Stands for a result that was not recorded.
const NO_RESULT: &str = "Error: no result of this call was recorded.";

/// A message that answers a call whose result is not there; nothing for a kind of call that cannot be answered
/// without the tool.
pub(super) fn no_result(wire: Wire, call: Option<&Value<'_>>, id: &str) -> Option<Vec<u8>> {
    if wire != Wire::OpenAiResponses {
        return Some(answer_message(wire, id, NO_RESULT));
    }
    let (kind, rest) = match call?.string("type")?.as_ref() {
        "function_call" => return Some(answer_message(wire, id, NO_RESULT)),
        "custom_tool_call" => (
            "custom_tool_call_output",
            format!(r#""output":"{NO_RESULT}""#),
        ),
        "local_shell_call" => (
            "local_shell_call_output",
            format!(r#""output":"{NO_RESULT}""#),
        ),
        "shell_call" => (
            "shell_call_output",
            format!(
                r#""output":[{{"stdout":"","stderr":"{NO_RESULT}","outcome":{{"type":"exit","exit_code":1}}}}]"#
            ),
        ),
        "apply_patch_call" => (
            "apply_patch_call_output",
            format!(r#""status":"failed","output":"{NO_RESULT}""#),
        ),
        _ => return None,
    };
    let mut out = format!(r#"{{"type":"{kind}","call_id":""#).into_bytes();
    escape(id, &mut out);
    out.extend_from_slice(format!(r#"",{rest}}}"#).as_bytes());
    Some(out)
}

/// The same as a block of Anthropic.
pub(super) fn no_result_block(id: &str) -> Vec<u8> {
    let mut out = br#"{"type":"tool_result","tool_use_id":""#.to_vec();
    escape(id, &mut out);
    out.extend_from_slice(format!(r#"","content":"{NO_RESULT}","is_error":true}}"#).as_bytes());
    out
}

/// Puts a user message where one has to be: in front of an Anthropic history, and where nothing is left.
pub(super) fn open(draft: &mut Draft, setting: &Setting) {
    let seen = draft.seen(setting.wire);
    let speaks = |speaker| speaker != Speaker::System;
    let (code, at, text) = match seen.first() {
        Some(first) if setting.wire == Wire::Anthropic && first.is_no_opening() => (
            ProblemCode::FirstNotUser,
            0,
            "the first message is not the user's; a short one is put in front",
        ),
        _ if draft.changes() > 0 && !seen.iter().any(|message| speaks(message.speaker)) => (
            ProblemCode::NoMessages,
            seen.len(),
            "no message is left; a short one is put in",
        ),
        _ => return,
    };
    let mut entries = draft.entries().to_vec();
    let stub = text_message(setting.wire, Role::User, layer::OPENING);
    entries.insert(at.min(entries.len()), Entry::made(stub, None));
    draft.become_these(entries, vec![fix(code, None, text)]);
}

/// Removes the oldest cache marks in the messages while there are too many.
pub(super) fn unmark(draft: &mut Draft, setting: &Setting) {
    if setting.wire != Wire::Anthropic {
        return;
    }
    let readings = draft.readings();
    let counts = readings
        .iter()
        .flatten()
        .map(|message| marked_objects(message).len());
    let mut excess =
        (counts.sum::<usize>() + setting.marks_around).saturating_sub(MOST_CACHE_MARKS);
    let mut fixes = Vec::new();
    let mut entries = Vec::with_capacity(readings.len());
    for (entry, reading) in draft.entries().iter().zip(&readings) {
        let marked = reading
            .as_ref()
            .map_or_else(|_| Vec::new(), |message| marked_objects(message));
        let removals = marked
            .into_iter()
            .filter_map(|block| remove_member(block, "cache_control"));
        let edits: Vec<_> = removals.take(excess).collect();
        excess -= edits.len();
        if edits.is_empty() {
            entries.push(entry.clone());
            continue;
        }
        let text = format!(
            "there are more than {MOST_CACHE_MARKS} cache marks; {} of the oldest removed here",
            edits.len()
        );
        fixes.push(fix(ProblemCode::TooManyCacheMarks, entry.named, &text));
        entries.push(entry.changed(with_edits(&entry.bytes, &edits)));
    }
    drop(readings);
    draft.become_these(entries, fixes);
}
