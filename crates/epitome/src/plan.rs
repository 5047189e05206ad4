//! What to remove: a plan is pure data, made from sizes and cuts alone.

mod design;

pub use design::Room;

use std::ops::Range;

use crate::log::Log;
use crate::message::Role;
use crate::reason::Reason;

/// The least room a summary needs to be worth writing.
pub const SUMMARY_FLOOR_TOKENS: u64 = 160;
/// Of what the head leaves, the summary gets at least this share and the newest entries the rest: of the
/// first tokens most, because few of the newest entries would fit there, and of all beyond them little.
const SUMMARY_PERCENT: u64 = 85;
const SUMMARY_BEYOND_PERCENT: u64 = 20;
const SUMMARY_FIRST_TOKENS: u64 = 10_000;
/// Where a conversation goes on in its window, the summary gets this share.
const WINDOW_SUMMARY_PERCENT: u64 = 40;
/// And this share, where results that the model has not seen yet need the room.
const UNSEEN_SUMMARY_PERCENT: u64 = 15;
/// But no more than this: beyond it the newest entries themselves say more.
const WINDOW_SUMMARY_TOKENS: u64 = 20_000;
/// What the summary gets at least where the arguments of the last step would have to be shortened for it.
const BESIDE_ARGUMENTS_PERCENT: u64 = 50;
/// The task is kept as it was sent while it takes at most this part of the target.
const TASK_CAP_DIVISOR: u64 = 4;
/// Instructions take at most this part of the target: a quarter of an explicit budget, and about a tenth of the window
/// where the target is the usual quarter of it.
const PINS_CAP_DIVISOR: u64 = 4;
/// The client's own notes inside the span are kept while they take at most this part of the target.
const NOTES_CAP_DIVISOR: u64 = 10;
/// What the summary has for what the user asked for last, however little room there is, and for the words before it.
pub(crate) const LATEST_REQUEST_TOKENS: u64 = 160;
pub(crate) const LATEST_HEADING_TOKENS: u64 = 30;
/// A plan that leaves more than this share of what was there is not worth a swap.
const WORTHWHILE_PERCENT: u64 = 90;

/// What a compaction will do, what it will save, and the floor it cannot go below.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Plan {
    /// Why.
    pub reason: Reason,
    /// Entries in front that stay as they are: the system prompt and, if it is small enough, the task.
    pub head: Range<usize>,
    /// Entries that the summary stands for.
    pub span: Range<usize>,
    /// Entries inside the span that stay in view after the summary: the client's own notes.
    pub notes: Vec<usize>,
    /// The entry behind the span before which they stand: the first answer, or the end. A note that is followed by a
    /// message of the user is refused by providers.
    #[cfg_attr(feature = "serde", serde(default))]
    pub notes_before: usize,
    /// What such notes may take together.
    pub notes_cap_tokens: u64,
    /// Entries outside the span that leave the view without a word: heartbeats that found nothing, and a marker
    /// that a newer one replaces.
    pub dropped: Vec<Range<usize>>,
    /// The beginning of the turn that the cut splits: the end of the span, summarised by itself. Empty where the
    /// cut splits no turn, or where the design does not tell the two apart.
    pub turn_prefix: Range<usize>,
    /// How the summary is put into the view.
    pub layout: Layout,
    /// Whether the first entry behind the span is the user's.
    pub tail_starts_with_user: bool,
    /// Whether the first request of the user stays in view as it was sent.
    pub task: TaskPlace,
    /// Tokens of everything but the leading system prompt, now.
    pub tokens_before: u64,
    /// What the whole view but the leading system prompt may take.
    pub target_tokens: u64,
    /// What the summary may take.
    pub summary_tokens: u64,
    /// What instructions in force may take of it whatever else is there.
    pub pins_tokens: u64,
    /// What has to come off the tool results that stay, because the last step alone is too large.
    pub trim_tokens: u64,
    /// The size below which no compaction of this history can go.
    pub floor_tokens: u64,
}

