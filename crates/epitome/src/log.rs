//! The log as the policy sees it: sizes and cuts, no text.

mod answer;
mod facts;
mod size;
mod unknown;

use std::collections::HashMap;
use std::ops::Range;

use crate::heartbeat::HeartbeatPart;
use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::pin::Sayings;

use answer::Answer;
pub use facts::{CallKey, Facts};
use size::{Size, Sizes};
use unknown::Unknown;

/// Entries in order, with prefix sums and legal cuts kept up to date as they arrive.
///
/// *Input*: [`Log::push`]. *Queries*, all O(1) or O(log n): [`Log::tokens`], [`Log::cut_at_or_after`],
/// [`Log::last_cut`], [`Log::last_removal`]. A *position* `p` lies before entry `p`; `len()` is the end.
///
/// ```
/// use epitome::{Facts, Log, Message, Meter, Role};
///
/// let mut log = Log::new();
/// log.push(&Facts::of(&Message::text(Role::User, "Hello there."), Meter::Chars4));
/// log.push(&Facts::of(&Message::text(Role::Assistant, "Hello."), Meter::Chars4));
/// assert_eq!(log.total_tokens(), 5);
/// assert_eq!(log.cuts(), [0, 1]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Log {
    kinds: Vec<Kind>,
    sizes: Sizes,
    cuts: Vec<u32>,
    /// Calls that wait for their answers, and where they were made.
    open: Vec<(CallKey, u32)>,
    /// Calls that nothing waits for any more. An answer may still come, where a provider pairs by id alone.
    abandoned: HashMap<CallKey, u32>,
    answer: Answer,
    unknown: Unknown,
    newest_typed: Option<usize>,
    first_typed: Option<usize>,
    own_summary: Option<usize>,
    stacked: Vec<usize>,
    heartbeats: Vec<usize>,
    /// What was typed says, with the positions of the entries.
    sayings: Vec<(usize, Sayings)>,
    leading_system: usize,
    /// The newest entry that is no note of the client.
    newest_spoken: Option<usize>,
}

/// What stays known of an entry besides its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    role: Role,
    is_typed_by_user: bool,
    is_own_summary: bool,
    is_stacked_summary: bool,
    is_marker: bool,
    heartbeat: HeartbeatPart,
}

impl Log {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for `entries` more.
    pub fn reserve(&mut self, entries: usize) {
        self.kinds.reserve(entries);
        self.sizes.reserve(entries);
        self.cuts.reserve(entries);
    }

    /// Appends one entry. Cost depends on the entry alone.
    pub fn push(&mut self, facts: &Facts) {
        let at = u32::try_from(self.len()).unwrap_or(u32::MAX);
        // Anything but a result (or a client's own note in between) ends the wait for results: the call
        // was abandoned, and holding the cut open for ever would make the rest uncuttable. What the model
        // says in the same breath as the call, such as a second call, does not.
        let is_same_breath = facts.role == Role::Assistant && self.answer != Answer::Absent;
        if facts.answers.is_empty() && facts.role != Role::System && !is_same_breath {
            self.abandoned.extend(self.open.drain(..));
        }
        let mut is_cut = self.open.is_empty()
            && facts.answers.is_empty()
            && !self.answer.holds(facts)
            && !self.unknown.holds(facts);
        let partner = self.unknown.partner(facts, |key| self.called_at(key));
        if let Some(partner) = partner {
            is_cut = false;
            self.hold_from(partner);
        }
        for answered in &facts.answers {
            self.close(answered);
        }
        self.unknown.push(facts, at);
        self.open.extend(facts.calls.iter().map(|call| (*call, at)));
        self.answer = self.answer.then(facts);
        let kind = Kind {
            role: facts.role,
            is_typed_by_user: facts.is_typed_by_user,
            is_own_summary: facts.is_own_summary,
            is_stacked_summary: facts.is_stacked_summary,
            is_marker: facts.is_marker,
            heartbeat: facts.heartbeat,
        };
        let size = Size {
            tokens: facts.tokens.into(),
            trimmable: facts.trimmable_tokens,
            arguments: facts.argument_tokens,
            wordy: facts.wordy_tokens,
            pins: facts.pin_tokens,
        };
        if let Some(sayings) = &facts.sayings {
            self.sayings.push((self.len(), sayings.clone()));
        }
        self.append(kind, size, is_cut);
    }

