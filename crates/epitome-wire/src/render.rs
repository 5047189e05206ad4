//! From a view to bytes: original slices around the summary.

use std::ops::Range;

use epitome::reference::{layer, micro};
use epitome::{Kept, Role, Shown, Trim, View, ViewItem};

use crate::anthropic;
use crate::body::Body;
use crate::decode::{answer_message, decode, summary_message, text_message};
use crate::decoded::{Arguments, Unreadable};
use crate::json::{Text, escape, read_within};
use crate::splice::{Edit, Item, Splice};
use crate::wire::Wire;

/// Why a view could not be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("message {index} cannot be rendered: {why}")]
pub struct RenderError {
    /// Which message.
    pub index: usize,
    /// Why.
    pub why: Unreadable,
}

impl Body {
    /// The body with its messages as `view` says and `summary` where the view has it.
    ///
    /// A cache mark on a removed message moves to the end of the summary, so that the client's marks stay
    /// as many as they were, or fewer.
    ///
    /// # Errors
    /// [`RenderError`] when a message that has to be trimmed is not understood.
    pub fn render(&self, view: &View, summary: &str) -> Result<Splice, RenderError> {
        let mut items = Vec::with_capacity(view.items.len() + 1);
        if self.needs_opening(view) {
            items.push(Item::Inserted(text_message(
                self.wire(),
                Role::User,
                layer::OPENING,
            )));
        }
        for item in &view.items {
            items.push(match item {
                ViewItem::Entries(range) => Item::Kept(range.clone()),
                ViewItem::Trimmed(index, trims) => {
                    Item::Edited(*index, self.trim_edits(*index, trims)?)
                }
                ViewItem::Summary => {
                    let mark = self.removed_cache_mark(view);
                    Item::Inserted(summary_message(self.wire(), summary, mark))
                }
                ViewItem::AssistantSummary => {
                    Item::Inserted(text_message(self.wire(), Role::Assistant, summary))
                }
                ViewItem::Inserted(role, text) => {
                    Item::Inserted(text_message(self.wire(), *role, text))
                }
                ViewItem::Answer { call_id, text } => {
                    Item::Inserted(answer_message(self.wire(), call_id, text))
                }
                ViewItem::Made { role, text, .. } => {
                    Item::Inserted(text_message(self.wire(), *role, text))
                }
                ViewItem::Merged(index) => {
                    Item::Edited(*index, vec![self.merge_edit(*index, summary)?])
                }
            });
        }
        Ok(self.splice(&items))
    }

    /// Whether this provider would miss a user message before the assistant's summary.
    fn needs_opening(&self, view: &View) -> bool {
        let mut shown = view.items.iter().flat_map(|item| match item {
            ViewItem::Entries(range) => range.clone().map(Some).collect(),
            ViewItem::Trimmed(index, _) | ViewItem::Merged(index) => vec![Some(*index)],
            _ => vec![None],
        });
        let is_system = |index: usize| {
            let role = self
                .read(index)
                .ok()
                .and_then(|value| Some(value.string("role")?.into_owned()));
            role.as_deref() == Some("system")
        };
        let first = shown.find(|index| index.is_none_or(|index| !is_system(index)));
        self.wire() == Wire::Anthropic
            && first == Some(None)
            && view
                .items
                .iter()
                .any(|item| matches!(item, ViewItem::AssistantSummary))
    }

    /// Puts the summary behind the first text of a message; an earlier one between the same marks goes.
    fn merge_edit(&self, index: usize, summary: &str) -> Result<Edit, RenderError> {
        let why = |why| RenderError { index, why };
        let value = self.read(index).map_err(|_| why(Unreadable::NotAnObject))?;
        let content = value
            .get("content")
            .ok_or_else(|| why(Unreadable::WrongType("content")))?;
        let text = content.as_text().or_else(|| {
            content.items().iter().find_map(|block| {
                let is_text = matches!(
                    block.string("type").as_deref(),
                    Some("text" | "input_text" | "output_text")
                );
                block.get("text").filter(|_| is_text)?.as_text()
            })
        });
        let text = text.ok_or_else(|| why(Unreadable::WrongType("content")))?;
        let decoded = text.decode();
        let own = match decoded.find(micro::OPEN_MARK) {
            Some(at) => decoded.get(..at).unwrap_or_default().trim_end_matches('\n'),
            None => &decoded,
        };
        let mut with = Vec::new();
        escape(summary, &mut with);
        Ok(Edit {
            range: text.position_of_char(own.chars().count())..text.range().end,
            with,
        })
    }

