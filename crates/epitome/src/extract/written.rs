//! A summary that somebody else wrote: checked against the span, and put into the frame that every summary has.

use super::Source;
use super::read::Read;
use crate::plan::percent_of;
use crate::reason::Reason;
use crate::story::Root;
use crate::summary::{BULLET_TOKENS, Parts, Summary};
use crate::verify::{AlarmKind, Checked, RequiredHeading, Verdict, Verification, VerifyLimits};

/// What is put under a heading that is missing: this part of the room, and so many characters, at most.
const FILL_DIVISOR: u64 = 10;
const FILL_CHARS: usize = 800;
/// The least room for what the log knows beside it, and the share of it that the state of the work may take, in percent.
const LEAST_BESIDE_TOKENS: u64 = 80;
const STANDING_PERCENT: u64 = 30;
/// The least room for a text that is worth reading.
const LEAST_TOKENS: u64 = 32;

impl Source<'_> {
    /// The text as it may stand, and what was found.
    ///
    /// # Errors
    /// Why it may not.
    pub(crate) fn checked(
        &self,
        read: &Read,
        text: &str,
        previous: Option<&str>,
    ) -> Result<Checked, Reason> {
        let frame = self.frame(read);
        let limits = VerifyLimits {
            meter: self.meter,
            most_tokens: Some(self.room_beside(&frame)),
            ..VerifyLimits::default()
        };
        // What the frame says need not be said again.
        let has_sections = !self.dress.form.required_sections.is_empty();
        let told = match has_sections {
            true => String::new(),
            false => frame_text(&frame),
        };
        let mut verification = Verification::of(self.span, previous)
            .without_pins(self.dropped_pins)
            .with_limits(limits)
            .with_view(self.kept)
            .with_frame(&told);
        if has_sections {
            let fill_tokens = self.room_beside(&frame) / FILL_DIVISOR;
            verification = verification.with_headings(self.required_headings(read, fill_tokens));
        }
        let mut checked = verification.check(text);
        // The span is in the log, where recall finds what the view lacks.
        for counts in &mut checked.report.kinds {
            counts.recoverable += std::mem::take(&mut counts.missing);
        }
        let is_long = |kind| kind == AlarmKind::TooLong;
        match checked.verdict {
            Verdict::Accepted | Verdict::Repaired => Ok(checked),
            Verdict::Rejected(Reason::SummaryRejected)
                if checked
                    .report
                    .alarms
                    .iter()
                    .any(|alarm| is_long(alarm.kind)) =>
            {
                Err(Reason::SummaryTooLong)
            }
            Verdict::Rejected(reason) => Err(reason),
        }
    }

    /// A summary of which `text` is the record.
    pub(crate) fn around(&self, read: &Read, text: &str) -> Summary {
        let mut parts = self.frame(read);
        parts.written = Some(text.to_owned());
        if self.dress.form.completes {
            self.complete(read, &mut parts);
        }
        let lines = parts.lines();
        let mut sources: Vec<usize> = self.span.iter().map(|(position, _)| *position).collect();
        sources.dedup();
        Summary {
            text: self.dress.apply(&parts),
            sources,
            lines,
        }
    }

    /// What the log knows beside the text, as far as there is room: where the work stands, then what became of files,
    /// rules and the names and values that the text does not have.
    fn complete(&self, read: &Read, parts: &mut Parts) {
        let used = self.meter.text(&self.dress.apply(parts));
        let headings =
            Parts::overhead_tokens(self.meter).saturating_sub(Parts::frame_tokens(self.meter));
        let mut left = self.budget_tokens.saturating_sub(used + headings);
        if left < LEAST_BESIDE_TOKENS {
            return;
        }
        parts.root = read.story.root.as_ref().map(Root::told);
        parts.standing = self.standing(read, percent_of(left, STANDING_PERCENT));
        let standing = parts.standing.iter();
        left = left.saturating_sub(standing.map(|line| self.cost(&line.text)).sum());
        self.choose(read, parts, left);
        self.cut_to_budget(parts);
    }

    fn room_beside(&self, frame: &Parts) -> u64 {
        let mut framed = frame.clone();
        framed.written = Some(String::from("."));
        let taken = self.meter.text(&self.dress.apply(&framed)) + BULLET_TOKENS;
        self.budget_tokens.saturating_sub(taken).max(LEAST_TOKENS)
    }

    /// What stands around a text of somebody else.
    fn frame(&self, read: &Read) -> Parts {
        let (mut parts, left) = self.opening(read);
        if self.dress.lists_files() {
            self.list_files(&read.earlier, &mut parts, left / 3);
        }
        parts
    }

    /// The sections that the form wants, with what the log has for each.
    fn required_headings(&self, read: &Read, fill_tokens: u64) -> Vec<RequiredHeading> {
        let own = self.write(read).text;
        let body_of = |name: &str| {
            let heading = format!("### {name}\n");
            let behind = own.split_once(&heading).map_or("", |(_, behind)| behind);
            behind.split("\n### ").next().unwrap_or_default().trim()
        };
        let sections = self.dress.form.required_sections.iter();
        sections
            .map(|name| RequiredHeading {
                name: (*name).to_owned(),
                fill: self.shortened(body_of(name), FILL_CHARS, fill_tokens),
            })
            .collect()
    }
}

fn frame_text(frame: &Parts) -> String {
    let pins = frame.pins.iter().map(|pin| pin.text.as_str());
    let requests = frame.task.iter().chain(&frame.latest_request);
    let named = frame.named.iter().map(|line| line.text.as_str());
    pins.chain(requests.map(String::as_str))
        .chain(named)
        .collect::<Vec<_>>()
        .join("\n")
}
