//! From a view to bytes: original slices around the summary.

use epitome::{Trim, View, ViewItem};

use crate::anthropic;
use crate::body::Body;
use crate::decode::{Unreadable, decode, summary_message};
use crate::json::escape;
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
        let mut items = Vec::with_capacity(view.items.len());
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
            });
        }
        Ok(self.splice(&items))
    }

    fn trim_edits(&self, index: usize, trims: &[Trim]) -> Result<Vec<Edit>, RenderError> {
        let unreadable = |why| RenderError { index, why };
        let value = self
            .read(index)
            .map_err(|_| unreadable(Unreadable::NotAnObject))?;
        let decoded = decode(self.wire(), &value).map_err(unreadable)?;
        let mut edits: Vec<Edit> = trims
            .iter()
            .filter_map(|trim| {
                let (_, _, text) = decoded
                    .result_texts
                    .iter()
                    .find(|(block, part, _)| (*block, *part) == (trim.block, trim.part))?;
                let chars = text.decode().chars().count();
                let omitted = chars.checked_sub(trim.head_chars + trim.tail_chars)?;
                let mut with = Vec::new();
                escape(&Trim::marker(omitted), &mut with);
                Some(Edit {
                    range: text.position_of_char(trim.head_chars)
                        ..text.position_of_char(chars - trim.tail_chars),
                    with,
                })
            })
            .collect();
        edits.sort_by_key(|edit| edit.range.start);
        Ok(edits)
    }

    /// The last cache mark on a message that is not in `view`.
    fn removed_cache_mark(&self, view: &View) -> Option<&[u8]> {
        if self.wire() != Wire::Anthropic {
            return None;
        }
        let is_kept = |index: usize| {
            view.items.iter().any(|item| match item {
                ViewItem::Entries(range) => range.contains(&index),
                ViewItem::Trimmed(kept, _) => *kept == index,
                ViewItem::Summary => false,
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
