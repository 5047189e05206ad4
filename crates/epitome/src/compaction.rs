//! A compaction: a plan carried out, measured before it is believed.

mod basis;
mod carry;
mod verified;

use crate::files::FileOperations;
use crate::message::Message;
use crate::pin::Pin;
use crate::plan::Plan;
use crate::summary::Summary;
use crate::trim::Trim;
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

impl Compaction {
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
