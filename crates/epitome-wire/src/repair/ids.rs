//! Ids of calls that are missing or not their own.

use std::collections::{HashMap, HashSet};

use super::draft::{Draft, fix};
use crate::json::{Value, escape};
use crate::splice::Edit;
use crate::validity::{
    Pairing, ProblemCode, Setting, call_member, result_member, set_member, with_edits,
};
use crate::wire::Wire;

/// Providers take ids of at most 64 characters.
const MOST_CHARS: usize = 56;

/// Gives every call an id of its own, and the results the ids of the calls that they answer.
pub(super) fn give(draft: &mut Draft, setting: &Setting) {
    let pairing = Pairing::of(&draft.seen(setting.wire), setting);
    let unfit: HashMap<usize, ProblemCode> = pairing.unfit_ids().into_iter().collect();
    let mut taken: HashSet<String> = pairing.calls.iter().map(|call| call.id.clone()).collect();
    taken.extend(pairing.results.iter().map(|result| result.id.clone()));
    let mut edits: HashMap<usize, Vec<Edit>> = HashMap::new();
    let mut fixes = Vec::new();
    let readings = draft.readings();
    let reading = |message: usize| readings.get(message)?.as_ref().ok();
    let named = |message: usize| draft.entries().get(message).and_then(|entry| entry.named);
    for (index, call) in pairing.calls.iter().enumerate() {
        let code = unfit.get(&index).copied();
        let id = match code {
            Some(_) => fresh(setting.wire, &call.id, &taken),
            None => call.id.clone(),
        };
        taken.insert(id.clone());
        if let Some(code) = code
            && let Some((owner, member)) =
                reading(call.message).and_then(|m| call_member(setting.wire, m, call.block))
        {
            edits
                .entry(call.message)
                .or_default()
                .push(set_member(owner, member, json(&id)));
            let text = match call.id.is_empty() {
                true => format!("the call has no id; it is now {id:?}"),
                false => format!(
                    "another call has the id {:?}; this one is now {id:?}",
                    call.id
                ),
            };
            fixes.push(fix(code, named(call.message), &text));
        }
        let answer = call.answer.and_then(|answer| pairing.results.get(answer));
        if let Some(answer) = answer.filter(|answer| answer.id != id)
            && let Some(owner) =
                reading(answer.message).and_then(|m| result_owner(setting.wire, m, answer.block))
        {
            let member = result_member(setting.wire, owner);
            edits
                .entry(answer.message)
                .or_default()
                .push(set_member(owner, member, json(&id)));
            let code = code
                .filter(|_| !answer.id.is_empty())
                .unwrap_or(ProblemCode::MissingId);
            let text = format!("the result answers the call {id:?}; it says so now");
            fixes.push(fix(code, named(answer.message), &text));
        }
    }
    let entries =
        draft
            .entries()
            .iter()
            .enumerate()
            .map(|(index, entry)| match edits.get(&index) {
                Some(edits) => entry.changed(with_edits(&entry.bytes, edits)),
                None => entry.clone(),
            });
    let entries = entries.collect();
    drop(readings);
    draft.become_these(entries, fixes);
}

/// The object that says which call a result answers.
fn result_owner<'v, 'a>(wire: Wire, message: &'v Value<'a>, block: usize) -> Option<&'v Value<'a>> {
    match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => Some(message),
        Wire::Anthropic => message.get("content")?.items().get(block),
    }
}

fn json(id: &str) -> Vec<u8> {
    let mut out = vec![b'"'];
    escape(id, &mut out);
    out.push(b'"');
    out
}

/// The first id after `id` that is not taken.
fn fresh(wire: Wire, id: &str, taken: &HashSet<String>) -> String {
    let base: String = match (id, wire) {
        ("", Wire::Anthropic) => "toolu_repaired".to_owned(),
        ("", Wire::OpenAiChat | Wire::OpenAiResponses) => "call_repaired".to_owned(),
        _ => id.chars().take(MOST_CHARS).collect(),
    };
    let first = if id.is_empty() { 1 } else { 2 };
    (first..)
        .map(|number: u32| format!("{base}_{number}"))
        .find(|candidate| !taken.contains(candidate))
        .unwrap_or(base)
}