    /// Appends a message that was made or shortened for a view: none of it is shortened again.
    pub(crate) fn push_frozen(&mut self, message: &Message, meter: Meter) {
        let mut facts = Facts::of(message, meter);
        facts.trimmable_tokens = 0;
        facts.argument_tokens = 0;
        facts.wordy_tokens = 0;
        self.push(&facts);
    }

    /// Appends entries of another log as they stand there, without counting them again. Who adds the last of them
    /// says so by [`Log::go_on_as`].
    pub(crate) fn push_kept(&mut self, other: &Self, range: Range<usize>) {
        self.reserve(range.len());
        let mut cut = other
            .cuts
            .partition_point(|&cut| (cut as usize) < range.start);
        for position in range {
            let Some(&kind) = other.kinds.get(position) else {
                return;
            };
            let is_cut = other
                .cuts
                .get(cut)
                .is_some_and(|&at| at as usize == position);
            cut += usize::from(is_cut);
            let size = other.sizes.of(position..position + 1);
            if let Some(sayings) = other.sayings(position) {
                self.sayings.push((self.len(), sayings.clone()));
            }
            self.append(kind, size, is_cut);
        }
    }

    /// What is in flight at the end of `other`, whose last entries are the last of this log too, is in flight here.
    pub(crate) fn go_on_as(&mut self, other: &Self) {
        let (len, other_len) = (self.len(), other.len());
        let here = |(call, at): (&CallKey, &u32)| {
            let moved = (*at as usize + len).checked_sub(other_len)?;
            Some((*call, u32::try_from(moved).ok()?))
        };
        let open = other.open.iter().map(|(call, at)| (call, at));
        self.open = open.filter_map(here).collect();
        self.abandoned = other.abandoned.iter().filter_map(here).collect();
        self.answer = other.answer;
        self.unknown = other.unknown.moved(|at| {
            let moved = (at as usize + len).checked_sub(other_len)?;
            u32::try_from(moved).ok()
        });
    }

    fn append(&mut self, kind: Kind, size: Size, is_cut: bool) {
        let position = self.len();
        if is_cut {
            self.cuts.push(u32::try_from(position).unwrap_or(u32::MAX));
        }
        // A summary counts as ours only where we put it: in front, or right behind the first request.
        let in_head = match self.first_typed {
            None => true,
            Some(first) => first + 1 == position && self.own_summary.is_none(),
        };
        if kind.is_stacked_summary && self.first_typed.is_none() {
            self.stacked.push(position);
        } else if kind.is_own_summary && in_head {
            self.own_summary = Some(position);
        } else if kind.is_typed_by_user {
            self.first_typed.get_or_insert(position);
            self.newest_typed = Some(position);
        }
        if kind.heartbeat == HeartbeatPart::Ok
            && let Some(check) = position.checked_sub(1)
            && let Some(before) = self.kinds.get(check)
            && before.heartbeat.is_check(self.first_typed == Some(check))
        {
            self.heartbeats.push(check);
        }
        if kind.role == Role::System && self.leading_system == position {
            self.leading_system += 1;
        }
        if kind.role != Role::System {
            self.newest_spoken = Some(position);
        }
        self.kinds.push(kind);
        self.sizes.push(size);
    }

    /// A call is answered. A late answer takes back the cuts between it and its call.
    fn close(&mut self, call: &CallKey) {
        if let Some(at) = self.open.iter().position(|(open, _)| open == call) {
            let (_, called_at) = self.open.remove(at);
            self.open.retain(|(open, _)| open != call);
            self.unknown.answered(*call, called_at);
        } else if let Some(called_at) = self.abandoned.remove(call) {
            self.unknown.answered(*call, called_at);
            self.hold_from(called_at);
        }
    }

