//! What of a conversation is shown, and how large that is.

use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;

use crate::course::Sight;
use crate::digest::Digest;
use crate::log::{Facts, Log};
use crate::message::{Block, Message, ResultPart, Role, ToolResult};
use crate::meter::{Meter, ReferenceMeter};
use crate::prune::Pruned;
use crate::trim::{trimmed, trims_over};
use crate::view::{View, ViewItem, merged, push_range};

/// A view over the entries, and the log of what it shows: position `p` of the log is the `p`-th message shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    pub(super) view: View,
    pub(super) log: Log,
    reference: Option<ReferenceMeter>,
    reference_units: u64,
}

impl Shown {
    /// What is shown of `entries`, whose sizes and cuts are `log`, through a view that somebody else kept.
    pub(super) fn resumed(
        view: View,
        summary: &str,
        entries: &[Arc<Message>],
        log: &Log,
        meter: Meter,
    ) -> Self {
        let mut shown = Self {
            log: view.log(log, meter, |item| item.message(entries, summary)),
            ..Self::default()
        };
        for item in view.items {
            shown.show(item);
        }
        shown
    }

    /// Shows entry `position` behind everything else.
    pub(super) fn push(&mut self, position: usize, facts: &Facts, message: &Message) {
        push_range(&mut self.view.items, position..position + 1);
        self.log.push(facts);
        if let Some(reference) = self.reference {
            self.reference_units += reference.units(message);
        }
    }

    /// Shows a result for a call that nobody answered.
    pub(super) fn answer(&mut self, call_id: &str, text: &'static str, meter: Meter) {
        let message = answer(call_id, text);
        self.view.items.push(ViewItem::Answer {
            call_id: call_id.into(),
            text,
        });
        self.log.push_frozen(&message, meter);
        if let Some(reference) = self.reference {
            self.reference_units += reference.units(&message);
        }
    }

    /// Goes on as `other` goes on from its message `from`: with entries, whole or shortened.
    pub(super) fn extend_from(&mut self, other: &Self, from: usize, entries: &[Arc<Message>]) {
        let added = from..other.log.len();
        for item in other.items(added.clone()) {
            if let Some(reference) = self.reference {
                self.reference_units += item
                    .messages(entries, "")
                    .map(|message| reference.units(&message))
                    .sum::<u64>();
            }
            self.show(item);
        }
        self.log.push_kept(&other.log, added);
        self.log.go_on_as(&other.log);
    }

    /// Measures in the way of a design too.
    pub(super) fn measure_as(
        &mut self,
        reference: Option<ReferenceMeter>,
        entries: &[Arc<Message>],
    ) {
        self.reference = reference;
        self.count_reference_units(&self.messages(entries, ""));
    }

    /// What is shown, as facts, of a conversation of so many entries.
    pub(super) fn sight<'s>(&'s self, entries: usize, links: &'s [(usize, Digest)]) -> Sight<'s> {
        Sight {
            log: &self.log,
            shown_tokens: self.log.total_tokens(),
            reference_tokens: self.reference_tokens(),
            entries,
            links: (!links.is_empty()).then_some(links),
        }
    }

    pub(super) fn reference_tokens(&self) -> Option<u64> {
        Some(self.reference?.tokens_of_units(self.reference_units))
    }

    fn count_reference_units(&mut self, messages: &[Arc<Message>]) {
        let Some(reference) = self.reference else {
            return;
        };
        self.reference_units = messages.iter().map(|m| reference.units(m)).sum();
    }

    /// The messages shown, with `summary` where the view has it.
    pub(super) fn messages(&self, entries: &[Arc<Message>], summary: &str) -> Vec<Arc<Message>> {
        let mut out = Vec::with_capacity(self.log.len());
        for item in &self.view.items {
            out.extend(item.messages(entries, summary));
        }
        out
    }

    /// How many messages it shows before the first that is an entry at or behind `entry`.
    pub(super) fn before_entry(&self, entry: usize) -> usize {
        let mut at = 0;
        for item in &self.view.items {
            match item {
                ViewItem::Entries(range) if range.end > entry => {
                    return at + entry.saturating_sub(range.start);
                }
                ViewItem::Trimmed(shown, _) | ViewItem::Merged(shown) if *shown >= entry => {
                    return at;
                }
                _ => at += item.len(),
            }
        }
        at
    }

