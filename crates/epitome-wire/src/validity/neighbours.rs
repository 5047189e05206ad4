//! What has to stand next to what, apart from calls and results.

use std::collections::{HashMap, HashSet};

use super::finding::{Cure, Finding};
use super::parts::remove_member;
use super::problem::ProblemCode;
use super::seen::{Piece, Seen, Speaker};
use super::{Fate, Pairing, Reading, Setting};
use crate::json::Value;
use crate::wire::Wire;

/// The findings with the message that each is about.
pub(crate) fn neighbours(
    seen: &[Seen],
    readings: &[Reading<'_>],
    setting: &Setting,
) -> Vec<(usize, Finding)> {
    match setting.wire {
        Wire::OpenAiChat => Vec::new(),
        Wire::OpenAiResponses => responses(seen, readings, setting),
        Wire::Anthropic => {
            let mut out = server_tools(seen, readings);
            if seen.first().is_some_and(Seen::is_no_opening) {
                let what = "the first message is not the user's";
                let finding = Finding::of_message(ProblemCode::FirstNotUser, what, Cure::None);
                out.push((0, finding));
            }
            out.extend(misplaced_notes(seen));
            out
        }
    }
}

/// A note inside the messages stands before an answer, or at the end; several in a row are one.
fn misplaced_notes(seen: &[Seen]) -> impl Iterator<Item = (usize, Finding)> {
    seen.windows(2).enumerate().filter_map(|(index, pair)| {
        let [note, next] = pair else {
            return None;
        };
        let is_wrong = note.speaker == Speaker::System
            && !matches!(next.speaker, Speaker::System | Speaker::Assistant);
        let what = "a note of the system stands before a message that is not the assistant's";
        is_wrong.then(|| {
            let finding = Finding::of_message(ProblemCode::MisplacedNote, what, Cure::DropMessage);
            (index, finding)
        })
    })
}

fn responses(seen: &[Seen], readings: &[Reading<'_>], setting: &Setting) -> Vec<(usize, Finding)> {
    let mut out = Vec::new();
    let kind = |index: usize| readings.get(index)?.as_ref().ok()?.string("type");
    for (index, item) in seen.iter().enumerate() {
        let next = seen.get(index + 1);
        if item.pieces.contains(&Piece::Reasoning) && !next.is_some_and(|next| next.is_models) {
            let what = "what the reasoning led to does not stand right behind it";
            let finding = Finding::of_message(ProblemCode::LoneReasoning, what, Cure::DropMessage);
            out.push((index, finding));
        }
        if kind(index).as_deref() == Some("compaction_trigger") && next.is_some() {
            let what = "the wish for a compaction is not the last item";
            let finding =
                Finding::of_message(ProblemCode::MisplacedTrigger, what, Cure::DropMessage);
            out.push((index, finding));
        }
    }
    out.extend(cut_answers(seen, readings, setting));
    out
}

/// An answer that is followed by a result of a call it no longer has has lost its beginning. The ids of its
/// items still name that answer, and the provider would ask for the reasoning that is gone.
fn cut_answers(
    seen: &[Seen],
    readings: &[Reading<'_>],
    setting: &Setting,
) -> Vec<(usize, Finding)> {
    let pairing = Pairing::of(seen, setting);
    let orphans = pairing
        .results
        .iter()
        .filter(|result| result.fate == Fate::Orphan);
    let mut cut = HashSet::new();
    for orphan in orphans {
        let is_result = |item: &&Seen| item.speaker == Speaker::Tool;
        let before = seen.get(..orphan.message).unwrap_or_default();
        let results = before.iter().rev().take_while(is_result).count();
        let answer: Vec<usize> = (0..before.len() - results)
            .rev()
            .take_while(|&index| seen.get(index).is_some_and(|item| item.is_models))
            .collect();
        let is_reasoned = answer.iter().any(|&index| {
            seen.get(index)
                .is_some_and(|item| item.pieces.contains(&Piece::Reasoning))
        });
        if !is_reasoned {
            cut.extend(answer);
        }
    }
    let mut cut: Vec<usize> = cut.into_iter().collect();
    cut.sort_unstable();
    let finding = |index: usize| {
        let item = readings.get(index)?.as_ref().ok()?;
        let edit = remove_member(item, "id")?;
        let what = "the answer that it is a part of has lost its beginning";
        let cure = Cure::Edits(vec![edit], "its id is removed");
        Some((
            index,
            Finding::of_message(ProblemCode::CutAnswer, what, cure),
        ))
    };
    cut.into_iter().filter_map(finding).collect()
}

/// Calls of server-side tools stand in the assistant's content together with their results. The provider still
/// owes the last one of a paused turn, and those that wait for the client's tools.
fn server_tools(seen: &[Seen], readings: &[Reading<'_>]) -> Vec<(usize, Finding)> {
    let mut wrong: Vec<(usize, usize, String)> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    let mut open: HashMap<&str, (usize, usize)> = HashMap::new();
    let is_next_assistant = |index: usize| {
        seen.get(index + 1)
            .is_some_and(|next| next.speaker == Speaker::Assistant)
    };
    let mut waits_for_client = false;
    for (index, message) in seen.iter().enumerate() {
        if message.speaker != Speaker::Assistant {
            continue;
        }
        for (block, piece) in message.pieces.iter().enumerate() {
            match piece {
                Piece::ServerCall(id) if id.is_empty() || !known.insert(id) => {
                    wrong.push((
                        index,
                        block,
                        format!("the id {id:?} of the call is taken or empty"),
                    ));
                }
                Piece::ServerCall(id) => {
                    open.insert(id, (index, block));
                }
                Piece::ServerResult(id) if open.remove(id.as_str()).is_none() => {
                    wrong.push((
                        index,
                        block,
                        format!("no call before has the id {id:?} of the result"),
                    ));
                }
                Piece::Call(_) => waits_for_client = true,
                _ => {}
            }
        }
        if is_next_assistant(index) {
            continue;
        }
        let is_end = index + 1 == seen.len();
        if !std::mem::take(&mut waits_for_client) {
            for (id, (owner, block)) in open.drain() {
                let is_paused = is_end && owner == index && block + 1 == message.pieces.len();
                if !is_paused {
                    wrong.push((owner, block, format!("the call {id:?} has no result")));
                }
            }
        }
    }
    wrong.sort();
    let finding = |(index, block, what): (usize, usize, String)| {
        let content = readings.get(index)?.as_ref().ok()?.get("content")?;
        let item: &Value<'_> = content.items().get(block)?;
        let cure = Cure::DropItem {
            list: content.range.clone(),
            item: item.range.clone(),
        };
        let code = ProblemCode::UnpairedServerTool;
        Some((index, Finding::of_block(code, block, what, cure)))
    };
    wrong.into_iter().filter_map(finding).collect()
}
