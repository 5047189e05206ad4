//! What happened to a conversation, as records: committed, taken back, branched. Nothing is ever removed.

use std::ops::Range;

use super::shown::{Shown, Texts};
use super::{Before, Prepared, Session};
use crate::compaction::{Compaction, MadeFrom};
use crate::event::{Event, Finished};
use crate::plan::{Layout, leading_system};
use crate::reference::spacebot;
use crate::view::ViewItem;

/// A compaction of a conversation, with the entries it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The compaction. Its positions are those of the messages that were shown when it was made.
    pub compaction: Compaction,
    /// The entries that its summary stands for, also those that an earlier summary stood for.
    pub covers: Vec<Range<usize>>,
    /// The entries that its lines were taken from.
    pub sources: Vec<usize>,
    /// The entries that left the view without a word.
    pub dropped: Vec<Range<usize>>,
    /// How many entries there were when it was made.
    pub entries: usize,
    /// How many messages it was made from, shown or all: what its positions are within.
    pub from_messages: usize,
}

/// Something that happened to a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A compaction came into force.
    Compacted {
        /// Which of [`Session::records`].
        record: usize,
    },
    /// It was taken back.
    Undone {
        /// Which of [`Session::records`].
        record: usize,
    },
    /// The conversation branched off another one.
    Forked {
        /// Entries that both share.
        entries: usize,
    },
}

/// Why a change was not accepted. The conversation is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// Another change has taken its place.
    #[error("the conversation was changed since this compaction began; begin again")]
    Superseded,
    /// The view would not be smaller.
    #[error("the compaction would not make the view smaller: {before} to {after} tokens")]
    NotSmaller {
        /// What the messages take now.
        before: u64,
        /// What they would take.
        after: u64,
    },
    /// There is nothing to take back.
    #[error("there is no compaction to undo")]
    NothingToUndo,
    /// Without the compaction the conversation would not fit its window.
    #[error(
        "without the compaction the conversation takes {tokens} tokens, above the line of {hard_tokens}"
    )]
    UndoAboveHardLine {
        /// What it would take.
        tokens: u64,
        /// The line.
        hard_tokens: u64,
    },
}

impl Session {
    /// Puts a compaction in force. Messages that arrived since [`Session::begin`] stay as they are.
    ///
    /// # Errors
    /// [`CommitError::Superseded`] when the conversation was compacted, or a compaction taken back, since the job
    /// began; [`CommitError::NotSmaller`] when it would not help.
    pub fn commit(&mut self, prepared: Prepared) -> Result<&Record, CommitError> {
        let Prepared {
            mut compaction,
            changes,
            from_messages,
            shown: _,
        } = prepared;
        if changes != self.changes.len() {
            return Err(CommitError::Superseded);
        }
        if compaction.tokens_after >= compaction.plan.tokens_before {
            return Err(CommitError::NotSmaller {
                before: compaction.plan.tokens_before,
                after: compaction.tokens_after,
            });
        }
        // What leaves without a word takes nothing with it: a summary inside a message that stays goes on.
        let is_merged = |item: &ViewItem| matches!(item, ViewItem::Merged(_));
        if compaction.plan.layout == Layout::Nothing && self.shown.view.items.iter().any(is_merged)
        {
            compaction.summary.text = self.summary_text().to_owned();
        }
        let all = match compaction.made_from {
            MadeFrom::View => None,
            MadeFrom::Originals => Some(self.uncompacted()),
        };
        let basis = all.as_ref().unwrap_or(&self.shown);
        if from_messages > basis.log.len() {
            return Err(CommitError::Superseded);
        }
        let texts = Texts {
            now: match self.newest() {
                Some((at, record)) => Some((at, record.compaction.summary.text.as_str())),
                None => Some((0, self.resumed_summary.as_str())),
            },
            next: &compaction.summary.text,
        };
        let view = compaction.view(from_messages);
        let mut next = basis.through(&view, &texts, &self.entries, self.meter);
        next.extend_from(basis, from_messages, &self.entries);
        // What was shortened before cannot be shortened again, whatever the plan hoped for.
        let (before, after) = (self.shown.log.total_tokens(), next.log.total_tokens());
        if after >= before {
            return Err(CommitError::NotSmaller { before, after });
        }
        let record = self.record(compaction, basis, from_messages);
        let frozen = std::mem::replace(&mut self.shown, next);
        // From now on positions of the view are no longer those of the entries.
        self.links.clear();
        self.sent_tokens = None;
        let number = self.records.len();
        self.before.push(Before {
            shown: frozen,
            since: self.shown.log.len(),
            record: number,
        });
        self.changes.push(Change::Compacted { record: number });
        let sight = super::sight(
            &self.shown,
            self.entries.len(),
            &self.links,
            self.sent_tokens,
        );
        self.course.handle_written(&sight);
        self.warnings.compacted();
        self.tell(&record);
        self.records.push(record);
        self.records.last().ok_or(CommitError::Superseded)
    }

