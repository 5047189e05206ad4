//! Results behind their calls: orphans go, late ones move, missing ones are made.

use std::collections::HashMap;

use super::Fix;
use super::draft::{Draft, Entry, fix};
use super::{order_anthropic, stubs};
use crate::validity::{Fate, Pairing, ProblemCode, Seen, Setting, Standing};
use crate::wire::Wire;

/// Puts every result where its provider wants it.
pub(super) fn pair(draft: &mut Draft, setting: &Setting) {
    let seen = draft.seen(setting.wire);
    let pairing = Pairing::of(&seen, setting);
    let is_fine = pairing.calls.iter().all(|call| call.answer.is_some())
        && pairing.results.iter().all(|result| {
            matches!(
                result.fate,
                Fate::Answers(_, Standing::Right) | Fate::Elsewhere
            )
        });
    if is_fine {
        return;
    }
    let (entries, fixes) = match setting.wire {
        Wire::Anthropic => order_anthropic::ordered(draft, &seen, &pairing),
        Wire::OpenAiChat | Wire::OpenAiResponses => ordered(draft, &seen, &pairing, setting.wire),
    };
    draft.become_these(entries, fixes);
}

/// What is said about a result that goes or moves.
pub(super) fn fix_of(fate: Fate, id: &str, named: Option<usize>) -> Option<Fix> {
    let (code, what) = match fate {
        Fate::Orphan if id.is_empty() => (
            ProblemCode::MissingId,
            "the result does not say which call it answers; it is dropped".to_owned(),
        ),
        Fate::Orphan => (
            ProblemCode::OrphanResult,
            format!("no call has the id {id:?} of the result; it is dropped"),
        ),
        Fate::Repeated => (
            ProblemCode::RepeatedResult,
            format!("the call {id:?} has another result before; this one is dropped"),
        ),
        Fate::Answers(_, Standing::Late) => (
            ProblemCode::LateResult,
            format!("the result of {id:?} is moved right behind its call"),
        ),
        Fate::Answers(_, Standing::Split) => (
            ProblemCode::SplitResults,
            format!("the result of {id:?} is put to the other results of its step"),
        ),
        Fate::Answers(_, Standing::BehindText) => (
            ProblemCode::ResultBehindText,
            format!("the result of {id:?} is put in front of the other content"),
        ),
        Fate::Answers(_, Standing::Right) | Fate::Elsewhere => return None,
    };
    Some(fix(code, named, &what))
}

/// Chat and Responses: a result is a message of its own.
fn ordered(draft: &Draft, seen: &[Seen], pairing: &Pairing, wire: Wire) -> (Vec<Entry>, Vec<Fix>) {
    let mut fixes = Vec::new();
    // What is put behind a message, and which messages go.
    let mut behind: HashMap<usize, Vec<Entry>> = HashMap::new();
    let mut goes = vec![false; draft.entries().len()];
    let entry = |message: usize| draft.entries().get(message);
    let mut go = |message: usize| {
        if let Some(goes) = goes.get_mut(message) {
            *goes = true;
        }
    };
    for result in &pairing.results {
        let named = entry(result.message).and_then(|entry| entry.named);
        let Some(fix) = fix_of(result.fate, &result.id, named) else {
            continue;
        };
        fixes.push(fix);
        go(result.message);
        if let Fate::Answers(call, _) = result.fate
            && let Some(call) = pairing.calls.get(call)
            && let Some(late) = entry(result.message)
        {
            let place = last_of_step(seen, call.message, wire);
            behind.entry(place).or_default().push(late.moved());
        }
    }
    let readings = draft.readings();
    for call in pairing.calls.iter().filter(|call| call.answer.is_none()) {
        let named = entry(call.message).and_then(|entry| entry.named);
        let reading = readings
            .get(call.message)
            .and_then(|reading| reading.as_ref().ok());
        match stubs::no_result(wire, reading, &call.id) {
            Some(bytes) => {
                let text = format!(
                    "the call {:?} has no result; one that says so is put in",
                    call.id
                );
                fixes.push(fix(Pairing::unanswered(call), named, &text));
                let place = last_of_step(seen, call.message, wire);
                behind
                    .entry(place)
                    .or_default()
                    .push(Entry::made(bytes, None));
            }
            None => {
                let text = format!("the call {:?} has no result; the call is dropped", call.id);
                fixes.push(fix(Pairing::unanswered(call), named, &text));
                go(call.message);
            }
        }
    }
    let mut out = Vec::with_capacity(draft.entries().len() + behind.len());
    for (index, entry) in draft.entries().iter().enumerate() {
        if goes.get(index) == Some(&false) {
            out.push(entry.clone());
        }
        out.extend(behind.remove(&index).unwrap_or_default());
    }
    (out, fixes)
}

/// The last message that belongs to the step of a call: behind it there is room for more results.
fn last_of_step(seen: &[Seen], call: usize, wire: Wire) -> usize {
    let rest = seen.get(call + 1..).unwrap_or_default().iter();
    let is_of_step = |message: &&Seen| match wire {
        Wire::OpenAiResponses => message.has_call(),
        Wire::OpenAiChat | Wire::Anthropic => message.speaker == crate::validity::Speaker::Tool,
    };
    call + rest.take_while(is_of_step).count()
}