    /// Whether an entry before `entry` is shown behind a later one, as notes are: what is cut off there loses it.
    pub(super) fn loses_before(&self, entry: usize) -> bool {
        let behind = self.items(self.before_entry(entry)..self.log.len());
        behind.iter().any(|item| match item {
            ViewItem::Entries(range) => range.start < entry,
            ViewItem::Trimmed(at, _) | ViewItem::Merged(at) => *at < entry,
            _ => false,
        })
    }

    /// The items that stand at `range` of the log.
    pub(super) fn items(&self, range: Range<usize>) -> Vec<ViewItem> {
        let mut out = Vec::new();
        let mut at = 0;
        for item in &self.view.items {
            let len = item.len();
            let start = range.start.clamp(at, at + len) - at;
            let end = range.end.clamp(at, at + len) - at;
            at += len;
            if start >= end {
                continue;
            }
            match item {
                ViewItem::Entries(entries) => {
                    push_range(&mut out, entries.start + start..entries.start + end);
                }
                _ => out.push(item.clone()),
            }
        }
        out
    }

    /// Only the first `len` of the messages it shows, which are `messages`.
    pub(super) fn first(&self, len: usize, messages: &[Arc<Message>], meter: Meter) -> Self {
        let mut log = Log::new();
        // Behind the last cut a step may be in flight, which only its messages can tell.
        let cut = self.log.cut_at_or_before(len).unwrap_or(0);
        log.push_kept(&self.log, 0..cut);
        for message in messages.get(cut..len).unwrap_or_default() {
            log.push(&Facts::of(message, meter));
        }
        let mut first = Self {
            view: View {
                items: self.items(0..len),
            },
            log,
            reference: self.reference,
            ..Self::default()
        };
        first.count_reference_units(messages.get(..len).unwrap_or_default());
        first
    }

    /// Shows entries as it was decided about them, where they are still shown whole.
    pub(super) fn prune(&mut self, decisions: &[Pruned], entries: &[Arc<Message>], meter: Meter) {
        let mut next = Self {
            reference: self.reference,
            reference_units: self.reference_units,
            ..Self::default()
        };
        let mut at = 0;
        for item in &self.view.items {
            let ViewItem::Entries(range) = item else {
                next.show(item.clone());
                next.log.push_kept(&self.log, at..at + 1);
                at += 1;
                continue;
            };
            let offset = |entry: usize| at + (entry - range.start);
            let mut from = range.start;
            let mut found: Vec<&Pruned> = decisions
                .iter()
                .filter(|one| range.contains(&one.position))
                .collect();
            found.sort_by_key(|one| one.position);
            for pruned in found {
                let Some(message) = entries.get(pruned.position) else {
                    continue;
                };
                let shown = trimmed(message, &pruned.trims);
                next.show(ViewItem::Entries(from..pruned.position));
                next.log
                    .push_kept(&self.log, offset(from)..offset(pruned.position));
                next.show(ViewItem::Trimmed(pruned.position, pruned.trims.clone()));
                next.log.push_frozen(&shown, meter);
                if let Some(reference) = self.reference {
                    let gone = reference
                        .units(message)
                        .saturating_sub(reference.units(&shown));
                    next.reference_units = next.reference_units.saturating_sub(gone);
                }
                from = pruned.position + 1;
            }
            next.show(ViewItem::Entries(from..range.end));
            next.log
                .push_kept(&self.log, offset(from)..offset(range.end));
            at += range.len();
        }
        next.log.go_on_as(&self.log);
        *self = next;
    }

    /// What is shown once `view`, a view over the messages shown now, is in force. Summaries shown now become
    /// made messages of `record`, the newest compaction so far.
    pub(super) fn through(
        &self,
        view: &View,
        texts: &Texts<'_>,
        entries: &[Arc<Message>],
        meter: Meter,
    ) -> Self {
        let mut next = Self {
            reference: self.reference,
            ..Self::default()
        };
        let message = |item: &ViewItem| self.over_entries(item).message(entries, texts.next);
        next.log = view.log(&self.log, meter, message);
        for item in &view.items {
            match item {
                ViewItem::Entries(range) => {
                    for kept in self.items(range.clone()) {
                        next.show(texts.settled(kept));
                    }
                }
                _ => next.show(self.over_entries(item)),
            }
        }
        next.count_reference_units(&next.messages(entries, texts.next));
        next
    }

