//! Anthropic wants the results of a step in front of the one user message behind it.

use std::collections::{BTreeMap, HashMap};

use super::Fix;
use super::draft::{Draft, Entry, fix};
use super::order::fix_of;
use super::stubs;
use crate::json::{Kind, Value};
use crate::splice::Edit;
use crate::validity::{Fate, Pairing, Seen, Speaker, Standing, with_edits};

pub(super) fn ordered(draft: &Draft, seen: &[Seen], pairing: &Pairing) -> (Vec<Entry>, Vec<Fix>) {
    let readings = draft.readings();
    let mut fixes = Vec::new();
    let named = |message: usize| draft.entries().get(message).and_then(|entry| entry.named);
    let bytes_of = |message: usize, block: usize| -> Option<Vec<u8>> {
        let content = readings.get(message)?.as_ref().ok()?.get("content")?;
        let range = content.items().get(block)?.range.clone();
        Some(draft.entries().get(message)?.bytes.get(range)?.to_vec())
    };
    // The results that are put in front, by the last message of the assistant's run; which blocks go.
    let mut moved: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
    let mut gone: HashMap<usize, Vec<usize>> = HashMap::new();
    for result in &pairing.results {
        let Some(fix) = fix_of(result.fate, &result.id, named(result.message)) else {
            continue;
        };
        fixes.push(fix);
        gone.entry(result.message).or_default().push(result.block);
        if let Fate::Answers(call, _) = result.fate
            && let Some(call) = pairing.calls.get(call)
        {
            let place = last_of_run(seen, call.message);
            moved
                .entry(place)
                .or_default()
                .extend(bytes_of(result.message, result.block));
        }
    }
    for call in pairing.calls.iter().filter(|call| call.answer.is_none()) {
        let text = format!(
            "the call {:?} has no result; one that says so is put in",
            call.id
        );
        fixes.push(fix(Pairing::unanswered(call), named(call.message), &text));
        let place = last_of_run(seen, call.message);
        moved
            .entry(place)
            .or_default()
            .push(stubs::no_result_block(&call.id));
    }
    let right = |message: usize| {
        let is_right = |fate| matches!(fate, Fate::Answers(_, Standing::Right));
        let results = pairing.results.iter();
        results
            .filter(|result| result.message == message && is_right(result.fate))
            .count()
    };
    let mut out = Vec::with_capacity(draft.entries().len() + moved.len());
    for (index, entry) in draft.entries().iter().enumerate() {
        let before = index.checked_sub(1);
        let is_user = seen
            .get(index)
            .is_some_and(|message| message.speaker == Speaker::User);
        let first = before
            .and_then(|before| moved.remove(&before))
            .unwrap_or_default();
        let gone = gone.remove(&index).unwrap_or_default();
        let reading = readings
            .get(index)
            .and_then(|reading| reading.as_ref().ok());
        match reading.filter(|_| is_user) {
            Some(message) if !first.is_empty() || !gone.is_empty() => {
                out.extend(rewritten(entry, message, &first, right(index), &gone));
            }
            _ => {
                if !first.is_empty() {
                    out.push(Entry::made(user_message(&first), None));
                }
                out.push(entry.clone());
            }
        }
    }
    // The last message may be the assistant's.
    for results in moved.into_values() {
        out.push(Entry::made(user_message(&results), None));
    }
    (out, fixes)
}

/// The last message of the run of assistant messages in which a call stands.
fn last_of_run(seen: &[Seen], call: usize) -> usize {
    let rest = seen.get(call + 1..).unwrap_or_default().iter();
    call + rest
        .take_while(|message| message.speaker == Speaker::Assistant)
        .count()
}

fn user_message(blocks: &[Vec<u8>]) -> Vec<u8> {
    [
        br#"{"role":"user","content":["#,
        blocks.join(&b',').as_slice(),
        b"]}",
    ]
    .concat()
}

/// A user message with results put behind the `right` ones it begins with, and without the blocks that are `gone`;
/// nothing when there is nothing left in it.
fn rewritten(
    entry: &Entry,
    message: &Value<'_>,
    results: &[Vec<u8>],
    right: usize,
    gone: &[usize],
) -> Option<Entry> {
    let content = message.get("content")?;
    let raw = |value: &Value<'_>| {
        entry
            .bytes
            .get(value.range.clone())
            .unwrap_or_default()
            .to_vec()
    };
    let blocks: Vec<Vec<u8>> = match &content.kind {
        Kind::Array(items) => {
            let stays = |(block, _): &(usize, &Value<'_>)| !gone.contains(block);
            items
                .iter()
                .enumerate()
                .filter(stays)
                .map(|(_, item)| raw(item))
                .collect()
        }
        _ => vec![[br#"{"type":"text","text":"#, raw(content).as_slice(), b"}"].concat()],
    };
    let (front, rest) = blocks.split_at(right.min(blocks.len()));
    let list = [front, results, rest].concat();
    if list.is_empty() {
        return None;
    }
    let with = [b"[", list.join(&b',').as_slice(), b"]"].concat();
    let range = content.range.clone();
    Some(entry.changed(with_edits(&entry.bytes, &[Edit { range, with }])))
}