    /// Where a call was made that is not answered yet.
    fn called_at(&self, call: &CallKey) -> Option<u32> {
        let waiting = self.open.iter().find(|(open, _)| open == call);
        let waiting = waiting.map(|(_, at)| *at);
        waiting.or_else(|| self.abandoned.get(call).copied())
    }

    /// Takes back the cuts behind `position`.
    fn hold_from(&mut self, position: u32) {
        let kept = self.cuts.partition_point(|cut| *cut <= position);
        self.cuts.truncate(kept);
    }

    /// How many entries there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Who speaks at `position`.
    #[must_use]
    pub fn role(&self, position: usize) -> Option<Role> {
        self.kinds.get(position).map(|kind| kind.role)
    }

    /// How many entries in front are the client's own instructions.
    #[must_use]
    pub const fn leading_system(&self) -> usize {
        self.leading_system
    }

    /// Whether the user began a turn at `position`: with words of their own, not with a summary.
    #[must_use]
    pub fn starts_turn(&self, position: usize) -> bool {
        let kind = self.kinds.get(position);
        kind.is_some_and(|kind| {
            kind.is_typed_by_user && !kind.is_own_summary && !kind.is_stacked_summary
        })
    }

    /// Tokens of the entries in `range`.
    #[must_use]
    pub fn tokens(&self, range: Range<usize>) -> u64 {
        self.sizes.of(range).tokens
    }

    /// Tokens that trimming every tool result in `range` would take away, and the arguments of every call that has its
    /// result there too.
    #[must_use]
    pub fn trimmable_tokens(&self, range: Range<usize>) -> u64 {
        let arguments = |range| u64::from(self.sizes.of(range).arguments);
        let waiting = self.open.iter().map(|(_, at)| at);
        let mut unanswered: Vec<usize> = waiting
            .chain(self.abandoned.values())
            .map(|at| *at as usize)
            .filter(|at| range.contains(at))
            .collect();
        unanswered.sort_unstable();
        unanswered.dedup();
        let stays: u64 = unanswered.iter().map(|at| arguments(*at..at + 1)).sum();
        self.trimmable_results(range.clone()) + arguments(range) - stays
    }

    /// Of these, what trimming tool results would take away.
    pub(crate) fn trimmable_results(&self, range: Range<usize>) -> u64 {
        self.sizes.of(range).trimmable.into()
    }

    /// Tokens that trimming what people and assistant say in `range` would take away.
    #[must_use]
    pub fn wordy_tokens(&self, range: Range<usize>) -> u64 {
        self.sizes.of(range).wordy.into()
    }

    /// Tokens that the instructions in `range` take together, as far as each is told apart by its message.
    #[must_use]
    pub fn pin_tokens(&self, range: Range<usize>) -> u64 {
        self.sizes.of(range).pins.into()
    }

    /// What the entry at `position` says, where somebody typed it and it was read.
    pub(crate) fn sayings(&self, position: usize) -> Option<&Sayings> {
        let at = self.sayings.binary_search_by_key(&position, |(at, _)| *at);
        self.sayings.get(at.ok()?).map(|(_, sayings)| sayings)
    }

    /// Tokens of everything.
    #[must_use]
    pub const fn total_tokens(&self) -> u64 {
        self.sizes.all().tokens
    }

    /// Every position at which something may be removed before it, in order.
    #[must_use]
    pub fn cuts(&self) -> &[u32] {
        &self.cuts
    }

    /// Whether `position` is a legal cut. The end is one when nothing is in flight there.
    #[must_use]
    pub fn is_cut(&self, position: usize) -> bool {
        if position == self.len() {
            return self.open.is_empty()
                && self.answer != Answer::Thinking
                && self.last_cut().is_some_and(|cut| cut + 1 == position);
        }
        u32::try_from(position).is_ok_and(|position| self.cuts.binary_search(&position).is_ok())
    }

