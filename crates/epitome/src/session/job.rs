//! A piece of work on a frozen span: begun here, done anywhere.

use std::ops::Range;
use std::sync::Arc;

use super::Session;
use crate::compaction::Compaction;
use crate::event::{Event, Pruning, Started};
use crate::ledger::{Attempt, Failure, Need, Rung};
use crate::log::Log;
use crate::message::Message;
use crate::meter::Meter;
use crate::pin::Pin;
use crate::plan::{NoPlan, Plan, leading_system};
use crate::preset_name::PresetName;
use crate::reason::Reason;
use crate::reference::openclaw;

/// A frozen span and what is to be done with it. Owns everything; runs anywhere, as slowly as it likes.
#[derive(Clone, Debug)]
pub struct Job {
    pub(super) preset: PresetName,
    pub(super) plan: Plan,
    pub(super) oldest: Range<usize>,
    pub(super) log: Log,
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) host_pins: Vec<Pin>,
    pub(super) meter: Meter,
    pub(super) changes: usize,
}

/// A compaction that is ready to be committed to the conversation it was begun on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub(super) compaction: Compaction,
    /// How many changes the conversation had seen.
    pub(super) changes: usize,
    /// How many messages it showed.
    pub(super) shown: usize,
}

impl Prepared {
    /// What is ready.
    #[must_use]
    pub const fn compaction(&self) -> &Compaction {
        &self.compaction
    }
}

impl Job {
    /// The work of a plan on messages that belong to no session. What comes of it is
    /// [`Prepared::compaction`].
    #[must_use]
    pub fn of(
        preset: PresetName,
        plan: Plan,
        log: Log,
        messages: Vec<Arc<Message>>,
        meter: Meter,
    ) -> Self {
        let start = plan.span.start;
        Self {
            preset,
            oldest: start..start,
            plan,
            log,
            messages,
            host_pins: Vec::new(),
            meter,
            changes: 0,
        }
    }
}

impl Session {
    /// Freezes the span that is to be compacted.
    ///
    /// # Errors
    /// [`NoPlan`] when there is nothing to remove, or everything was tried; asking again before the log grows is
    /// pointless, and [`Session::decide`] will not suggest it.
    pub fn begin(&mut self, reason: Reason) -> Result<Job, NoPlan> {
        let found = self.plan(reason);
        let plan = found.inspect_err(|no| {
            self.exhausted_at = Some(self.entries.len());
            self.events.push(Event::Skipped {
                reason: no.reason,
                context_tokens: self.context_tokens(),
            });
        })?;
        self.events.push(Event::Started(Started {
            reason,
            context_tokens: self.context_tokens(),
            threshold_tokens: self.preset.threshold_tokens(self.window(), self.lines()),
            message_count: self.shown.log.len(),
            compacting_count: plan.span.len(),
        }));
        let oldest = self.oldest_share(&plan);
        Ok(Job {
            preset: self.preset.name,
            plan,
            oldest,
            log: self.shown.log.clone(),
            messages: self.view_messages(),
            host_pins: self.host_pins.clone(),
            meter: self.meter,
            changes: self.changes.len(),
        })
    }

    /// Compacts at once with the built-in summariser, trying harder as long as that is allowed.
    ///
    /// # Errors
    /// [`NoPlan`] when nothing could be done; the conversation is as it was.
    pub fn compact(&mut self, reason: Reason) -> Result<&Compaction, NoPlan> {
        let mut failed = None;
        let prepared = loop {
            let job = self.begin(reason).map_err(|no| failed.unwrap_or(no))?;
            match job.extract() {
                Ok(prepared) => break prepared,
                Err(no) => {
                    self.failed(Failure::NotSmaller, no.to_string());
                    // The ledger ends every other loop, but who asks by hand may ask twice.
                    if reason == Reason::Manual {
                        return Err(no);
                    }
                    failed = Some(no);
                }
            }
        };
        let floor_tokens = prepared.compaction.plan.floor_tokens;
        let refused = NoPlan {
            reason: Reason::NotSmaller,
            floor_tokens,
        };
        self.commit(prepared).map_err(|_| refused)?;
        self.compaction().ok_or(refused)
    }

