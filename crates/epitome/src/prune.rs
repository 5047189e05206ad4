//! Pruning: which tool results a view shows in part or not at all, decided once and for good.
//!
//! A result that is too large is cut when it arrives, before any model has seen it; one that has grown old may give way
//! to a line that names it. The log keeps everything: a decision is about views. None is ever made again or taken
//! back, so that what a provider has cached stays as it is but for the moments in which old results go together.

mod decide;
mod placeholder;
mod step;

pub use placeholder::PLACEHOLDER_MARK;

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::message::{Call, Message, Role};
use crate::meter::Meter;
use crate::pruning::{OldResults, PruneSettings};
use crate::trim::{Trim, trimmed};
use crate::view::{View, ViewItem};
use decide::Decider;
use step::step_end;

/// A decision about one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Which entry.
    pub position: usize,
    /// Why.
    pub cause: PruneCause,
    /// What is seen of its results.
    pub trims: Vec<Trim>,
    /// What that takes off.
    pub saved_tokens: u64,
}

/// Why a result is not shown whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PruneCause {
    /// It was too large when it arrived.
    EntryCap,
    /// It has grown old.
    Old,
}

/// Whether the provider may still hold the conversation in its cache. Unknown is warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// It may: old results go only when that saves enough.
    Warm,
    /// It surely does not: old results go at once.
    Cold,
}

/// The decisions about a conversation, in the order in which they were made. Only ever appended to.
///
/// *Input*: [`Frozen::prune`]. *Queries*: [`Frozen::decisions`], [`Frozen::at`], [`Frozen::trims`],
/// [`Frozen::shown`], [`Frozen::view`]. The cost of a call grows with the entries that are new.
///
/// ```
/// use epitome::{Block, Cache, EntryCap, Frozen, Message, Meter, PruneSettings, ResultPart, Role, ToolResult};
///
/// let result = Message {
///     role: Role::Tool,
///     blocks: vec![Block::Result(ToolResult {
///         call_id: "call_1".into(),
///         parts: vec![ResultPart::Text("word ".repeat(20_000))],
///         is_error: false,
///     })],
/// };
/// let settings = PruneSettings { entry_cap: EntryCap::Chars(40_000), ..PruneSettings::off() };
/// let mut frozen = Frozen::new(settings, Meter::Estimate);
/// let messages = [result];
/// assert_eq!(frozen.prune(&messages, Cache::Warm).len(), 1);
/// assert!(frozen.prune(&messages, Cache::Warm).is_empty(), "decided once");
/// let shown = frozen.shown(0, &messages[0]);
/// assert!(shown.results().flat_map(|r| r.texts()).all(|text| text.chars().count() <= 40_000));
/// ```
#[derive(Clone, Debug)]
pub struct Frozen {
    settings: PruneSettings,
    meter: Meter,
    decisions: Vec<Pruned>,
    by_position: BTreeMap<usize, usize>,
    /// Entries that were sent before anything could be decided about them.
    sent: usize,
    /// Entries that were looked at.
    read: usize,
    steps: usize,
    /// What will be decided about results once they are old, in order.
    waiting: VecDeque<(usize, Pruned)>,
}