    /// Takes the newest compaction back, as one more record. The originals were never gone.
    ///
    /// # Errors
    /// When there is none, or when the conversation would not fit without it.
    pub fn undo(&mut self) -> Result<&Record, CommitError> {
        let before = self.before.last().ok_or(CommitError::NothingToUndo)?;
        let mut shown = before.shown.clone();
        shown.extend_from(&self.shown, before.since, &self.entries);
        let estimated = self.course.estimated_tokens(&shown.sight(0, &[]));
        let reading = self.gauge().read(estimated, &[]);
        if let Some(lines) = reading.lines
            && !reading.fits()
        {
            return Err(CommitError::UndoAboveHardLine {
                tokens: reading.size_tokens,
                hard_tokens: lines.hard_tokens,
            });
        }
        self.take_back(shown)
    }

    /// Shows `shown`, which is what there was before the newest compaction and what came since.
    pub(super) fn take_back(&mut self, shown: Shown) -> Result<&Record, CommitError> {
        let before = self.before.pop().ok_or(CommitError::NothingToUndo)?;
        let record = before.record;
        self.shown = shown;
        self.view_changed();
        self.changes.push(Change::Undone { record });
        self.records.get(record).ok_or(CommitError::NothingToUndo)
    }

    /// A conversation of its own that shares the first `entries` entries with this one, and every compaction that
    /// covers none but these. This one is as it was.
    #[must_use]
    pub fn fork(&self, entries: usize) -> Self {
        let entries = entries.min(self.entries.len());
        let mut fork = self.clone();
        let fits = |record: &Record| {
            let left = record.covers.iter().chain(&record.dropped);
            left.map(|range| range.end).max().unwrap_or(0) <= entries
        };
        while fork.newest().is_some_and(|(_, record)| {
            entries < fork.entries.len() && (!fits(record) || fork.shown.loses_before(entries))
        }) {
            let Some(before) = fork.before.pop() else {
                break;
            };
            let mut shown = before.shown;
            shown.extend_from(&fork.shown, before.since, &fork.entries);
            fork.shown = shown;
            fork.changes.push(Change::Undone {
                record: before.record,
            });
        }
        let texts: Vec<String> = std::iter::once(String::new())
            .chain(fork.before.iter().filter_map(|before| {
                let record = fork.records.get(before.record)?;
                Some(record.compaction.summary.text.clone())
            }))
            .collect();
        let all = fork.entries.clone();
        let cut_off = |shown: &Shown, summary: &str| {
            let messages = shown.messages(&all, summary);
            shown.first(shown.before_entry(entries), &messages, self.meter)
        };
        let newest = texts.last().map_or("", String::as_str);
        fork.shown = cut_off(&fork.shown, newest);
        // What each compaction replaced was shown under the summary of the one before.
        for (before, summary) in fork.before.iter_mut().zip(&texts) {
            before.shown = cut_off(&before.shown, summary);
        }
        let mut followed_by = fork.shown.log.len();
        for before in fork.before.iter_mut().rev() {
            before.since = before.since.min(followed_by);
            followed_by = before.shown.log.len();
        }
        fork.entries.truncate(entries);
        fork.frozen = fork.frozen.as_ref().map(|frozen| frozen.fork(entries));
        fork.view_changed();
        fork.media.retain(|at| *at < entries);
        fork.course.exhausted(None);
        fork.events.clear();
        fork.changes.push(Change::Forked { entries });
        fork
    }

    /// Every compaction this conversation ever had, also those that were taken back.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Everything that happened, oldest first.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The compactions in force, oldest first.
    #[must_use]
    pub fn in_force(&self) -> impl DoubleEndedIterator<Item = &Compaction> {
        let records = self.before.iter().map(|before| before.record);
        records.filter_map(|number| Some(&self.records.get(number)?.compaction))
    }

