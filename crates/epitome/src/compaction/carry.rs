//! How a plan is carried out: what stays is measured, what goes is told, and what comes of it is measured again.

use std::borrow::Cow;
use std::ops::Range;

use super::{Basis, Compaction, MadeFrom};
use crate::extract::Source;
use crate::haystack::Haystack;
use crate::log::Log;
use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::pin::{self, Pin};
use crate::plan::{Layout, NoPlan, Plan, TaskPlace, leading_system, notes_tokens};
use crate::reason::Reason;
use crate::reference::micro::ACKNOWLEDGEMENT;
use crate::reference::spacebot;
use crate::summary::{SUPERSEDED, Summary};
use crate::trim::{Trim, omitted, trimmed, trims_among};
use crate::verify::VerifyReport;

/// How often a summary that came out too long is written again.
const SHORTER: usize = 4;

/// Who writes the summary.
#[derive(Clone, Copy)]
pub(super) enum Writer<'a> {
    /// The built-in summariser.
    BuiltIn,
    /// Somebody else wrote this; it is checked against the span.
    Checked(&'a str),
    /// This stands as it is: it claims nothing about what was said.
    Note(&'a str),
}

/// What a plan makes of the messages before a word is written.
struct Material<'a> {
    /// What the summary is to stand for, but for heartbeats that found nothing.
    span: Vec<(usize, &'a Message)>,
    /// Whether there were such heartbeats.
    has_heartbeats: bool,
    trims: Vec<(usize, Vec<Trim>)>,
    /// The messages that stay and are trimmed, as they are then.
    shortened: Vec<(usize, Message)>,
    trimmed_tokens: u64,
    /// What stays beside the summary, without the leading system prompt.
    kept_tokens: u64,
    /// What a summary takes beyond its text, at most.
    frame_tokens: u64,
    /// What the message behind the summary takes, where there has to be one.
    acknowledgement_tokens: u64,
}

/// A summary with its size, and what verification said of it where it was asked.
struct Text {
    summary: Summary,
    tokens: u64,
    report: Option<Box<VerifyReport>>,
    /// The pins of the span, and what would be some had the user not dropped them.
    pins: Vec<Pin>,
    unpinned: Vec<Pin>,
}

impl Compaction {
    /// Carries out a plan, whoever writes the summary. The pins of the span come along where all of it was read for them.
    pub(super) fn carry_out(
        plan: Plan,
        basis: Basis<'_, &Message>,
        writer: Writer<'_>,
    ) -> Result<(Self, Option<Vec<Pin>>), NoPlan> {
        let Basis { log, messages, .. } = basis;
        match plan.layout {
            Layout::Marker => return Ok((Self::truncate(plan, log, messages, basis.meter)?, None)),
            Layout::Nothing => {
                return Ok((Self::without_summary(plan, String::new(), 0, log), None));
            }
            Layout::UserMessage | Layout::AssistantMessage | Layout::Merged => {}
        }
        let material = Material::of(&plan, &basis);
        let (kept, omitted) = (material.kept(&plan, &basis), material.omitted(messages));
        let source = material.source(&plan, &basis, &kept, &omitted);
        let text = material.text(&plan, source, writer)?;
        let active = text.pins.iter().filter(|pin| pin.is_active());
        let lines = text.summary.text.lines();
        let (replaced, standing): (Vec<_>, Vec<_>) =
            lines.partition(|line| line.contains(SUPERSEDED));
        let (replaced, standing) = (replaced.join("\n"), standing.join("\n"));
        let (replaced, shown) = (Haystack::new(&replaced), Haystack::new(&standing));
        // What the summary tells as replaced is in force no longer.
        let stands = |pin: &&Pin| shown.contains(&pin.text) || !replaced.contains(&pin.text);
        let in_force = basis.host_pins.iter().chain(active).filter(stands).cloned();
        let (pins, demoted) = in_force.partition(|pin: &Pin| shown.contains(&pin.text));
        let tokens_after = material.tokens_after(text.tokens);
        let compaction = Self {
            plan,
            made_from: MadeFrom::View,
            summary: text.summary,
            summary_tokens: text.tokens,
            trims: material.trims,
            trimmed_tokens: material.trimmed_tokens,
            pins,
            demoted,
            unpinned: text.unpinned,
            tokens_after,
            report: text.report,
        };
        let all_read = !material.has_heartbeats;
        Ok((compaction, Some(text.pins).filter(|_| all_read)))
    }

    /// Carries out a plan that drops the oldest entries, with a marker that counts all that ever went this way.
    fn truncate(
        plan: Plan,
        log: &Log,
        messages: &[&Message],
        meter: Meter,
    ) -> Result<Self, NoPlan> {
        let earlier = plan.dropped.iter().flat_map(Clone::clone);
        let earlier: usize = earlier
            .filter_map(|at| messages.get(at)?.spoken().next())
            .filter_map(spacebot::truncated_count)
            .sum();
        let text = spacebot::emergency_marker(earlier + plan.span.len());
        let summary_tokens = meter.message(&Message::text(Role::User, text.as_str()));
        let compaction = Self::without_summary(plan, text, summary_tokens, log);
        let plan = &compaction.plan;
        if !plan.is_worthwhile(compaction.tokens_after) {
            return Err(refused(plan, Reason::NotSmaller));
        }
        Ok(compaction)
    }

    /// A compaction in which `text`, which is no summary, stands for the span.
    fn without_summary(plan: Plan, text: String, summary_tokens: u64, log: &Log) -> Self {
        let head = leading_system(log)..plan.head.end;
        let tokens_after = log.tokens(head) + summary_tokens + log.tokens(plan.span.end..log.len())
            - plan.dropped_tokens(log);
        Self {
            plan,
            made_from: MadeFrom::View,
            summary: Summary {
                text,
                sources: Vec::new(),
                lines: Vec::new(),
            },
            summary_tokens,
            trims: Vec::new(),
            trimmed_tokens: 0,
            pins: Vec::new(),
            demoted: Vec::new(),
            unpinned: Vec::new(),
            tokens_after,
            report: None,
        }
    }
}

impl<'a> Material<'a> {
    fn of(plan: &Plan, basis: &Basis<'a, &'a Message>) -> Self {
        let Basis {
            log,
            messages,
            meter,
            ..
        } = *basis;
        let at = |range: Range<usize>| -> Vec<(usize, &'a Message)> {
            let found = range.filter_map(|at| messages.get(at).map(|message| (at, *message)));
            found.collect()
        };
        let tail = plan.span.end..log.len();
        // What was made or shortened for a view stays as it is.
        let may = |at: usize| log.trimmable_tokens(at..at + 1) + log.wordy_tokens(at..at + 1) > 0;
        let trims = trims_among(&at(tail.clone()), &[], plan.trim_tokens, meter, may);
        let shortened: Vec<(usize, Message)> = trims
            .iter()
            .filter_map(|(position, trims)| {
                Some((*position, trimmed(messages.get(*position)?, trims)))
            })
            .collect();
        let saved = |(position, shorter): &(usize, Message)| {
            let whole = messages.get(*position).map(|whole| meter.message(whole));
            whole.unwrap_or(0).saturating_sub(meter.message(shorter))
        };
        let trimmed_tokens: u64 = shortened.iter().map(saved).sum();
        let kept_tokens = log.tokens(leading_system(log)..plan.head.end)
            + notes_tokens(log, &plan.notes)
            + log.tokens(tail)
            - trimmed_tokens
            - plan.dropped_tokens(log);
        // Heartbeats that found nothing say nothing.
        let idle: Vec<Range<usize>> = log.heartbeats(plan.span.clone()).collect();
        let mut span = at(plan.span.clone());
        span.retain(|(position, _)| !idle.iter().any(|range| range.contains(position)));
        let message_tokens = |role, text| meter.message(&Message::text(role, text));
        // A summary inside a message is charged as text, not as a message.
        let (frame_tokens, acknowledgement_tokens) = match plan.layout {
            Layout::Merged => (
                2 * message_tokens(Role::User, ACKNOWLEDGEMENT),
                message_tokens(Role::Assistant, ACKNOWLEDGEMENT),
            ),
            _ => (message_tokens(Role::User, ""), 0),
        };
        Self {
            span,
            has_heartbeats: !idle.is_empty(),
            trims,
            shortened,
            trimmed_tokens,
            kept_tokens,
            frame_tokens,
            acknowledgement_tokens,
        }
    }

    /// The messages that stay, as they are then.
    fn kept<'m>(
        &'m self,
        plan: &Plan,
        basis: &Basis<'m, &'m Message>,
    ) -> Vec<(usize, &'m Message)> {
        let Basis { log, messages, .. } = *basis;
        let head = plan.head.clone().skip(leading_system(log));
        let whole = head
            .chain(plan.span.end..log.len())
            .filter(|position| self.shortened.iter().all(|(at, _)| at != position))
            .filter(|position| !plan.drops(*position))
            .filter_map(|position| Some((position, messages.get(position).copied()?)));
        let shortened = self.shortened.iter().map(|(at, message)| (*at, message));
        whole.chain(shortened).collect()
    }

    /// What is left out of results that stay.
    fn omitted(&self, messages: &'a [&'a Message]) -> Vec<(usize, Cow<'a, str>)> {
        let trimmed = self.trims.iter();
        let trimmed = trimmed.filter_map(|(at, trims)| Some((*at, *messages.get(*at)?, trims)));
        trimmed
            .flat_map(|(at, message, trims)| {
                omitted(message, trims)
                    .into_iter()
                    .map(move |text| (at, text))
            })
            .collect()
    }

    /// What the built-in summariser works from.
    fn source<'s>(
        &'s self,
        plan: &Plan,
        basis: &Basis<'s, &'s Message>,
        kept: &'s [(usize, &'s Message)],
        omitted: &'s [(usize, Cow<'s, str>)],
    ) -> Source<'s> {
        let Basis { log, messages, .. } = *basis;
        let before = plan.span.start.checked_sub(1);
        Source {
            span: &self.span,
            log: Some(log),
            kept,
            omitted,
            before: before.and_then(|at| messages.get(at).copied()),
            carries_task: plan.task == TaskPlace::Summary,
            holds_latest_request: log.newest_typed().is_some_and(|at| plan.span.contains(&at)),
            focus: basis.focus,
            dress: basis.design.dress(messages, plan.span.clone()),
            turn_start: Some(plan.turn_prefix.start).filter(|_| !plan.turn_prefix.is_empty()),
            pins_tokens: plan.pins_tokens,
            pin_budget_tokens: pin::pin_budget_tokens(u64::MAX, Some(plan.target_tokens)),
            host_pins: basis.host_pins,
            dropped_pins: basis.dropped_pins,
            numbers: basis.numbers,
            budget_tokens: plan
                .target_tokens
                .saturating_sub(self.kept_tokens + self.frame_tokens)
                .min(plan.summary_cap_tokens()),
            meter: basis.meter,
        }
    }

    /// The summary, whoever writes it, at a size that is worth its while.
    fn text(
        &self,
        plan: &Plan,
        mut source: Source<'_>,
        writer: Writer<'_>,
    ) -> Result<Text, NoPlan> {
        let read = source.read();
        let mut report = None;
        let mut summary = match writer {
            Writer::BuiltIn => source.write(&read),
            Writer::Note(text) => source.around(&read, text),
            Writer::Checked(text) => {
                let is_merged = plan.layout == Layout::Merged;
                let before = source.before.filter(|_| is_merged);
                let previous = before.map(|message| message.spoken().collect::<String>());
                let checked = source
                    .checked(&read, text, previous.as_deref())
                    .map_err(|reason| refused(plan, reason))?;
                report = Some(Box::new(checked.report));
                source.around(&read, &checked.text)
            }
        };
        let meter = source.meter;
        let size = |summary: &Summary| {
            let message = Message::text(Role::User, summary.text.clone());
            meter.message(&message)
        };
        let mut tokens = size(&summary);
        // The parts of a text may cost less apart than together, by an exact meter: then it is written again,
        // shorter by what was too much.
        for _ in 0..SHORTER {
            let excess = self.tokens_after(tokens).saturating_sub(plan.target_tokens);
            if excess == 0 {
                break;
            }
            if !matches!(writer, Writer::BuiltIn) {
                return Err(refused(plan, Reason::SummaryTooLong));
            }
            source.budget_tokens = source.budget_tokens.saturating_sub(excess + excess / 2 + 4);
            summary = source.write(&read);
            tokens = size(&summary);
        }
        if !plan.is_worthwhile(self.tokens_after(tokens)) {
            return Err(refused(plan, Reason::NotSmaller));
        }
        Ok(Text {
            summary,
            tokens,
            report,
            pins: source.own_pins(&read),
            unpinned: read.unpinned,
        })
    }

    /// What the whole view takes with a summary of this size.
    const fn tokens_after(&self, summary_tokens: u64) -> u64 {
        self.kept_tokens + summary_tokens + self.acknowledgement_tokens
    }
}

const fn refused(plan: &Plan, reason: Reason) -> NoPlan {
    NoPlan {
        reason,
        floor_tokens: plan.floor_tokens,
    }
}