impl Frozen {
    /// No decisions yet, about a conversation from its beginning.
    #[must_use]
    pub const fn new(settings: PruneSettings, meter: Meter) -> Self {
        Self {
            settings,
            meter,
            decisions: Vec::new(),
            by_position: BTreeMap::new(),
            sent: 0,
            read: 0,
            steps: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Decisions from a store, about a conversation of which `sent_entries` were sent already: these are not cut any
    /// more, only replaced when they are old.
    #[must_use]
    pub fn resume(
        settings: PruneSettings,
        meter: Meter,
        decisions: impl IntoIterator<Item = Pruned>,
        sent_entries: usize,
    ) -> Self {
        let mut frozen = Self::new(settings, meter);
        frozen.sent = sent_entries;
        for decision in decisions {
            frozen.decide(decision);
        }
        frozen
    }

    /// The decisions for a branch that shares the first `len` entries. What was decided about these stays.
    #[must_use]
    pub fn fork(&self, len: usize) -> Self {
        let shared = self.decisions.iter().filter(|one| one.position < len);
        let sent = self.sent.max(self.read).min(len);
        Self::resume(self.settings.clone(), self.meter, shared.cloned(), sent)
    }

    /// Decides what can be decided about a conversation that has grown to `messages`, and returns what is new.
    ///
    /// Entries must only have been added since the last call; for anything else there is [`Frozen::fork`]. The step in
    /// flight is left alone until its last result is there.
    pub fn prune(&mut self, messages: &[impl Borrow<Message>], cache: Cache) -> &[Pruned] {
        let known = self.decisions.len();
        while let Some(end) = step_end(messages, self.read) {
            let step = messages.get(self.read..end).unwrap_or_default();
            self.look_at(step);
            self.read = end;
        }
        self.replace_old(cache);
        self.decisions.get(known..).unwrap_or_default()
    }

    /// All decisions, in the order in which they were made.
    #[must_use]
    pub fn decisions(&self) -> &[Pruned] {
        &self.decisions
    }

    /// The decision about an entry.
    #[must_use]
    pub fn at(&self, position: usize) -> Option<&Pruned> {
        self.decisions.get(*self.by_position.get(&position)?)
    }

    /// The trims of entries in `range`, sorted by position, as [`View::of`] and [`crate::trims_beyond`] take them.
    #[must_use]
    pub fn trims(&self, range: Range<usize>) -> Vec<(usize, Vec<Trim>)> {
        self.by_position
            .range(range)
            .filter_map(|(position, at)| Some((*position, self.decisions.get(*at)?.trims.clone())))
            .collect()
    }

    /// An entry as it is seen.
    #[must_use]
    pub fn shown<'a>(&self, position: usize, message: &'a Message) -> Cow<'a, Message> {
        match self.at(position) {
            Some(pruned) => Cow::Owned(trimmed(message, &pruned.trims)),
            None => Cow::Borrowed(message),
        }
    }

    /// The view of a conversation of `len` entries that nothing was removed from.
    #[must_use]
    pub fn view(&self, len: usize) -> View {
        let mut items = Vec::new();
        let mut from = 0;
        for (position, trims) in self.trims(0..len) {
            if from < position {
                items.push(ViewItem::Entries(from..position));
            }
            items.push(ViewItem::Trimmed(position, trims));
            from = position + 1;
        }
        if from < len {
            items.push(ViewItem::Entries(from..len));
        }
        View { items }
    }

    /// What all decisions take off.
    #[must_use]
    pub fn saved_tokens(&self) -> u64 {
        self.decisions.iter().map(|one| one.saved_tokens).sum()
    }

    fn decide(&mut self, decision: Pruned) {
        let position = decision.position;
        if let std::collections::btree_map::Entry::Vacant(free) = self.by_position.entry(position) {
            free.insert(self.decisions.len());
            self.decisions.push(decision);
        }
    }

    /// Cuts what is too large in a step, and remembers what can go when it is old.
    fn look_at(&mut self, step: &[impl Borrow<Message>]) {
        let first = step.first().map(Borrow::borrow);
        let calls: Vec<&Call> = first.into_iter().flat_map(Message::calls).collect();
        self.steps += usize::from(!calls.is_empty());
        for (position, message) in (self.read..).zip(step) {
            let message = message.borrow();
            // What a provider's own tools returned stands among the model's words, and is the provider's to check.
            if message.role == Role::Assistant || self.by_position.contains_key(&position) {
                continue;
            }
            let cut = if position < self.sent {
                None
            } else {
                self.decider()
                    .decision(position, message, PruneCause::EntryCap, &calls)
            };
            if let Some(cut) = cut {
                self.decide(cut);
            } else if let OldResults::Replace { .. } = self.settings.old
                && let Some(later) =
                    self.decider()
                        .decision(position, message, PruneCause::Old, &calls)
            {
                self.waiting.push_back((self.steps, later));
            }
        }
    }

    const fn decider(&self) -> Decider<'_> {
        Decider {
            settings: &self.settings,
            meter: self.meter,
        }
    }

    /// Lets old results go, all that are old enough or none.
    fn replace_old(&mut self, cache: Cache) {
        let OldResults::Replace { keep_steps } = self.settings.old else {
            return;
        };
        let newest = self.steps.saturating_sub(keep_steps.max(1));
        let is_old = |(step, _): &&(usize, Pruned)| *step <= newest;
        let old = self.waiting.iter().take_while(is_old);
        let (count, saving) = old.fold((0, 0), |(count, saving), (_, pruned)| {
            (count + 1, saving + pruned.saved_tokens)
        });
        if cache == Cache::Cold || saving >= self.settings.smallest_saving_tokens {
            let going: Vec<_> = self.waiting.drain(..count).collect();
            for (_, pruned) in going {
                self.decide(pruned);
            }
        }
    }
}
