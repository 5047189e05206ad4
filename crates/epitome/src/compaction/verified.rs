//! What verification says of a compaction.

use std::borrow::Borrow;

use super::Compaction;
use crate::message::Message;
use crate::pin::Pin;
use crate::verify::{Verification, VerifyReport};

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
        let mut view: Vec<(usize, &Message)> = Vec::new();
        for (position, message) in messages.iter().map(Borrow::borrow).enumerate() {
            if self.plan.span.contains(&position) {
                span.push((position, message));
                continue;
            }
            view.push((position, message));
            // What is left out of a result that stays is told by the summary.
            if self.trims.iter().any(|(trimmed, _)| *trimmed == position) {
                trimmed.push((position, message));
            }
        }
        let unpinned: Vec<&str> = self.unpinned.iter().map(|pin| pin.text.as_str()).collect();
        let mut report = Verification::of_one(&span, None, &self.summary.text, pins)
            .without_pins(&unpinned)
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