    /// The oldest part of the span, where the history takes more than its share of the window.
    fn oldest_share(&mut self, plan: &Plan) -> Range<usize> {
        let start = plan.span.start;
        let Some(share) = self.preset.history_share else {
            return start..start;
        };
        let log = &self.shown.log;
        let sizes: Vec<u64> = plan.span.clone().map(|at| log.tokens(at..at + 1)).collect();
        let pruned = openclaw::prune(&sizes, self.window().tokens, share, openclaw::PARTS);
        if pruned.dropped_chunks == 0 {
            return start..start;
        }
        // Cuts win: the position moves forward to a legal one, or back where there is none in the span.
        let wanted = start + pruned.kept_from;
        let cut = log
            .cut_at_or_after(wanted)
            .filter(|cut| *cut <= plan.span.end)
            .or_else(|| log.cut_at_or_before(wanted))
            .unwrap_or(start)
            .max(start);
        let dropped_tokens = log.tokens(start..cut);
        let kept_tokens = log.tokens(cut..plan.span.end);
        self.events.push(Event::Pruned(Pruning {
            dropped_chunks: pruned.dropped_chunks,
            dropped_count: cut - start,
            dropped_tokens,
            kept_tokens,
            budget_tokens: pruned.budget_tokens,
        }));
        start..cut
    }

    /// The first plan that was not tried before, from the mildest rung to the hardest that this calls for.
    fn plan(&mut self, reason: Reason) -> Result<Plan, NoPlan> {
        if reason != Reason::Manual
            && let Err(small) = self.guard()
        {
            return Err(NoPlan {
                reason: small.reason(),
                floor_tokens: 0,
            });
        }
        let tokens = self.context_tokens();
        let need = match reason {
            Reason::NearLine | Reason::CacheCold => Need::Wanted,
            _ => Need::Required,
        };
        let is_over = self.is_over_hard_line(tokens);
        let hardest = match reason {
            Reason::Overflow => Rung::Floor,
            Reason::HardLine if is_over => Rung::Floor,
            _ => Rung::ShorterTail,
        };
        let mut rung = Some(Rung::ShorterTail);
        let mut refused = NoPlan {
            reason: Reason::AlreadyTried,
            floor_tokens: 0,
        };
        while let Some(now) = rung.filter(|rung| *rung <= hardest) {
            rung = now.next();
            let plan = match self.plan_on(now, reason) {
                Ok(plan) => plan,
                Err(no) => {
                    refused = no;
                    continue;
                }
            };
            let attempt = Attempt {
                span_end: self.entries.len() - (self.shown.log.len() - plan.span.end),
                target_tokens: plan.target_tokens,
                rung: now,
            };
            // Who asks for it by hand may ask twice.
            let granted = match reason {
                Reason::Manual => Ok(()),
                _ => self.ledger.begin(attempt, need, tokens),
            };
            match granted {
                Ok(()) => return Ok(plan),
                Err(reason) => refused.reason = reason,
            }
        }
        Err(refused)
    }

    fn plan_on(&self, rung: Rung, reason: Reason) -> Result<Plan, NoPlan> {
        let log = &self.shown.log;
        if let (Reason::TooManyMessages, Some(most)) = (reason, self.most_messages()) {
            return Plan::at_most(log, most, reason);
        }
        let room = self.room(reason);
        let preset = self.preset.at_usage(self.due_tokens(), self.window());
        let plan = match rung {
            Rung::ShorterTail => Plan::with(&preset, log, None, room, reason)?,
            Rung::TrimmedResults => Plan::with(&preset, log, None, room, reason)?.trimming(log)?,
            Rung::Floor => {
                let floor_tokens = match Plan::with(&preset, log, Some(0), room, reason) {
                    Ok(plan) => plan.floor_tokens,
                    Err(no) if no.reason == Reason::FloorAboveBudget => no.floor_tokens,
                    Err(no) => return Err(no),
                };
                let apart = self.frame_tokens + log.tokens(0..leading_system(log));
                let reading = self.reading();
                // What must stay may take what was kept free for the answer: it is sent, or nothing is.
                let most = self.window().tokens.saturating_sub(reading.error_tokens);
                if floor_tokens.saturating_add(apart) > reading.estimated(most) {
                    return Err(NoPlan {
                        reason: Reason::FloorAboveWindow,
                        floor_tokens,
                    });
                }
                Plan::with(&preset, log, Some(floor_tokens), room, reason)?
            }
        };
        Ok(plan.without_heartbeats(log))
    }
}
