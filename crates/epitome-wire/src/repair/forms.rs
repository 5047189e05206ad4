//! Cures of single messages.

use super::Fix;
use super::draft::{Draft, Entry, fix};
use crate::json::read;
use crate::splice::Edit;
use crate::validity::{Cure, Finding, Place, Setting, drop_items, form, neighbours, with_edits};
use crate::wire::Wire;

/// A message that is cured again and again is left as it is.
const MOST_CURES: usize = 12;

/// Puts right what messages get wrong by themselves.
pub(super) fn cure(draft: &mut Draft, setting: &Setting) {
    let mut fixes = Vec::new();
    let mut out = Vec::with_capacity(draft.entries().len());
    for (index, entry) in draft.entries().iter().enumerate() {
        let place = Place {
            wire: setting.wire,
            is_last: index + 1 == draft.entries().len(),
        };
        let mut waiting = vec![entry.clone()];
        for _ in 0..MOST_CURES {
            let before = fixes.len();
            waiting = waiting
                .into_iter()
                .flat_map(|entry| {
                    let found = form(&entry.bytes, &read(&entry.bytes), place);
                    cured(entry, &found, setting.wire, &mut fixes)
                })
                .collect();
            if fixes.len() == before {
                break;
            }
        }
        out.extend(waiting);
    }
    draft.become_these(out, fixes);
}

/// Puts right what stands next to the wrong thing.
pub(super) fn cure_neighbours(draft: &mut Draft, setting: &Setting) {
    let readings = draft.readings();
    let found = neighbours(&draft.seen(setting.wire), &readings, setting);
    let mut fixes = Vec::new();
    let mut out = Vec::with_capacity(draft.entries().len());
    for (index, entry) in draft.entries().iter().enumerate() {
        let own = found.iter().filter(|(at, _)| *at == index);
        let own: Vec<Finding> = own.map(|(_, finding)| finding.clone()).collect();
        out.extend(cured(entry.clone(), &own, setting.wire, &mut fixes));
    }
    drop(readings);
    draft.become_these(out, fixes);
}

/// The message after one round of cures: a cure of the whole message alone, or all blocks that go, or all edits.
fn cured(entry: Entry, found: &[Finding], wire: Wire, fixes: &mut Vec<Fix>) -> Vec<Entry> {
    let mut report = |finding: &Finding| {
        let place = finding
            .block
            .map_or_else(String::new, |block| format!("block {block}: "));
        let text = format!("{place}{}; {}", finding.what, finding.cure.as_str());
        fixes.push(fix(finding.code, entry.named, &text));
    };
    for finding in found {
        match &finding.cure {
            Cure::DropMessage => {
                report(finding);
                return Vec::new();
            }
            Cure::Replace(messages, _) => {
                report(finding);
                return replaced(&entry, messages);
            }
            Cure::None | Cure::Edits(..) | Cure::DropItem { .. } => {}
        }
    }
    let list = found.iter().find_map(|finding| match &finding.cure {
        Cure::DropItem { list, .. } => Some(list.clone()),
        _ => None,
    });
    if let Some(list) = list {
        let mut dropped = Vec::new();
        for finding in found {
            if let Cure::DropItem { list: other, item } = &finding.cure
                && *other == list
                && !dropped.contains(item)
            {
                dropped.push(item.clone());
                report(finding);
            }
        }
        let Some((edit, is_all)) = drop_items(&entry.bytes, &list, &dropped) else {
            return vec![entry];
        };
        // Anthropic takes an empty message at the end, but there is no reason to leave one behind.
        let is_content = read(&entry.bytes)
            .ok()
            .and_then(|message| Some(message.get("content")?.range == list))
            .unwrap_or(false);
        if is_all && is_content && wire == Wire::Anthropic {
            return Vec::new();
        }
        return vec![entry.changed(with_edits(&entry.bytes, &[edit]))];
    }
    let mut edits: Vec<Edit> = Vec::new();
    for finding in found {
        if let Cure::Edits(own, _) = &finding.cure {
            let collides = |edit: &Edit| {
                edits.iter().any(|made| {
                    made.range.start <= edit.range.end && edit.range.start <= made.range.end
                })
            };
            // One that touches another waits for the next round.
            if own.is_empty() || own.iter().any(collides) {
                continue;
            }
            report(finding);
            edits.extend(own.iter().cloned());
        }
    }
    match edits.is_empty() {
        true => vec![entry],
        false => vec![entry.changed(with_edits(&entry.bytes, &edits))],
    }
}

/// The first of the messages that stand for another keeps its place.
fn replaced(entry: &Entry, messages: &[Vec<u8>]) -> Vec<Entry> {
    let numbered = messages.iter().enumerate();
    numbered
        .map(|(index, bytes)| match index {
            0 => entry.changed(bytes.clone()),
            _ => Entry::made(bytes.clone(), entry.named),
        })
        .collect()
}
