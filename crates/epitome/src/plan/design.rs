//! Plans in the way of a design.

use super::{
    Layout, NOTES_CAP_DIVISOR, NoPlan, Plan, SUMMARY_FLOOR_TOKENS, TaskPlace, floor_with_pins,
    leading_system, notes, notes_tokens, percent_of, pins_tokens,
};
use crate::design::{Keep, Preset, SummaryPlace};
use crate::log::Log;
use crate::reason::Reason;

/// The share of the summary in the other designs.
const PRESET_SUMMARY_PERCENT: u64 = 40;
/// What the words before a summary that speaks as the assistant take.
const SEAM_TOKENS: u64 = 20;

/// What a view may take where no budget is given, by the meter and without the leading system prompt. Only designs
/// that keep by size look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// What it aims for.
    pub target_tokens: u64,
    /// What it may take where results that the model has not seen yet need it.
    pub most_tokens: u64,
}

impl Room {
    /// The same for both.
    #[must_use]
    pub const fn of(target_tokens: u64) -> Self {
        Self {
            target_tokens,
            most_tokens: target_tokens,
        }
    }
}

/// What a design keeps in any case, and what that takes.
struct Borders {
    system_end: usize,
    head_end: usize,
    head_tokens: u64,
    tokens_before: u64,
    /// What the words before a summary take, where it would speak first.
    seam_tokens: u64,
    /// Where what stays at the end begins when as much as possible goes.
    least_tail: usize,
    floor_tokens: u64,
}

impl Plan {
    /// Plans as a preset wants it. Without a budget the preset's own cut and summary size decide; with one the tail
    /// gets shorter, then its results, until the whole view fits.
    ///
    /// # Errors
    /// [`NoPlan`] names the reason when there is nothing to remove or the floor is above the budget.
    pub fn with(
        preset: &Preset,
        log: &Log,
        budget_tokens: Option<u64>,
        room: Room,
        reason: Reason,
    ) -> Result<Self, NoPlan> {
        if preset.keep == Keep::Budget {
            return match budget_tokens {
                Some(budget) => Self::make(log, budget, reason),
                None => Self::for_window(log, room.target_tokens, room.most_tokens, reason),
            };
        }
        let found = Borders::of(preset, log)?;
        let cut = found.cut(preset, log, budget_tokens)?;
        let plan = found.plan(preset, log, cut, budget_tokens, reason);
        // Where all there is takes less than a summary beside it, only somebody's words could make room.
        if plan.trim_tokens > log.trimmable_tokens(cut..log.len()) {
            return Err(NoPlan {
                reason: Reason::NotSmaller,
                floor_tokens: found.floor_tokens,
            });
        }
        Ok(plan)
    }

    /// Plans to show at most `most` messages besides the system prompt: the first request and the newest, whole steps
    /// only. The rest leaves the view without a word.
    ///
    /// # Errors
    /// [`NoPlan`] when that many are not there, or no legal cut leaves so few.
    pub fn at_most(log: &Log, most: usize, reason: Reason) -> Result<Self, NoPlan> {
        let system_end = leading_system(log);
        let head_end = match log.first_typed() {
            Some(first) if first == system_end && log.is_cut(first + 1) => first + 1,
            _ => system_end,
        };
        let behind = most.saturating_sub(head_end - system_end);
        let cut = log
            .len()
            .checked_sub(behind)
            .filter(|wanted| *wanted > head_end)
            .and_then(|wanted| log.cut_at_or_after(wanted))
            .filter(|cut| log.last_removal().is_some_and(|last| *cut <= last));
        let nothing = NoPlan {
            reason: Reason::NothingToRemove,
            floor_tokens: log.tokens(system_end..log.len()),
        };
        let cut = cut.ok_or(nothing)?;
        let task = match head_end > system_end {
            true => TaskPlace::Head,
            false => TaskPlace::Summary,
        };
        let kept = log.tokens(system_end..head_end) + log.tokens(cut..log.len());
        Ok(Self {
            layout: Layout::Nothing,
            target_tokens: kept,
            floor_tokens: kept,
            ..Self::between(log, head_end..cut, task, reason)
        })
    }

    /// The same plan, with every tool result that stays cut down as far as it goes.
    ///
    /// # Errors
    /// [`NoPlan`] when there is none to cut down.
    pub fn trimming(mut self, log: &Log) -> Result<Self, NoPlan> {
        let trimmable = log.trimmable_tokens(self.span.end..log.len());
        if trimmable == 0 {
            return Err(NoPlan {
                reason: Reason::NothingToRemove,
                floor_tokens: self.floor_tokens,
            });
        }
        let more = trimmable.saturating_sub(self.trim_tokens);
        self.trim_tokens = trimmable;
        self.target_tokens = self
            .target_tokens
            .saturating_sub(more)
            .max(self.floor_tokens);
        Ok(self)
    }
}

