//! A compaction: a plan carried out, measured before it is believed.

mod basis;
mod verified;

use std::ops::Range;

use crate::extract::Source;
use crate::files::FileOperations;
use crate::haystack::Haystack;
use crate::log::Log;
use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::pin::{self, Pin};
use crate::plan::{Layout, NoPlan, Plan, TaskPlace, leading_system, notes_tokens};
use crate::reason::Reason;
use crate::reference::micro::ACKNOWLEDGEMENT;
use crate::reference::spacebot;
use crate::summary::Summary;
use crate::trim::{Trim, omitted, trimmed, trims};
use crate::verify::VerifyReport;
use crate::view::View;

pub use basis::Basis;

/// A span of entries and the summary that stands for it. Appended to a log, never edited.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Compaction {
    /// What was planned.
    pub plan: Plan,
    /// What the positions of the plan are positions of.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "MadeFrom::is_the_view")
    )]
    pub made_from: MadeFrom,
    /// The summary, frozen.
    pub summary: Summary,
    /// What the summary message costs.
    pub summary_tokens: u64,
    /// Tool results that stay, shortened, with the positions of their entries.
    pub trims: Vec<(usize, Vec<Trim>)>,
    /// What shortening them takes off.
    pub trimmed_tokens: u64,
    /// The instructions of the user that the summary carries word for word.
    pub pins: Vec<Pin>,
    /// Instructions in force for which there was no room. They are in the log, where recall finds them.
    pub demoted: Vec<Pin>,
    /// Sentences of the span that would be pins, had the user not dropped them.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub unpinned: Vec<Pin>,
    /// Tokens of the whole view but the leading system prompt.
    pub tokens_after: u64,
    /// What verification found. A session fills it in; elsewhere [`Compaction::with_report`] does.
    pub report: Option<Box<VerifyReport>>,
}

/// What a compaction of a conversation is made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum MadeFrom {
    /// What was shown: an earlier summary is summarised with the rest.
    #[default]
    View,
    /// All there ever was, as if nothing had been compacted before: it takes the place of earlier summaries.
    Originals,
}

impl MadeFrom {
    #[cfg(feature = "serde")]
    fn is_the_view(&self) -> bool {
        *self == Self::View
    }
}

