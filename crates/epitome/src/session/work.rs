//! What can be done with a job, and what whoever does it needs to know.

use std::ops::Range;
use std::sync::Arc;

use super::{Job, Prepared};
use crate::compaction::{Basis, Compaction};
use crate::design::Design;
use crate::files::FileOperations;
use crate::message::Message;
use crate::meter::Meter;
use crate::plan::{Layout, NoPlan, Plan, leading_system, notes_tokens, percent_of};
use crate::reference;
use crate::signature::is_own;
use crate::summary::Parts;

/// What a text may take where what the log knows stands beside it, in percent.
const STORY_PERCENT: u64 = 75;

impl Job {
    /// What is to be done.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The design whose form the summary takes.
    #[must_use]
    pub const fn design(&self) -> &'static Design {
        self.design
    }

    /// How tokens are counted.
    #[must_use]
    pub const fn meter(&self) -> Meter {
        self.meter
    }

    /// The oldest part of the span, to be summarised by itself and handed on to the summary of the rest, because the
    /// history takes more than its share of the window. Empty where it does not. The built-in summariser reads the
    /// whole span at once.
    #[must_use]
    pub fn oldest(&self) -> Range<usize> {
        self.oldest.clone()
    }

    /// The messages that the plan speaks of, by position.
    #[must_use]
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The messages that the summary is to stand for, with their positions: without heartbeats that found nothing,
    /// and without an earlier summary.
    #[must_use]
    pub fn span(&self) -> Vec<(usize, &Message)> {
        let idle: Vec<Range<usize>> = self.log.heartbeats(self.plan.span.clone()).collect();
        let is_said = |position: &usize| !idle.iter().any(|range| range.contains(position));
        self.plan
            .span
            .clone()
            .filter(is_said)
            .filter_map(|position| Some((position, &**self.messages.get(position)?)))
            .filter(|(_, message)| !is_earlier(message))
            .collect()
    }

    /// The summary of the round before, as far as it is in the span or stands inside the message before it. Summaries
    /// that stay in view are not meant.
    #[must_use]
    pub fn previous_summary(&self) -> Option<&str> {
        let merged = self.plan.head.end.checked_sub(1);
        let merged = merged.filter(|_| self.plan.layout == Layout::Merged);
        let merged = merged
            .and_then(|at| self.messages.get(at))
            .and_then(|first| {
                let text = first.spoken().next()?;
                let (_, behind) = text.split_once(reference::micro::OPEN_MARK)?;
                let summary = behind.split(reference::micro::CLOSE_MARK).next()?;
                Some(summary.trim())
            });
        let mut span = self.messages.get(self.plan.span.clone())?.iter();
        let own = || span.find(|message| is_earlier(message))?.spoken().next();
        merged.or_else(own)
    }

    /// The beginning of the turn that the cut splits, where the design tells it by itself. It is a part of the span.
    #[must_use]
    pub fn turn_prefix(&self) -> Range<usize> {
        self.plan.turn_prefix.clone()
    }

    /// What was done to files in the span, and which tools failed.
    #[must_use]
    pub fn file_operations(&self) -> FileOperations {
        let span = self.messages.get(self.plan.span.clone());
        FileOperations::of(span.unwrap_or_default().iter().map(|message| &**message))
    }

    /// What one message of the span takes.
    #[must_use]
    pub fn tokens(&self, positions: Range<usize>) -> u64 {
        self.log.tokens(positions)
    }

    /// About how many tokens a text may have that is to stand for the span, beside what every summary says anyway.
    #[must_use]
    pub fn summary_tokens(&self) -> u64 {
        let log = &self.log;
        let plan = &self.plan;
        let kept = log.tokens(leading_system(log)..plan.head.end)
            + notes_tokens(log, &plan.notes)
            + log.tokens(plan.span.end..log.len())
            - plan.dropped_tokens(log);
        let kept = kept.saturating_sub(plan.trim_tokens);
        let frame =
            Parts::overhead_tokens(self.meter) + plan.pins_tokens.min(plan.target_tokens / 8);
        let room = plan.target_tokens.saturating_sub(kept);
        let text = room
            .min(plan.summary_cap_tokens())
            .saturating_sub(frame)
            .max(room / 3);
        match self.design.form.completes {
            true => percent_of(text, STORY_PERCENT),
            false => text,
        }
    }

    /// Does it with the built-in summariser.
    ///
    /// # Errors
    /// When the result would not be clearly smaller.
    pub fn extract(&self) -> Result<Prepared, NoPlan> {
        self.extract_for(None)
    }

    /// Does it with the built-in summariser, with what the user wants kept in mind. Where an earlier summary stands for
    /// a part of the conversation, and the design does not ask for anything else, that part is read again.
    ///
    /// # Errors
    /// When the result would not be clearly smaller.
    pub fn extract_for(&self, focus: Option<&str>) -> Result<Prepared, NoPlan> {
        // What was left out of the earlier summary may matter by now.
        if let Some(originals) = &self.originals
            && let Ok(prepared) = originals.extract_for(focus)
        {
            return Ok(prepared);
        }
        let basis = Basis {
            focus,
            ..self.basis()
        };
        let compaction = Compaction::extract_verified(self.plan.clone(), &basis)?;
        Ok(self.prepared(compaction))
    }

    /// Does it with a summary that somebody else wrote, once it is checked against the span and repaired. The job can
    /// be tried again with another text.
    ///
    /// ```
    /// use epitome::{Message, Meter, Reason, Role, Session, Window};
    ///
    /// let mut session = Session::new(Window::configured(20_000), Meter::Estimate);
    /// session.push(Message::text(Role::User, "Count the stars. Never guess."));
    /// for night in 0..200 {
    ///     session.push(Message::text(Role::Assistant, format!("Night {night}: {} stars.", night * 17)));
    ///     session.push(Message::text(Role::User, "Go on with the next night, please. Slowly."));
    /// }
    /// let job = session.begin(Reason::Manual)?;
    /// let prepared = job.accept("Stars were counted night after night; night 4 had 68 stars.")?;
    /// session.commit(prepared)?;
    /// assert!(session.compaction().unwrap().summary.text.contains("night 4 had 68 stars"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Why the text may not stand for the span, or that the result would not be clearly smaller.
    pub fn accept(&self, text: &str) -> Result<Prepared, NoPlan> {
        let compaction = Compaction::written(self.plan.clone(), &self.basis(), text)?;
        Ok(self.prepared(compaction))
    }

    /// Does it with a note in place of a summary, such as how much left the view. It is not checked: it should claim
    /// nothing about what was said.
    ///
    /// # Errors
    /// When the result would not be clearly smaller.
    pub fn annotate(&self, note: &str) -> Result<Prepared, NoPlan> {
        let compaction = Compaction::annotated(self.plan.clone(), &self.basis(), note)?;
        Ok(self.prepared(compaction))
    }

    fn prepared(&self, compaction: Compaction) -> Prepared {
        Prepared {
            compaction: Compaction {
                made_from: self.made_from,
                ..compaction
            },
            changes: self.changes,
            from_messages: self.messages.len(),
            shown: self.shown,
        }
    }

    fn basis(&self) -> Basis<'_, Arc<Message>> {
        Basis {
            design: self.design,
            log: &self.log,
            messages: &self.messages,
            meter: self.meter,
            focus: None,
            host_pins: &self.host_pins,
            dropped_pins: &self.dropped_pins,
            numbers: &self.numbers,
        }
    }
}

fn is_earlier(message: &Message) -> bool {
    message.spoken().next().is_some_and(|text| {
        let text = text.strip_prefix(reference::spacebot::SUMMARY_MARK);
        let text = text.unwrap_or_else(|| message.spoken().next().unwrap_or_default());
        is_own(text) || text.starts_with(reference::layer::SUMMARY_MARK)
    })
}
