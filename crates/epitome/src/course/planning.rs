//! What to remove: the first plan that was not tried before, from the mildest to the hardest.

use super::{Course, Sight};
use crate::design::{Keep, Preset, SummaryPlace};
use crate::guard;
use crate::ledger::{Attempt, Need, Rung};
use crate::log::Log;
use crate::plan::{NoPlan, Plan, Room, leading_system};
use crate::reason::Reason;

/// What is left of a window for the input where nothing is kept free, in percent.
const WHOLE_WINDOW_PERCENT: f64 = 0.98;
/// A request that is above the window by more than this part of it is refused, however far the count is off.
const SURELY_TOO_LARGE_DIVISOR: u64 = 4;
/// Where messages are too many, this part of what is allowed goes too.
const TRIMMED_BEYOND_DIVISOR: usize = 4;
/// Summaries that stack may take this part of the window.
const STACK_DIVISOR: u64 = 4;
/// Sizes closer than this part of the window are one: what is counted wobbles from request to request.
const SAME_SIZE_DIVISOR: u64 = 64;

impl Course {
    /// The first plan that was not tried before, from the mildest rung to the hardest that this calls for. It counts as
    /// tried from now on.
    ///
    /// # Errors
    /// [`NoPlan`] when there is nothing to remove, or everything was tried.
    pub fn plan(&mut self, sight: &Sight<'_>, reason: Reason) -> Result<Plan, NoPlan> {
        self.plan_with_rung(sight, reason).map(|(plan, _)| plan)
    }

    /// [`Course::plan`], and the rung that it stands on.
    pub(crate) fn plan_with_rung(
        &mut self,
        sight: &Sight<'_>,
        reason: Reason,
    ) -> Result<(Plan, Rung), NoPlan> {
        if reason != Reason::Manual
            && let Err(small) = self.guard()
        {
            return Err(NoPlan {
                reason: guard::WindowTooSmall::reason(small),
                floor_tokens: 0,
            });
        }
        let reading = self.reading(sight);
        let need = match reason {
            Reason::NearLine | Reason::CacheCold => Need::Wanted,
            _ => Need::Required,
        };
        let hardest = match reason {
            Reason::Overflow => Rung::Floor,
            Reason::HardLine if self.is_over_hard_line(&reading) => Rung::Floor,
            _ => Rung::ShorterTail,
        };
        let step = (self.window().tokens / SAME_SIZE_DIVISOR).max(1);
        let mut rung = Some(Rung::ShorterTail);
        let mut refused = NoPlan {
            reason: Reason::AlreadyTried,
            floor_tokens: 0,
        };
        while let Some(now) = rung.filter(|rung| *rung <= hardest) {
            rung = now.next();
            let plan = match self.plan_on(sight, now, reason) {
                Some(Ok(plan)) => plan,
                Some(Err(no)) => {
                    refused = no;
                    continue;
                }
                None => continue,
            };
            let attempt = Attempt {
                span_end: sight.span_key(plan.span.end),
                target_tokens: plan.target_tokens / step,
                rung: now,
            };
            // Who asks for it by hand may ask twice.
            let granted = match reason {
                Reason::Manual => Ok(()),
                _ => self.ledger.begin(attempt, need, reading.size_tokens),
            };
            match granted {
                Ok(()) => return Ok((plan, now)),
                Err(reason) => refused.reason = reason,
            }
        }
        Err(refused)
    }

    /// The plan on a rung; `None` where the design has no such rung. It does not count as tried.
    pub(crate) fn plan_on(
        &self,
        sight: &Sight<'_>,
        rung: Rung,
        reason: Reason,
    ) -> Option<Result<Plan, NoPlan>> {
        let log = sight.log;
        if let (Reason::TooManyMessages, Some(most)) = (reason, self.most_messages(log)) {
            // Down to the limit itself the next message would be one too many again.
            let left = most.saturating_sub(most / TRIMMED_BEYOND_DIVISOR).max(1);
            let plan = Plan::at_most(log, left, reason);
            let plan = plan.or_else(|_| Plan::at_most(log, most, reason));
            let drops_rules = |plan: &Plan| log.pin_tokens(plan.span.clone()) > 0;
            // What leaves this way leaves without a word. Rules of the user do not: then it is summarised.
            if !plan.as_ref().is_ok_and(drops_rules) {
                return Some(plan);
            }
        }
        let mut preset = self.preset.at_usage(self.due_tokens(sight), self.window());
        if self.is_outgrown_by_summaries(&preset, log) {
            preset.place = SummaryPlace::UserMessage;
        }
        let is_by_size = preset.keep == Keep::Budget;
        let with = |budget, room| Plan::with(&preset, log, budget, room, reason);
        let room = self.room(sight, reason);
        let plan = match rung {
            Rung::ShorterTail => with(None, room),
            Rung::TrimmedResults if is_by_size => return None,
            Rung::TrimmedResults => with(None, room).and_then(|plan| plan.trimming(log)),
            Rung::WholeLine | Rung::WholeWindow if !is_by_size => return None,
            Rung::WholeLine => with(None, Room::of(room.most_tokens)),
            Rung::WholeWindow => with(None, Room::of(self.whole_window(sight))),
            Rung::Floor => {
                let within = |budget| match is_by_size {
                    true => Plan::within(log, budget, reason),
                    false => with(Some(budget), room),
                };
                self.floor_of(sight, within(0)).and_then(within)
            }
        };
        Some(plan.map(|plan| plan.without_heartbeats(log)))
    }

    /// Whether summaries that stack take so much of the window that they have to become one.
    fn is_outgrown_by_summaries(&self, preset: &Preset, log: &Log) -> bool {
        let stacks = matches!(preset.place, SummaryPlace::Stack | SummaryPlace::Marker);
        let system = leading_system(log);
        let stacked = log.tokens(system..system + log.stacked_summaries(system));
        stacks && stacked > self.window().tokens / STACK_DIVISOR
    }

    /// The floor, if it fits: it is sent, or nothing is.
    fn floor_of(&self, sight: &Sight<'_>, least: Result<Plan, NoPlan>) -> Result<u64, NoPlan> {
        let floor_tokens = match least {
            Ok(plan) => plan.floor_tokens,
            Err(no) if no.reason == Reason::FloorAboveBudget => no.floor_tokens,
            Err(no) => return Err(no),
        };
        let reading = self.reading(sight);
        // What must stay may take what was kept free for the answer. It may also be smaller than it looks: as long as
        // it is not surely too large, the least that can be sent has the best chance.
        let window = self.window().tokens;
        let most = window.saturating_add(window / SURELY_TOO_LARGE_DIVISOR);
        if floor_tokens.saturating_add(self.apart_tokens(sight)) > reading.estimated(most) {
            return Err(NoPlan {
                reason: Reason::FloorAboveWindow,
                floor_tokens,
            });
        }
        Ok(floor_tokens)
    }

    /// All of the window, by the meter: what must stay may take what was kept free for the answer.
    fn whole_window(&self, sight: &Sight<'_>) -> u64 {
        // What a compaction makes was never counted: its own size decides how far it may be off.
        let error = 1.0 + self.gauge().rate.error_ratio();
        let real = self.window().tokens as f64 * WHOLE_WINDOW_PERCENT / error;
        self.usable(sight, real as u64)
    }
}