/// How a summary is put into a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Layout {
    /// A message of the user's role after the head.
    #[default]
    UserMessage,
    /// A message of the assistant's role after the head.
    AssistantMessage,
    /// Inside the last message of the head, behind its first text.
    Merged,
    /// A marker that says how much went, as a message of the user's role after the head.
    Marker,
    /// Not at all: there is none, the span leaves without a word.
    Nothing,
}

/// Where the first request of the user ends up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TaskPlace {
    /// In the head, byte for byte.
    Head,
    /// In the summary, because it is too large for the head or there is none.
    Summary,
}

/// What becomes of what people and assistant said last, where it alone is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    /// A budget was asked for: it is kept, whatever must be shortened.
    GiveWay,
    /// The conversation goes on: nobody's words are cut before the model has seen them.
    Stay,
}

impl Words {
    fn trimmable_tokens(self, log: &Log, range: Range<usize>) -> u64 {
        match self {
            Self::GiveWay => log.wordy_tokens(range),
            Self::Stay => 0,
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not compacted: {reason} (floor {floor_tokens} tokens)")]
pub struct NoPlan {
    /// Why.
    pub reason: Reason,
    /// The floor, where it was the reason.
    pub floor_tokens: u64,
}

impl Plan {
    /// Plans to bring everything but the leading system prompt to at most `target_tokens`.
    ///
    /// # Errors
    /// [`NoPlan`] names the reason when there is nothing to remove or the floor is above the target.
    pub fn make(log: &Log, target_tokens: u64, reason: Reason) -> Result<Self, NoPlan> {
        Self::divided(log, target_tokens, reason, Words::GiveWay, summary_share)
    }

    /// [`Plan::make`] for a conversation that goes on: what was said last stays as it is.
    pub(crate) fn within(log: &Log, target_tokens: u64, reason: Reason) -> Result<Self, NoPlan> {
        Self::divided(log, target_tokens, reason, Words::Stay, summary_share)
    }

    /// [`Plan::make`] for a conversation that goes on in its window: what the summary leaves is more, so that more of
    /// the newest entries stay as they are. Results that the model has not seen yet may take the view up to
    /// `most_tokens` before they are shortened.
    ///
    /// # Errors
    /// [`NoPlan`] names the reason when there is nothing to remove or the floor is above the target.
    pub fn for_window(
        log: &Log,
        target_tokens: u64,
        most_tokens: u64,
        reason: Reason,
    ) -> Result<Self, NoPlan> {
        let system_end = leading_system(log);
        let summary = |room| {
            percent_of(room, WINDOW_SUMMARY_PERCENT)
                .clamp(SUMMARY_FLOOR_TOKENS, WINDOW_SUMMARY_TOKENS)
        };
        let (head_end, _) = head(log, system_end, target_tokens);
        let head_tokens = log.tokens(system_end..head_end);
        let room = target_tokens.saturating_sub(head_tokens);
        let wanted = head_tokens + summary(room) + unseen_tokens(log);
        if wanted <= target_tokens {
            return Self::divided(log, target_tokens, reason, Words::Stay, summary);
        }
        let target = wanted.min(most_tokens).max(target_tokens);
        // What nobody has read yet comes first; what was read is told in fewer words.
        let shorter = percent_of(room, UNSEEN_SUMMARY_PERCENT).max(SUMMARY_FLOOR_TOKENS);
        Self::divided(log, target, reason, Words::Stay, |_| shorter)
    }

    /// That `span` goes and everything around it stays as it is: what every plan begins with. Nothing is measured yet but
    /// what is there.
    fn between(log: &Log, span: Range<usize>, task: TaskPlace, reason: Reason) -> Self {
        let cut = span.end;
        Self {
            reason,
            head: 0..span.start,
            span,
            notes: Vec::new(),
            notes_before: first_answer(log, cut),
            notes_cap_tokens: 0,
            dropped: Vec::new(),
            turn_prefix: cut..cut,
            layout: Layout::UserMessage,
            tail_starts_with_user: log.role(cut) == Some(Role::User),
            task,
            tokens_before: log.tokens(leading_system(log)..log.len()),
            target_tokens: 0,
            summary_tokens: 0,
            pins_tokens: 0,
            trim_tokens: 0,
            floor_tokens: 0,
        }
    }

    /// Plans with `summary_share` of what the head leaves for the summary.
    fn divided(
        log: &Log,
        target_tokens: u64,
        reason: Reason,
        words: Words,
        summary_share: impl Fn(u64) -> u64,
    ) -> Result<Self, NoPlan> {
        let no = |reason, floor_tokens| NoPlan {
            reason,
            floor_tokens,
        };
        let system_end = leading_system(log);
        let tokens_before = log.tokens(system_end..log.len());
        let Some(last_cut) = log.last_removal() else {
            return Err(no(Reason::NothingToRemove, tokens_before));
        };
        let floor_with = |head_end: usize| {
            let tail = last_cut.max(head_end)..log.len();
            let floor =
                log.tokens(system_end..head_end) + SUMMARY_FLOOR_TOKENS + log.tokens(tail.clone())
                    - log.trimmable_tokens(tail.clone())
                    - words.trimmable_tokens(log, tail.clone());
            floor_with_pins(floor, log, head_end..tail.start).min(tokens_before)
        };
        let floor_tokens = floor_with(system_end);
        if last_cut <= system_end {
            return Err(no(Reason::NothingToRemove, floor_tokens));
        }
        if floor_tokens > target_tokens {
            return Err(no(Reason::FloorAboveBudget, floor_tokens));
        }
        let (mut head_end, mut task) = head(log, system_end, target_tokens);
        // A first step that is too large is trimmed, and the task gives way to the summary.
        if last_cut <= head_end || floor_with(head_end) > target_tokens {
            (head_end, task) = (system_end, TaskPlace::Summary);
        }
        let head_tokens = log.tokens(system_end..head_end);

        let room = target_tokens - head_tokens;
        let least = SUMMARY_FLOOR_TOKENS + pins_tokens(log, head_end..last_cut, target_tokens);
        let summary_share = summary_share(room).max(least);
        let wanted = log.suffix_within(room.saturating_sub(summary_share));
        let cut = log
            .cut_at_or_after(wanted.max(head_end + 1))
            .map_or(last_cut, |cut| cut.min(last_cut));
        let tail_tokens = log.tokens(cut..log.len());
        // A last step that is too large gives way to the summary as far as its results and the
        // arguments of its calls can be shortened; what is said in it gives way only where nothing else helps.
        let tail = cut..log.len();
        let pins_tokens = pins_tokens(log, head_end..cut, target_tokens);
        let least = SUMMARY_FLOOR_TOKENS + pins_tokens;
        let latest = latest_request_tokens(log, head_end..cut);
        let over = |share: u64| (tail_tokens + share).saturating_sub(room);
        // What the model itself wrote last says most of where it stands.
        let beside_arguments = percent_of(room, BESIDE_ARGUMENTS_PERCENT).min(summary_share);
        let trim_tokens = over(summary_share)
            .min(log.trimmable_results(tail.clone()))
            .max(over(beside_arguments).min(log.trimmable_tokens(tail.clone())))
            .max(over(least + latest).min(log.trimmable_tokens(tail.clone())))
            .max(over(least));
        // Where all there is takes less than a summary beside it, only somebody's words could make room.
        if words == Words::Stay && trim_tokens > log.trimmable_tokens(tail) {
            return Err(no(Reason::NotSmaller, floor_tokens));
        }
        let left = (room + trim_tokens).saturating_sub(tail_tokens);
        // Notes take what the summary can spare.
        let notes_cap_tokens = left
            .saturating_sub(least + latest)
            .min(target_tokens / NOTES_CAP_DIVISOR);
        let notes = notes(log, head_end..cut, notes_cap_tokens);
        let summary_tokens = left - notes_tokens(log, &notes);
        Ok(Self {
            notes,
            notes_cap_tokens,
            target_tokens,
            summary_tokens,
            pins_tokens,
            trim_tokens,
            floor_tokens,
            ..Self::between(log, head_end..cut, task, reason)
        })
    }

    /// Plans to remove everything between the head and `cut`, whatever the size of what remains.
    ///
    /// # Errors
    /// [`NoPlan`] when `cut` is not a legal cut or lies inside the head.
    pub fn at(log: &Log, cut: usize, summary_tokens: u64, reason: Reason) -> Result<Self, NoPlan> {
        let system_end = leading_system(log);
        let (head_end, task) = head(log, system_end, u64::MAX);
        if cut <= head_end || !log.is_cut(cut) {
            return Err(NoPlan {
                reason: Reason::NothingToRemove,
                floor_tokens: 0,
            });
        }
        let notes = notes(log, head_end..cut, u64::MAX);
        let kept = log.tokens(system_end..head_end)
            + notes_tokens(log, &notes)
            + log.tokens(cut..log.len());
        Ok(Self {
            notes,
            notes_cap_tokens: u64::MAX,
            target_tokens: kept.saturating_add(summary_tokens),
            summary_tokens,
            pins_tokens: pins_tokens(log, head_end..cut, summary_tokens),
            floor_tokens: kept + SUMMARY_FLOOR_TOKENS,
            ..Self::between(log, head_end..cut, task, reason)
        })
    }

    /// The plan of an earlier compaction, read again on a log that has grown since: same head, same cut, same
    /// notes. `None` when this log cannot be cut there.
    #[must_use]
    pub fn again(log: &Log, cut: usize, task: TaskPlace, notes_cap_tokens: u64) -> Option<Self> {
        let system_end = leading_system(log);
        let head_end = match task {
            TaskPlace::Head => log.first_typed()? + 1,
            TaskPlace::Summary => system_end,
        };
        if cut <= head_end || !log.is_cut(cut) {
            return None;
        }
        Some(Self {
            notes: notes(log, head_end..cut, notes_cap_tokens),
            notes_cap_tokens,
            ..Self::between(log, head_end..cut, task, Reason::Epoch)
        })
    }

    /// The same plan, with the heartbeats among the newest entries out of view: they found nothing, so that they
    /// are the first thing to go. The newest exchange stays, because it is where the conversation stands.
    #[must_use]
    pub fn without_heartbeats(mut self, log: &Log) -> Self {
        let found = log.heartbeats(self.span.end..log.len());
        self.dropped
            .extend(found.filter(|exchange| exchange.end < log.len()));
        let first_kept = (self.span.end..log.len()).find(|at| !self.drops(*at));
        self.tail_starts_with_user = first_kept.and_then(|at| log.role(at)) == Some(Role::User);
        self
    }

    /// Whether the entry at `position` leaves the view without a word.
    #[must_use]
    pub fn drops(&self, position: usize) -> bool {
        self.dropped.iter().any(|range| range.contains(&position))
    }

    /// What leaves the view without a word.
    pub(crate) fn dropped_tokens(&self, log: &Log) -> u64 {
        let sizes = self.dropped.iter().map(|range| log.tokens(range.clone()));
        sizes.sum()
    }

    /// What the text of the summary may take.
    pub(crate) const fn summary_cap_tokens(&self) -> u64 {
        if self.summary_tokens > 0 {
            self.summary_tokens
        } else {
            u64::MAX
        }
    }

    /// Whether a view of `tokens_after` is clearly smaller than what was there.
    #[must_use]
    pub const fn is_worthwhile(&self, tokens_after: u64) -> bool {
        tokens_after <= self.target_tokens
            && tokens_after <= percent_of(self.tokens_before, WORTHWHILE_PERCENT)
    }
}

/// The newest of the client's own notes in `span` that fit `cap_tokens` together.
#[must_use]
pub fn notes_within(log: &Log, span: Range<usize>, cap_tokens: u64) -> Vec<usize> {
    notes(log, span, cap_tokens)
}

/// A share of a size, rounded down, however large.
pub(crate) const fn percent_of(tokens: u64, percent: u64) -> u64 {
    tokens / 100 * percent + tokens % 100 * percent / 100
}

/// What the user asked for last takes in a summary, where it is among what goes: whoever goes on has to know it, so that results
/// give way to it.
fn latest_request_tokens(log: &Log, span: Range<usize>) -> u64 {
    let latest = log.newest_typed().filter(|at| span.contains(at));
    latest.map_or(0, |at| {
        log.tokens(at..at + 1).min(LATEST_REQUEST_TOKENS) + LATEST_HEADING_TOKENS
    })
}

/// What the last step takes, where the model has not answered to it yet.
pub(crate) fn unseen_tokens(log: &Log) -> u64 {
    let is_answered =
        log.len().checked_sub(1).and_then(|last| log.role(last)) == Some(Role::Assistant);
    match log.last_removal() {
        Some(cut) if !is_answered => log.tokens(cut..log.len()),
        _ => 0,
    }
}

/// How many entries in front are the client's own instructions.
#[must_use]
pub const fn leading_system(log: &Log) -> usize {
    log.leading_system()
}

/// The head ends after the first request when that request opens the conversation and is not too large.
fn head(log: &Log, system_end: usize, target_tokens: u64) -> (usize, TaskPlace) {
    let Some(first) = log.first_typed() else {
        return (system_end, TaskPlace::Summary);
    };
    // An earlier summary in front carries the task of a conversation that was compacted before.
    if log.own_summary().is_some_and(|summary| summary < first) {
        return (system_end, TaskPlace::Summary);
    }
    let opens = (system_end..first)
        .all(|position| matches!(log.role(position), Some(Role::System | Role::User)))
        && (first + 1 == log.len() || log.is_cut(first + 1));
    let tokens = log.tokens(system_end..first + 1);
    if opens && tokens <= target_tokens / TASK_CAP_DIVISOR {
        (first + 1, TaskPlace::Head)
    } else {
        (system_end, TaskPlace::Summary)
    }
}

/// What the summary gets of the room that the head leaves.
fn summary_share(room_tokens: u64) -> u64 {
    let first = room_tokens.min(SUMMARY_FIRST_TOKENS);
    let beyond = room_tokens - first;
    let share = percent_of(first, SUMMARY_PERCENT) + percent_of(beyond, SUMMARY_BEYOND_PERCENT);
    share.max(SUMMARY_FLOOR_TOKENS)
}

/// The least target that holds `floor_tokens` and the instructions in `range`, of which it gives at most a quarter to
/// these.
fn floor_with_pins(floor_tokens: u64, log: &Log, range: Range<usize>) -> u64 {
    let pins = log.pin_tokens(range);
    floor_tokens + pins.min(floor_tokens.div_ceil(PINS_CAP_DIVISOR - 1))
}

/// What is kept free for the instructions in `range`.
fn pins_tokens(log: &Log, range: Range<usize>, target_tokens: u64) -> u64 {
    log.pin_tokens(range).min(target_tokens / PINS_CAP_DIVISOR)
}

/// The first entry of the assistant from `cut` on, or the end: there, notes of the client may stand.
#[must_use]
pub fn first_answer(log: &Log, cut: usize) -> usize {
    let mut behind = cut..log.len();
    behind
        .find(|&position| log.role(position) == Some(Role::Assistant))
        .unwrap_or(log.len())
}

/// What the entries at these positions take together.
pub(crate) fn notes_tokens(log: &Log, notes: &[usize]) -> u64 {
    notes.iter().map(|&at| log.tokens(at..at + 1)).sum()
}

/// The newest of the client's own notes in `span` that fit `cap_tokens`.
fn notes(log: &Log, span: Range<usize>, cap_tokens: u64) -> Vec<usize> {
    let mut left = cap_tokens;
    let mut kept: Vec<usize> = span
        .rev()
        .filter(|&position| log.role(position) == Some(Role::System))
        .map_while(|position| {
            left = left.checked_sub(log.tokens(position..position + 1))?;
            Some(position)
        })
        .collect();
    kept.reverse();
    kept
}
