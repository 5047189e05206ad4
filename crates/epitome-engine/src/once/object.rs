//! What is told of a compaction: the object of `compact --json`.

use std::time::Duration;

use epitome::verify::VerifyReport;
use epitome::{Compaction, Design, NoPlan, leading_system};
use epitome_wire::Body;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Given;

/// What became of a conversation. Its names are public surface.
#[derive(Debug, Serialize)]
pub struct CompactObject {
    /// What the conversation was written in.
    pub format: &'static str,
    /// Which one of a file that holds several, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<usize>,
    /// The design.
    pub preset: &'static str,
    /// Whether anything was done.
    pub compacted: bool,
    /// Why, or why not.
    pub reason: &'static str,
    /// What was there, system prompt aside.
    pub tokens_before: u64,
    /// What is there now.
    pub tokens_after: u64,
    /// How many messages there were.
    pub messages_before: usize,
    /// How many there are.
    pub messages_after: usize,
    /// The messages that went: from, and up to but not including.
    pub span: [usize; 2],
    /// What cannot go.
    pub floor_tokens: u64,
    /// What stands for those that went.
    pub summary: Option<String>,
    /// What it takes.
    pub summary_tokens: u64,
    /// What the user said that holds, word for word.
    pub pins: Vec<String>,
    /// What became of names and numbers.
    pub report: AnchorCounts,
    /// The messages, ready to send.
    pub messages: Vec<Box<RawValue>>,
    /// The time it took.
    pub elapsed_us: u64,
}

/// What became of the names and numbers of what went.
#[derive(Debug, Default, Serialize)]
pub struct AnchorCounts {
    /// How many there were.
    pub anchors: usize,
    /// Those still in view.
    pub retained: usize,
    /// Those that can be found again.
    pub recoverable: usize,
    /// Those that should be in view and are not.
    pub missing: usize,
    /// Those that nobody said.
    pub invented: usize,
}

impl CompactObject {
    /// What to tell of an outcome. The messages are to be filled in.
    #[must_use]
    pub fn of(
        format: &'static str,
        design: &'static Design,
        given: Given<'_>,
        outcome: Result<&Compaction, &NoPlan>,
        elapsed: Duration,
    ) -> Self {
        let log = given.log;
        let tokens_before = log.tokens(leading_system(log)..log.len());
        let mut object = Self {
            format,
            conversation: None,
            preset: design.name,
            compacted: false,
            reason: "",
            tokens_before,
            tokens_after: tokens_before,
            messages_before: given.messages.len(),
            messages_after: given.messages.len(),
            span: [0, 0],
            floor_tokens: 0,
            summary: None,
            summary_tokens: 0,
            pins: Vec::new(),
            report: AnchorCounts::default(),
            messages: Vec::new(),
            elapsed_us: u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
        };
        match outcome {
            Ok(compaction) => object.tell(compaction),
            Err(no) => {
                object.reason = no.reason.as_str();
                object.floor_tokens = no.floor_tokens;
            }
        }
        object
    }

    fn tell(&mut self, compaction: &Compaction) {
        let report = compaction.report.as_deref();
        let measured = report.map(VerifyReport::total).unwrap_or_default();
        self.compacted = true;
        self.reason = compaction.plan.reason.as_str();
        self.tokens_after = compaction.tokens_after;
        self.span = [compaction.plan.span.start, compaction.plan.span.end];
        self.floor_tokens = compaction.plan.floor_tokens;
        self.summary = Some(compaction.summary.text.clone());
        self.summary_tokens = compaction.summary_tokens;
        self.pins = compaction.pins.iter().map(|pin| pin.text.clone()).collect();
        self.report = AnchorCounts {
            anchors: measured.anchors,
            retained: measured.retained,
            recoverable: measured.recoverable,
            missing: measured.missing,
            invented: measured.invented,
        };
    }

    /// The same with the messages of a body.
    ///
    /// # Errors
    /// Where a message of it is no JSON, which a body that was scanned has none of.
    pub fn with_messages(mut self, body: &Body) -> Result<Self, serde_json::Error> {
        let raw = (0..body.len()).map(|index| {
            let text = String::from_utf8_lossy(body.message(index)).into_owned();
            RawValue::from_string(text)
        });
        self.messages = raw.collect::<Result<_, _>>()?;
        self.messages_after = self.messages.len();
        Ok(self)
    }
}
