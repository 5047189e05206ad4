//! What the model gets: which entries stay, which are trimmed, and where the summary stands.

use std::ops::Range;
use std::sync::Arc;

use crate::log::Log;
use crate::message::{Block, Message, Role};
use crate::meter::Meter;
use crate::plan::{Layout, Plan};
use crate::reference::micro::{self, ACKNOWLEDGEMENT};
use crate::trim::Trim;

/// The messages a model gets, as references into the log. Entries are positions, never copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// What the view is made of, in order.
    pub items: Vec<ViewItem>,
}

/// One stretch of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewItem {
    /// Entries exactly as they were sent.
    Entries(Range<usize>),
    /// One entry with some of its tool results shortened.
    Trimmed(usize, Vec<Trim>),
    /// The summary, as a message of the user's role.
    Summary,
    /// The summary, as a message of the assistant's role.
    AssistantSummary,
    /// One entry with the summary behind its first text; what an earlier summary put there goes.
    Merged(usize),
    /// A message that an earlier compaction made and that stays.
    Made {
        /// Whose.
        role: Role,
        /// Its text, frozen.
        text: Arc<str>,
        /// Which of the compactions of the conversation made it.
        record: usize,
    },
    /// A result that never came, so that its call is not left open.
    Answer {
        /// The call.
        call_id: Arc<str>,
        /// What stands for the result.
        text: &'static str,
    },
    /// A message that nobody sent, to keep the roles in order.
    Inserted(Role, &'static str),
}

impl View {
    /// The positions of the entries of which something is in it.
    pub fn positions(&self) -> impl Iterator<Item = usize> {
        self.items.iter().flat_map(|item| match item {
            ViewItem::Entries(range) => range.clone(),
            ViewItem::Trimmed(at, _) | ViewItem::Merged(at) => *at..*at + 1,
            _ => 0..0,
        })
    }

    /// Sizes and cuts of what is shown of `log`. `message` gives the message of an item that is not as it was sent.
    #[must_use]
    pub fn log(
        &self,
        log: &Log,
        meter: Meter,
        message: impl Fn(&ViewItem) -> Option<Message>,
    ) -> Log {
        let mut shown = Log::new();
        for item in &self.items {
            match item {
                ViewItem::Entries(range) => shown.push_kept(log, range.clone()),
                item => {
                    if let Some(message) = message(item) {
                        shown.push_frozen(&message, meter);
                    }
                }
            }
        }
        shown.go_on_as(log);
        shown
    }

    /// The view that `plan` leads to, with `trims` on entries that stay (sorted by position).
    #[must_use]
    pub fn of(plan: &Plan, len: usize, trims: &[(usize, Vec<Trim>)]) -> Self {
        let mut items = Vec::new();
        let push_range = |items: &mut Vec<ViewItem>, range| push_kept(items, range, &plan.dropped);
        match (plan.layout, plan.head.end.checked_sub(1)) {
            (Layout::Merged, Some(first)) => {
                push_range(&mut items, plan.head.start..first);
                items.push(ViewItem::Merged(first));
                if plan.tail_starts_with_user {
                    items.push(ViewItem::Inserted(Role::Assistant, ACKNOWLEDGEMENT));
                }
            }
            (Layout::Nothing, _) => push_range(&mut items, plan.head.clone()),
            (Layout::AssistantMessage, _) => {
                push_range(&mut items, plan.head.clone());
                items.push(ViewItem::AssistantSummary);
            }
            (Layout::UserMessage | Layout::Merged | Layout::Marker, _) => {
                push_range(&mut items, plan.head.clone());
                items.push(ViewItem::Summary);
            }
        }
        let tail = Tail {
            range: plan.span.end..len,
            trims,
            notes: &plan.notes,
            notes_before: plan.notes_before,
            dropped: &plan.dropped,
        };
        tail.push_to(&mut items);
        Self { items }
    }
}

/// What stands behind a summary: the entries that stay, and among them notes of the span.
#[derive(Clone, Debug)]
pub struct Tail<'a> {
    /// The entries behind the span.
    pub range: Range<usize>,
    /// Those of which less is shown, sorted by position.
    pub trims: &'a [(usize, Vec<Trim>)],
    /// Entries of the span that stay in view.
    pub notes: &'a [usize],
    /// The entry of the tail before which they stand; one before the tail means its beginning.
    pub notes_before: usize,
    /// Entries that leave the view without a word.
    pub dropped: &'a [Range<usize>],
}

impl Tail<'_> {
    /// Adds it to a view.
    pub fn push_to(&self, items: &mut Vec<ViewItem>) {
        let mut notes = self.notes;
        let notes_before = self
            .notes_before
            .clamp(self.range.start, self.range.end.max(self.range.start));
        let mut push = |items: &mut Vec<ViewItem>, range: Range<usize>| {
            let mut from = range.start;
            if (range.start..=range.end).contains(&notes_before) {
                push_kept(items, from..notes_before, self.dropped);
                from = notes_before;
                for &note in std::mem::take(&mut notes) {
                    push_kept(items, note..note + 1, self.dropped);
                }
            }
            push_kept(items, from..range.end, self.dropped);
        };
        let mut from = self.range.start;
        for (position, trim) in self.trims {
            push(items, from..*position);
            items.push(ViewItem::Trimmed(*position, trim.clone()));
            from = position + 1;
        }
        push(items, from..self.range.end);
    }
}

/// Pushes what is left of `range` without the `dropped` entries, which are in order.
fn push_kept(items: &mut Vec<ViewItem>, range: Range<usize>, dropped: &[Range<usize>]) {
    let mut from = range.start;
    for gap in dropped {
        if gap.end > from && gap.start < range.end {
            push_range(items, from..gap.start);
            from = gap.end;
        }
    }
    push_range(items, from..range.end);
}

pub(crate) fn push_range(items: &mut Vec<ViewItem>, range: Range<usize>) {
    if range.is_empty() {
        return;
    }
    if let Some(ViewItem::Entries(last)) = items.last_mut()
        && last.end == range.start
    {
        last.end = range.end;
        return;
    }
    items.push(ViewItem::Entries(range));
}

/// A message with a summary behind its first text; what an earlier summary put there goes.
#[must_use]
pub fn merged(message: &Message, summary: &str) -> Message {
    let mut message = message.clone();
    let text = message.blocks.iter_mut().find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    });
    if let Some(text) = text {
        if let Some(at) = text.find(micro::OPEN_MARK) {
            text.truncate(
                text.get(..at)
                    .unwrap_or_default()
                    .trim_end_matches('\n')
                    .len(),
            );
        }
        text.push_str(summary);
    }
    message
}