/// Who writes the summary.
#[derive(Clone, Copy)]
enum Writer<'a> {
    /// The built-in summariser.
    BuiltIn,
    /// Somebody else wrote this; it is checked against the span.
    Checked(&'a str),
    /// This stands as it is: it claims nothing about what was said.
    Note(&'a str),
}

/// How often a summary that came out too long is written again.
const SHORTER: usize = 4;

impl Compaction {
    /// Carries out a plan, whoever writes the summary.
    fn carry_out(
        plan: Plan,
        basis: Basis<'_, &Message>,
        writer: Writer<'_>,
    ) -> Result<(Self, Option<Vec<Pin>>), NoPlan> {
        let Basis {
            design,
            log,
            messages,
            meter,
            focus,
            host_pins,
            dropped_pins,
        } = basis;
        match plan.layout {
            Layout::Marker => return Ok((Self::truncate(plan, log, messages, meter)?, None)),
            Layout::Nothing => {
                return Ok((Self::without_summary(plan, String::new(), 0, log), None));
            }
            Layout::UserMessage | Layout::AssistantMessage | Layout::Merged => {}
        }
        let at = |range: Range<usize>| -> Vec<(usize, &Message)> {
            range
                .filter_map(|p| messages.get(p).map(|m| (p, *m)))
                .collect()
        };
        let tail = plan.span.end..log.len();
        let trims = trims(&at(tail.clone()), plan.trim_tokens, meter);
        let trimmed_tokens: u64 = trims
            .iter()
            .filter_map(|(position, trims)| Some((messages.get(*position)?, trims)))
            .map(|(message, trims)| {
                let after = meter.message(&trimmed(message, trims));
                meter.message(message).saturating_sub(after)
            })
            .sum();
        let kept_tokens = log.tokens(leading_system(log)..plan.head.end)
            + notes_tokens(log, &plan.notes)
            + log.tokens(tail)
            - trimmed_tokens
            - plan.dropped_tokens(log);
        // A summary inside a message is charged as text, not as a message.
        let frame_tokens = match plan.layout {
            Layout::Merged => 2 * meter.message(&Message::text(Role::User, ACKNOWLEDGEMENT)),
            _ => meter.message(&Message::text(Role::User, "")),
        };

        // Heartbeats that found nothing say nothing.
        let idle: Vec<Range<usize>> = log.heartbeats(plan.span.clone()).collect();
        let mut span = at(plan.span.clone());
        span.retain(|(position, _)| !idle.iter().any(|range| range.contains(position)));
        let shortened: Vec<(usize, Message)> = trims
            .iter()
            .filter_map(|(position, trims)| {
                Some((*position, trimmed(messages.get(*position)?, trims)))
            })
            .collect();
        let kept: Vec<&Message> = plan
            .head
            .clone()
            .skip(leading_system(log))
            .chain(plan.span.end..log.len())
            .filter(|position| shortened.iter().all(|(at, _)| at != position))
            .filter(|position| !plan.drops(*position))
            .filter_map(|position| messages.get(position).copied())
            .chain(shortened.iter().map(|(_, message)| message))
            .collect();
        let omitted: Vec<(usize, &str)> = trims
            .iter()
            .filter_map(|(position, trims)| Some((position, messages.get(*position)?, trims)))
            .flat_map(|(position, message, trims)| {
                omitted(message, trims)
                    .into_iter()
                    .map(|text| (*position, text))
            })
            .collect();
        let mut source = Source {
            span: &span,
            log: Some(log),
            kept: &kept,
            omitted: &omitted,
            before: plan
                .span
                .start
                .checked_sub(1)
                .and_then(|at| messages.get(at).copied()),
            carries_task: plan.task == TaskPlace::Summary,
            holds_latest_request: log.newest_typed().is_some_and(|p| plan.span.contains(&p)),
            focus,
            dress: design.dress(messages, plan.span.clone()),
            turn_start: Some(plan.turn_prefix.start).filter(|_| !plan.turn_prefix.is_empty()),
            pins_tokens: plan.pins_tokens,
            pin_budget_tokens: pin::pin_budget_tokens(u64::MAX, Some(plan.target_tokens)),
            host_pins,
            dropped_pins,
            budget_tokens: plan
                .target_tokens
                .saturating_sub(kept_tokens + frame_tokens)
                .min(plan.summary_cap_tokens()),
            meter,
        };
        let acknowledgement = match plan.layout {
            Layout::Merged => meter.message(&Message::text(Role::Assistant, ACKNOWLEDGEMENT)),
            _ => 0,
        };
        let size =
            |summary: &Summary| meter.message(&Message::text(Role::User, summary.text.clone()));
        let read = source.read();
        let mut report = None;
        let mut summary = match writer {
            Writer::BuiltIn => source.write(&read),
            Writer::Note(text) => source.around(&read, text),
            Writer::Checked(text) => {
                let previous = source
                    .before
                    .map(|message| message.spoken().collect::<String>());
                let refused = |reason| NoPlan {
                    reason,
                    floor_tokens: plan.floor_tokens,
                };
                let checked = source
                    .checked(
                        &read,
                        text,
                        previous
                            .as_deref()
                            .filter(|_| plan.layout == Layout::Merged),
                    )
                    .map_err(refused)?;
                report = Some(Box::new(checked.report));
                source.around(&read, &checked.text)
            }
        };
        let mut summary_tokens = size(&summary);
        // The parts of a text may cost less apart than together, by an exact meter: then it is written again,
        // shorter by what was too much.
        for _ in 0..SHORTER {
            let after = kept_tokens + summary_tokens + acknowledgement;
            let Some(excess) = after
                .checked_sub(plan.target_tokens)
                .filter(|excess| *excess > 0)
            else {
                break;
            };
            if !matches!(writer, Writer::BuiltIn) {
                return Err(NoPlan {
                    reason: Reason::SummaryTooLong,
                    floor_tokens: plan.floor_tokens,
                });
            }
            source.budget_tokens = source.budget_tokens.saturating_sub(excess + excess / 2 + 4);
            summary = source.write(&read);
            summary_tokens = size(&summary);
        }
        let tokens_after = kept_tokens + summary_tokens + acknowledgement;
        if !plan.is_worthwhile(tokens_after) {
            return Err(NoPlan {
                reason: Reason::NotSmaller,
                floor_tokens: plan.floor_tokens,
            });
        }
        let found = source.own_pins(&read);
        let active = found.iter().filter(|pin| pin.is_active());
        let in_force = host_pins.iter().chain(active).cloned();
        let shown = Haystack::new(&summary.text);
        let (pins, demoted) = in_force.partition(|pin: &Pin| shown.contains(&pin.text));
        let compaction = Self {
            plan,
            made_from: MadeFrom::View,
            summary,
            summary_tokens,
            trims,
            trimmed_tokens,
            pins,
            demoted,
            unpinned: read.unpinned,
            tokens_after,
            report,
        };
        Ok((compaction, Some(found).filter(|_| idle.is_empty())))
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
            return Err(NoPlan {
                reason: Reason::NotSmaller,
                floor_tokens: plan.floor_tokens,
            });
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

    /// Whether it is as it should be where the user dropped these pins, and no others: it carries none of them, and
    /// leaves out no other.
    #[must_use]
    pub fn heeds(&self, dropped: &[String]) -> bool {
        let is_dropped = |pin: &Pin| dropped.iter().any(|text| text.trim() == pin.text.trim());
        !self.pins.iter().any(is_dropped) && self.unpinned.iter().all(is_dropped)
    }

    /// What the model gets, for a log of `len` entries.
    #[must_use]
    pub fn view(&self, len: usize) -> View {
        View::of(&self.plan, len, &self.trims)
    }

    /// What was done to files in the span, and which tools failed: the details of a compaction entry.
    #[must_use]
    pub fn files(&self, messages: &[Message]) -> FileOperations {
        FileOperations::of(messages.get(self.plan.span.clone()).unwrap_or_default())
    }
}
