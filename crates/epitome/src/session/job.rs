//! A piece of work on a frozen span: begun here, done anywhere.

use std::ops::Range;
use std::sync::Arc;

use super::Session;
use crate::compaction::{Compaction, MadeFrom};
use crate::course::Sight;
use crate::design::Design;
use crate::event::{Event, Pruning, Started};
use crate::ledger::{Failure, Rung};
use crate::log::Log;
use crate::message::Message;
use crate::meter::Meter;
use crate::pin::Pin;
use crate::plan::{Layout, NoPlan, Plan};
use crate::reason::Reason;
use crate::reference::openclaw;

/// A frozen span and what is to be done with it. Owns everything; runs anywhere, as slowly as it likes.
#[derive(Clone, Debug)]
pub struct Job {
    pub(super) design: &'static Design,
    pub(super) plan: Plan,
    pub(super) oldest: Range<usize>,
    pub(super) log: Log,
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) host_pins: Vec<Pin>,
    pub(super) dropped_pins: Arc<[String]>,
    pub(super) meter: Meter,
    pub(super) changes: usize,
    pub(super) made_from: MadeFrom,
    /// How many messages the conversation showed.
    pub(super) shown: usize,
    /// The entries that each of the messages is or stands for; none where that goes by their positions.
    pub(super) numbers: Arc<[Range<usize>]>,
    /// The same work on all there ever was, for the built-in summariser.
    pub(super) originals: Option<Box<Self>>,
}

/// A compaction that is ready to be committed to the conversation it was begun on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub(super) compaction: Compaction,
    /// How many changes the conversation had seen.
    pub(super) changes: usize,
    /// How many messages it was made from.
    pub(super) from_messages: usize,
    /// How many messages the conversation showed.
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
        design: impl Into<&'static Design>,
        plan: Plan,
        log: Log,
        messages: Vec<Arc<Message>>,
        meter: Meter,
    ) -> Self {
        let start = plan.span.start;
        let shown = messages.len();
        Self {
            design: design.into(),
            oldest: start..start,
            plan,
            log,
            messages,
            host_pins: Vec::new(),
            dropped_pins: Arc::default(),
            meter,
            changes: 0,
            made_from: MadeFrom::View,
            shown,
            numbers: Arc::default(),
            originals: None,
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
        let sight = super::sight(
            &self.shown,
            self.entries.len(),
            &self.links,
            self.sent_tokens,
        );
        let found = self.course.plan_with_rung(&sight, reason);
        let (plan, rung) = found.inspect_err(|no| {
            self.course.exhausted(Some(self.entries.len()));
            self.events.push(Event::Skipped {
                reason: no.reason,
                context_tokens: self.context_tokens(),
            });
        })?;
        self.events.push(Event::Started(Started {
            reason,
            context_tokens: self.context_tokens(),
            threshold_tokens: self.course.threshold_tokens(self.lines()),
            message_count: self.shown.log.len(),
            compacting_count: plan.span.len(),
        }));
        let oldest = self.oldest_share(&plan);
        let job = Job {
            design: self.course.preset().design,
            plan,
            oldest,
            log: self.shown.log.clone(),
            messages: self.view_messages(),
            host_pins: self.host_pins.clone(),
            dropped_pins: Arc::clone(&self.dropped_pins),
            meter: self.meter,
            changes: self.changes.len(),
            made_from: MadeFrom::View,
            shown: self.shown.log.len(),
            numbers: self.numbers(&self.shown),
            originals: None,
        };
        Ok(Job {
            originals: self.on_originals(&job, rung).map(Box::new),
            ..job
        })
    }

    /// The same work on all there ever was, where an earlier summary stands for a part of it and the design lets the
    /// built-in summariser read that again.
    fn on_originals(&self, job: &Job, rung: Rung) -> Option<Job> {
        let writes = !matches!(job.plan.layout, Layout::Marker | Layout::Nothing);
        let is_later_round = !self.before.is_empty();
        if !writes || !is_later_round || !self.course.preset().rereads_originals() {
            return None;
        }
        let all = self.uncompacted();
        let sight = Sight {
            log: &all.log,
            ..self.sight()
        };
        let plan = self.course.plan_on(&sight, rung, job.plan.reason)?.ok()?;
        Some(Job {
            oldest: plan.span.start..plan.span.start,
            plan: Plan {
                // Whether it is worth its while shows on what goes out now.
                tokens_before: job.plan.tokens_before,
                ..plan
            },
            messages: all.messages(&self.entries, ""),
            numbers: self.numbers(&all),
            log: all.log,
            made_from: MadeFrom::Originals,
            ..job.clone()
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
        let Some(share) = self.course.preset().history_share else {
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
}