    fn trim_edits(&self, index: usize, trims: &[Trim]) -> Result<Vec<Edit>, RenderError> {
        let unreadable = |why| RenderError { index, why };
        let value = self
            .read(index)
            .map_err(|_| unreadable(Unreadable::NotAnObject))?;
        let decoded = decode(self.wire(), &value).map_err(unreadable)?;
        let mut edits = Vec::new();
        for trim in trims {
            let is_meant = |block: usize, part: usize| (block, part) == (trim.block, trim.part);
            let text = decoded.result_texts.iter().find(|t| is_meant(t.0, t.1));
            let medium = decoded.result_media.iter().find(|m| is_meant(m.0, m.1));
            let said = decoded.said.iter().find(|said| said.0 == trim.block);
            let call = decoded.arguments.iter().find(|call| call.0 == trim.block);
            match (&trim.shown, text, medium) {
                (Shown::Kept(kept), Some((_, _, text)), _) => edits.extend(gap_edits(kept, text)),
                (Shown::Placeholder(line), Some((_, _, text)), _) => {
                    let mut with = Vec::new();
                    escape(line, &mut with);
                    let range = text.range();
                    edits.push(Edit { range, with });
                }
                (Shown::Placeholder(line), None, Some((_, _, range))) => edits.push(Edit {
                    range: range.clone(),
                    with: text_part(self.wire(), line, self.part_cache_mark(range.clone())),
                }),
                (Shown::Kept(kept), None, None) => {
                    edits.extend(said.iter().flat_map(|(_, text)| gap_edits(kept, text)));
                }
                (Shown::Placeholder(arguments), None, None) => {
                    edits.extend(call.map(|(_, place)| arguments_edit(place, arguments)));
                }
                _ => {}
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        Ok(edits)
    }

    /// The cache mark of a part that is replaced.
    fn part_cache_mark(&self, range: Range<usize>) -> Option<&[u8]> {
        let part = read_within(self.bytes(), range).ok()?;
        let mark = part.get("cache_control").filter(|mark| !mark.is_null())?;
        self.bytes().get(mark.range.clone())
    }

    /// The last cache mark on a message that is not in `view`.
    fn removed_cache_mark(&self, view: &View) -> Option<&[u8]> {
        if self.wire() != Wire::Anthropic {
            return None;
        }
        let is_kept = |index: usize| {
            view.items.iter().any(|item| match item {
                ViewItem::Entries(range) => range.contains(&index),
                ViewItem::Trimmed(kept, _) | ViewItem::Merged(kept) => *kept == index,
                ViewItem::Summary
                | ViewItem::AssistantSummary
                | ViewItem::Made { .. }
                | ViewItem::Answer { .. }
                | ViewItem::Inserted(..) => false,
            })
        };
        (0..self.len())
            .rev()
            .filter(|&index| !is_kept(index))
            // Reading is strict and slow; most messages carry no mark at all.
            .filter(|&index| {
                memchr::memmem::find(self.message(index), b"\"cache_control\"").is_some()
            })
            .find_map(|index| anthropic::cache_mark(&self.read(index).ok()?, self.bytes()))
    }
}

/// Other arguments in the place of those that a call was sent with.
fn arguments_edit(place: &Arguments<'_>, arguments: &str) -> Edit {
    match place {
        Arguments::Text(text) => {
            let mut with = Vec::new();
            escape(arguments, &mut with);
            let range = text.range();
            Edit { range, with }
        }
        Arguments::Value(range) => Edit {
            range: range.clone(),
            with: arguments.as_bytes().to_vec(),
        },
    }
}

/// Each gap gives way to its marker.
fn gap_edits(kept: &Kept, text: &Text<'_>) -> Vec<Edit> {
    let gaps = kept.gaps(text.decode().chars().count());
    let borders = gaps.iter().flat_map(|gap| [gap.start, gap.end]);
    let mut places = text.positions_of_chars(borders);
    let mut edits = Vec::with_capacity(gaps.len());
    for gap in &gaps {
        if let (Some(start), Some(end)) = (places.next(), places.next()) {
            let mut with = Vec::new();
            escape(&Trim::marker(gap.len()), &mut with);
            let range = start..end;
            edits.push(Edit { range, with });
        }
    }
    edits
}

/// A part of text inside a tool result.
fn text_part(wire: Wire, text: &str, cache_mark: Option<&[u8]>) -> Vec<u8> {
    let start: &[u8] = match wire {
        Wire::OpenAiChat | Wire::Anthropic => br#"{"type":"text","text":""#,
        Wire::OpenAiResponses => br#"{"type":"input_text","text":""#,
    };
    let mut out = start.to_vec();
    escape(text, &mut out);
    out.push(b'"');
    if let Some(mark) = cache_mark {
        out.extend_from_slice(br#","cache_control":"#);
        out.extend_from_slice(mark);
    }
    out.push(b'}');
    out
}