impl Borders {
    fn of(preset: &Preset, log: &Log) -> Result<Self, NoPlan> {
        let system_end = leading_system(log);
        let head_end = preset.head_end(log);
        let tokens_before = log.tokens(system_end..log.len());
        let last_cut = log.last_removal().ok_or_else(|| nothing(tokens_before))?;
        let head_tokens = log.tokens(system_end..head_end);
        let least_tail = preset
            .cut(log, log.len().min(head_end))
            .map_or(last_cut, |cut| cut.max(last_cut));
        let tail = least_tail.max(head_end)..log.len();
        // Where the assistant would speak first, some providers get a few words of the user before it.
        let speaks_first = preset.place == SummaryPlace::AssistantMessage && head_end == system_end;
        let seam_tokens = if speaks_first { SEAM_TOKENS } else { 0 };
        let floor_tokens =
            head_tokens + seam_tokens + SUMMARY_FLOOR_TOKENS + log.tokens(tail.clone())
                - log.trimmable_tokens(tail.clone());
        let floor_tokens =
            floor_with_pins(floor_tokens, log, head_end..tail.start).min(tokens_before);
        Ok(Self {
            system_end,
            head_end,
            head_tokens,
            tokens_before,
            seam_tokens,
            least_tail,
            floor_tokens,
        })
    }

    /// Where the design cuts; later where a budget asks for more.
    fn cut(&self, preset: &Preset, log: &Log, budget_tokens: Option<u64>) -> Result<usize, NoPlan> {
        let cut = preset.cut(log, self.head_end);
        let cut = cut.filter(|cut| *cut > self.head_end);
        let cut = cut.ok_or_else(|| nothing(self.floor_tokens))?;
        let Some(budget) = budget_tokens else {
            return Ok(cut);
        };
        if self.floor_tokens > budget {
            return Err(NoPlan {
                reason: Reason::FloorAboveBudget,
                floor_tokens: self.floor_tokens,
            });
        }
        let room = budget.saturating_sub(self.head_tokens + self.seam_tokens);
        // What the instructions need is not taken from the words of those who wait for an answer.
        let pins_tokens = pins_tokens(log, self.head_end..self.least_tail, budget);
        let summary_share = percent_of(room, PRESET_SUMMARY_PERCENT)
            .min(preset.summary_tokens)
            .max(SUMMARY_FLOOR_TOKENS + pins_tokens);
        let room = room.saturating_sub(summary_share);
        let fitting = log.cut_at_or_after(log.suffix_within(room));
        let fitting = fitting.unwrap_or(self.least_tail);
        Ok(cut.max(fitting.min(self.least_tail)))
    }

    /// The plan that cuts there.
    fn plan(
        &self,
        preset: &Preset,
        log: &Log,
        cut: usize,
        budget_tokens: Option<u64>,
        reason: Reason,
    ) -> Plan {
        let head_end = self.head_end;
        let tail_tokens = log.tokens(cut..log.len());
        let pins_room = budget_tokens.unwrap_or(self.tokens_before);
        let pins_tokens = pins_tokens(log, head_end..cut, pins_room);
        let least = SUMMARY_FLOOR_TOKENS + pins_tokens;
        // A summary longer than half of what it stands for would not be worth the swap.
        let summary_cap = (log.tokens(head_end..cut) / 2)
            .min(preset.summary_tokens)
            .max(least);
        let kept = self.head_tokens + tail_tokens;
        let target_tokens = budget_tokens.unwrap_or(kept + summary_cap);
        let seam_tokens = budget_tokens.map_or(0, |_| self.seam_tokens);
        let room = target_tokens.saturating_sub(self.head_tokens + seam_tokens);
        let trim_tokens = (tail_tokens + least).saturating_sub(room);
        let left = (room + trim_tokens).saturating_sub(tail_tokens);
        let is_marker = preset.place == SummaryPlace::Marker;
        let notes_cap_tokens = match is_marker {
            true => 0,
            false => left
                .saturating_sub(least)
                .min(target_tokens / NOTES_CAP_DIVISOR),
        };
        let notes = match is_marker {
            true => Vec::new(),
            false => notes(log, head_end..cut, notes_cap_tokens),
        };
        // A new marker counts what an earlier one counted.
        let old_markers = log.markers(0..head_end).filter(|_| is_marker);
        let (layout, task) = self.placed(preset);
        Plan {
            summary_tokens: (left - notes_tokens(log, &notes))
                .min(preset.summary_tokens.max(least)),
            pins_tokens,
            notes,
            notes_cap_tokens,
            dropped: old_markers.map(|at| at..at + 1).collect(),
            turn_prefix: preset.turn_start(log, head_end, cut)..cut,
            layout,
            target_tokens,
            trim_tokens,
            floor_tokens: self.floor_tokens,
            ..Plan::between(log, head_end..cut, task, reason)
        }
    }

    /// How the summary is put into the view, and where the first request ends up by that.
    fn placed(&self, preset: &Preset) -> (Layout, TaskPlace) {
        match preset.place {
            SummaryPlace::FirstMessage if self.head_end > self.system_end => {
                (Layout::Merged, TaskPlace::Head)
            }
            SummaryPlace::AssistantMessage => (Layout::AssistantMessage, TaskPlace::Summary),
            SummaryPlace::Marker => (Layout::Marker, TaskPlace::Summary),
            _ => (Layout::UserMessage, TaskPlace::Summary),
        }
    }
}

const fn nothing(floor_tokens: u64) -> NoPlan {
    NoPlan {
        reason: Reason::NothingToRemove,
        floor_tokens,
    }
}
