//! How the rest of the crate, and a host, has summaries verified.

use std::borrow::Borrow;
use std::ops::Range;

use super::{Checked, Verdict, Verification, VerifyLimits, VerifyReport, item};
use crate::compaction::Compaction;
use crate::message::Message;
use crate::pin::Pin;
use crate::reason::Reason;
use crate::summary::is_own;

impl Compaction {
    /// What verification says about its summary, given the whole conversation. Nothing is changed: the built-in
    /// summary is made of lines of the source. What stays in view counts as retained, and all else as recoverable.
    #[must_use]
    pub fn verify(&self, messages: &[impl Borrow<Message>]) -> VerifyReport {
        self.verify_with(messages, None)
    }

    /// The same, with the pins of the span where they are known.
    pub(crate) fn verify_with(
        &self,
        messages: &[impl Borrow<Message>],
        pins: Option<Vec<Pin>>,
    ) -> VerifyReport {
        let mut span: Vec<(usize, &Message)> = Vec::new();
        let mut trimmed: Vec<(usize, &Message)> = Vec::new();
        let mut view: Vec<&Message> = Vec::new();
        for (position, message) in messages.iter().map(Borrow::borrow).enumerate() {
            if self.plan.span.contains(&position) {
                span.push((position, message));
                continue;
            }
            view.push(message);
            // What is left out of a result that stays is told by the summary.
            if self.trims.iter().any(|(trimmed, _)| *trimmed == position) {
                trimmed.push((position, message));
            }
        }
        let mut report = Verification::of_one(&span, None, &self.summary.text, pins)
            .with_trimmed(&trimmed)
            .with_view(&view)
            .check(&self.summary.text)
            .report;
        // The span is in the log, where recall finds what the view lacks.
        for counts in &mut report.kinds {
            counts.recoverable += std::mem::take(&mut counts.missing);
        }
        report
    }

    /// With what verification says about its summary, so that it is kept with it.
    #[must_use]
    pub fn with_report(mut self, messages: &[impl Borrow<Message>]) -> Self {
        self.report = Some(Box::new(self.verify(messages)));
        self
    }
}

/// The entries that a summary of this crate stands for, counted from 0. None for any other text, and for one of this
/// crate that was altered.
#[must_use]
pub fn covered(summary: &str) -> Option<Range<usize>> {
    let is_ours = is_own(summary);
    summary
        .lines()
        .take(3)
        .find_map(item::covers)
        .filter(|_| is_ours)
}

/// Checks a text that somebody wrote as the summary of `source`, and repairs it.
///
/// # Errors
/// [`Reason::SummaryEmpty`] or [`Reason::SummaryRejected`] when it cannot stand.
pub fn repaired(
    source: &[(usize, &Message)],
    previous: Option<&str>,
    text: &str,
    limits: VerifyLimits,
) -> Result<Checked, Reason> {
    let checked = Verification::of_one(source, previous, text, None)
        .with_limits(limits)
        .check(text);
    match checked.verdict {
        Verdict::Rejected(reason) => Err(reason),
        Verdict::Accepted | Verdict::Repaired => Ok(checked),
    }
}