    fn show(&mut self, item: ViewItem) {
        match item {
            ViewItem::Entries(range) => push_range(&mut self.view.items, range),
            item => self.view.items.push(item),
        }
    }

    /// An item over the messages shown, as one over the entries.
    fn over_entries(&self, item: &ViewItem) -> ViewItem {
        let entry = |shown: usize| match self.items(shown..shown + 1).pop() {
            Some(ViewItem::Entries(range)) => Ok(range.start),
            Some(ViewItem::Merged(entry)) => Ok(entry),
            Some(other) => Err(other),
            None => Ok(shown),
        };
        match item {
            ViewItem::Trimmed(shown, trims) => match entry(*shown) {
                Ok(entry) => ViewItem::Trimmed(entry, trims.clone()),
                // It was whole when these trims were chosen, and was shortened since.
                Err(ViewItem::Trimmed(entry, since)) => {
                    ViewItem::Trimmed(entry, trims_over(since, trims))
                }
                Err(as_it_is) => as_it_is,
            },
            ViewItem::Merged(shown) => match entry(*shown) {
                Ok(entry) => ViewItem::Merged(entry),
                Err(as_it_is) => as_it_is,
            },
            other => other.clone(),
        }
    }
}

/// The summaries of two compactions, one after the other.
pub(super) struct Texts<'a> {
    /// The text of the one in force, and its number.
    pub(super) now: Option<(usize, &'a str)>,
    /// The text of the one that comes.
    pub(super) next: &'a str,
}

impl Texts<'_> {
    /// An item that stays, with its own text from now on.
    fn settled(&self, item: ViewItem) -> ViewItem {
        let made = |role| {
            let (record, text) = self.now.unwrap_or_default();
            ViewItem::Made {
                role,
                text: text.into(),
                record,
            }
        };
        match item {
            ViewItem::Summary => made(Role::User),
            ViewItem::AssistantSummary => made(Role::Assistant),
            other => other,
        }
    }
}

impl ViewItem {
    /// How many messages it is.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Entries(range) => range.len(),
            _ => 1,
        }
    }

    /// The messages it is.
    fn messages<'a>(
        &self,
        entries: &'a [Arc<Message>],
        summary: &str,
    ) -> impl Iterator<Item = Arc<Message>> + use<'a> {
        let (whole, made) = match self {
            Self::Entries(range) => (entries.get(range.clone()), None),
            _ => (None, self.message(entries, summary).map(Arc::new)),
        };
        whole.unwrap_or_default().iter().cloned().chain(made)
    }

    /// The message of an item that is exactly one.
    fn message(&self, entries: &[impl Borrow<Message>], summary: &str) -> Option<Message> {
        self.made(
            |at| entries.get(at).map(|entry| entry.borrow().clone()),
            summary,
        )
    }

    /// The message of an item that is exactly one: `entry` gives one as it was sent, `summary` is the newest.
    pub fn made(&self, entry: impl Fn(usize) -> Option<Message>, summary: &str) -> Option<Message> {
        match self {
            Self::Entries(range) => entry(range.start),
            Self::Trimmed(at, trims) => Some(trimmed(&entry(*at)?, trims)),
            Self::Summary => Some(Message::text(Role::User, summary)),
            Self::AssistantSummary => Some(Message::text(Role::Assistant, summary)),
            Self::Merged(at) => Some(merged(&entry(*at)?, summary)),
            Self::Made { role, text, .. } => Some(Message::text(*role, &**text)),
            Self::Answer { call_id, text } => Some(answer(call_id, text)),
            Self::Inserted(role, text) => Some(Message::text(*role, *text)),
        }
    }
}

fn answer(call_id: &str, text: &str) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: call_id.into(),
            parts: vec![ResultPart::Text(text.to_owned())],
            is_error: false,
        })],
    }
}