    /// Whether a call waits for its result at the end.
    #[must_use]
    pub const fn is_in_flight(&self) -> bool {
        !self.open.is_empty()
    }

    /// The last legal cut at or before `position`.
    #[must_use]
    pub fn cut_at_or_before(&self, position: usize) -> Option<usize> {
        let at = self.cuts.partition_point(|&cut| (cut as usize) <= position);
        let cut = at.checked_sub(1).and_then(|at| self.cuts.get(at))?;
        Some(*cut as usize)
    }

    /// How many entries from `position` on are summaries that stack.
    #[must_use]
    pub fn stacked_summaries(&self, position: usize) -> usize {
        let stacked = self.stacked.iter().filter(|at| **at >= position);
        stacked
            .zip(position..)
            .take_while(|(at, expected)| **at == *expected)
            .count()
    }

    /// The first legal cut at or after `position`.
    #[must_use]
    pub fn cut_at_or_after(&self, position: usize) -> Option<usize> {
        let at = self.cuts.partition_point(|&cut| (cut as usize) < position);
        self.cuts.get(at).map(|&cut| cut as usize)
    }

    /// The heartbeat exchanges in `range`, each a check and its answer, between two legal cuts.
    pub fn heartbeats(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let from = self.heartbeats.partition_point(|&at| at < range.start);
        let found = self.heartbeats.iter().skip(from);
        found
            .map(|&check| check..check + 2)
            .take_while(move |exchange| exchange.end <= range.end)
            .filter(|exchange| self.is_cut(exchange.start) && self.is_cut(exchange.end))
    }

    /// Markers in `range` that say how many messages went.
    pub(crate) fn markers(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let in_range = self
            .stacked
            .iter()
            .copied()
            .filter(move |at| range.contains(at));
        in_range.filter(|at| self.kinds.get(*at).is_some_and(|kind| kind.is_marker))
    }

    /// The last legal cut: what follows it is the step in flight and can never be removed.
    #[must_use]
    pub fn last_cut(&self) -> Option<usize> {
        self.cuts.last().map(|&cut| cut as usize)
    }

    /// The last legal cut behind which everything stays that waits for an answer: what the user or a tool said last,
    /// and the notes of the client behind it. Nobody may put a summary in the place of words the model never saw.
    #[must_use]
    pub fn last_removal(&self) -> Option<usize> {
        let waiting = self.newest_spoken.filter(|&at| {
            let kind = self.kinds.get(at);
            kind.is_some_and(|kind| kind.role != Role::Assistant) && !self.is_summary(at)
        });
        match waiting {
            Some(at) => self.cut_at_or_before(at),
            None => self.last_cut(),
        }
    }

    /// Whether nobody said anything since the last summary.
    pub(crate) fn ends_in_summary(&self) -> bool {
        self.newest_spoken.is_some_and(|at| self.is_summary(at))
    }

    /// Whether a summary stands at `position`, where this engine puts it.
    fn is_summary(&self, position: usize) -> bool {
        self.own_summary == Some(position) || self.stacked.last() == Some(&position)
    }

    /// The newest entry that a person typed.
    #[must_use]
    pub const fn newest_typed(&self) -> Option<usize> {
        self.newest_typed
    }

    /// The first entry that a person typed.
    #[must_use]
    pub const fn first_typed(&self) -> Option<usize> {
        self.first_typed
    }

    /// A summary of an earlier compaction, standing where this engine puts it.
    #[must_use]
    pub const fn own_summary(&self) -> Option<usize> {
        self.own_summary
    }

    /// The first position whose entries up to the end take at most `tokens`.
    #[must_use]
    pub fn suffix_within(&self, tokens: u64) -> usize {
        let least = self.total_tokens().saturating_sub(tokens);
        self.sizes.at_tokens(least)
    }
}