    /// The newest compaction in force.
    #[must_use]
    pub fn compaction(&self) -> Option<&Compaction> {
        self.newest().map(|(_, record)| &record.compaction)
    }

    pub(super) fn newest(&self) -> Option<(usize, &Record)> {
        let number = self.before.last()?.record;
        Some((number, self.records.get(number)?))
    }

    pub(super) fn summary_text(&self) -> &str {
        self.compaction()
            .map_or(&self.resumed_summary, |compaction| {
                compaction.summary.text.as_str()
            })
    }

    /// All there ever was, shown as if nothing had been compacted. What was decided about single entries stays.
    pub(super) fn uncompacted(&self) -> Shown {
        let mut shown = self.shown.clone();
        for before in self.before.iter().rev() {
            let mut earlier = before.shown.clone();
            earlier.extend_from(&shown, before.since, &self.entries);
            shown = earlier;
        }
        if let Some(frozen) = &self.frozen {
            shown.prune(frozen.decisions(), &self.entries, self.meter);
        }
        shown
    }

    fn record(&self, compaction: Compaction, frozen: &Shown, from_messages: usize) -> Record {
        let mut covers = Vec::new();
        let mut from = compaction.plan.span.start;
        // The client's own notes of the span stay in view, so that nothing stands for them.
        for end in compaction
            .plan
            .notes
            .iter()
            .copied()
            .chain([compaction.plan.span.end])
        {
            covers.extend(self.entries_of(frozen.items(from..end)));
            from = end + 1;
        }
        let dropped = compaction.plan.dropped.iter();
        let mut dropped: Vec<Range<usize>> = dropped
            .flat_map(|range| self.entries_of(frozen.items(range.clone())))
            .collect();
        if compaction.plan.layout == Layout::Nothing {
            dropped.append(&mut covers);
        }
        // A merged summary is not among the messages of the span: it stands inside one that stays.
        if compaction.plan.layout == Layout::Merged
            && let Some((_, record)) = self.newest()
        {
            covers.extend(record.covers.iter().cloned());
        }
        let mut sources: Vec<usize> = compaction
            .summary
            .sources
            .iter()
            .flat_map(|at| self.entries_of(frozen.items(*at..*at + 1)))
            .flatten()
            .collect();
        sources.sort_unstable();
        sources.dedup();
        Record {
            covers: joined(covers),
            dropped: joined(dropped),
            sources,
            entries: self.entries.len(),
            from_messages,
            compaction,
        }
    }

    /// The entries that items stand for.
    fn entries_of(&self, items: Vec<ViewItem>) -> Vec<Range<usize>> {
        let covers = |number: usize| {
            let record = self.records.get(number);
            record
                .map(|record| record.covers.clone())
                .unwrap_or_default()
        };
        let newest = || self.newest().map(|(at, _)| covers(at)).unwrap_or_default();
        let mut out = Vec::new();
        for item in items {
            match item {
                ViewItem::Entries(range) => out.push(range),
                ViewItem::Trimmed(at, _) => out.push(at..at + 1),
                ViewItem::Merged(at) => {
                    out.push(at..at + 1);
                    out.extend(newest());
                }
                ViewItem::Summary | ViewItem::AssistantSummary => out.extend(newest()),
                ViewItem::Made { record, .. } => out.extend(covers(record)),
                ViewItem::Answer { .. } | ViewItem::Inserted(..) => {}
            }
        }
        joined(out)
    }

    fn tell(&mut self, record: &Record) {
        let compaction = &record.compaction;
        let system = self.shown.log.tokens(0..leading_system(&self.shown.log));
        let demoted = compaction.demoted.iter();
        self.events.extend(demoted.map(|pin| Event::PinDemoted {
            position: pin.position,
            text: pin.text.clone(),
        }));
        if let Some(removed_count) = spacebot::truncated_count(&compaction.summary.text) {
            self.events.push(Event::Truncated { removed_count });
            return;
        }
        self.events.push(Event::Finished(Finished {
            reason: compaction.plan.reason,
            round: u32::try_from(self.before.len()).unwrap_or(u32::MAX),
            tokens_before: compaction.plan.tokens_before + system,
            tokens_after: self.shown.log.total_tokens(),
            message_count: self.shown.log.len(),
            compacted_count: compaction.plan.span.len(),
            compacted_message_ids: Vec::new(),
            summary: compaction.summary.text.clone(),
            summary_tokens: compaction.summary_tokens,
        }));
    }
}

/// Ranges in order, neighbours as one.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}
