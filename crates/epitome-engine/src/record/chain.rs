//! Compactions of conversations that pass a proxy: positions are links of a chain.

use epitome::{Compaction, Earlier, Kept, Pin, Role, Shown, Swap, TaskPlace, Trim};
use serde::{Deserialize, Serialize};

use super::{RecordError, StepRecord, StoredReport, is_nothing, write};

/// The record of a compaction of a proxy. Positions are links of the chain, not indices of a request: a client may add or
/// drop its own notes between two requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainRecord {
    /// How many links of the chain are covered, the task included.
    pub covered_links: usize,
    /// Whether the task stands in front of the summary, as it was sent.
    pub task_in_head: bool,
    /// How many links the request had that it was made on: what went out since is read from the answers behind them. Records
    /// of earlier versions do not tell (0).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub made_on_links: usize,
    /// What the client's own notes inside the span may take.
    pub notes_cap_tokens: u64,
    /// What the summary message costs.
    pub summary_tokens: u64,
    /// What shortening results takes off.
    pub trimmed_tokens: u64,
    /// How many results a line stands for because they had grown old, where that was done before anything was
    /// summarised.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pruned_results: usize,
    /// What tells it from an earlier one of the same class at the same place that did not help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// Results behind the span that stay, shortened.
    pub trims: Vec<LinkTrims>,
    /// The reason code: why it was made.
    pub reason: String,
    /// The entries that the summary quotes.
    pub sources: Vec<usize>,
    /// The pins that the summary carries, word for word. Records of earlier versions have none: [`Record::pins`] reads the
    /// summary then.
    ///
    /// [`Record::pins`]: super::Record::pins
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pins: Option<Vec<String>>,
    /// What would be pins, had the user not dropped them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpinned: Vec<String>,
    /// What verification found. Records of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<StoredReport>,
    /// The sum by which it was shown before it had to be, where that was so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<Swap>,
    /// The whole view, where it is more than a head, one summary and the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<FrozenView>,
    /// Who wrote the summary, where it was not the built-in summariser, and what failed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepRecord>,
    /// What models were paid for it, in billionths of a dollar, with calls before that came to nothing.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub spent_nanodollars: u64,
}

impl ChainRecord {
    /// What is the same for every kind of view; no link is covered yet.
    #[must_use]
    pub fn of(compaction: &Compaction) -> Self {
        Self {
            task_in_head: compaction.plan.task == TaskPlace::Head,
            notes_cap_tokens: compaction.plan.notes_cap_tokens,
            summary_tokens: compaction.summary_tokens,
            trimmed_tokens: compaction.trimmed_tokens,
            reason: compaction.plan.reason.as_str().to_owned(),
            sources: compaction.summary.sources.clone(),
            pins: Some(texts(&compaction.pins)),
            unpinned: texts(&compaction.unpinned),
            report: compaction.report.as_deref().map(StoredReport::of),
            ..Self::default()
        }
    }

    /// These are left out as well.
    pub fn leave_out(&mut self, unpinned: &[String]) {
        for text in unpinned {
            if !self.unpinned.contains(text) {
                self.unpinned.push(text.clone());
            }
        }
    }

    /// The pins that it carries with this summary.
    #[must_use]
    pub fn pins(&self, summary: &str) -> Vec<String> {
        let known = self.pins.clone();
        known.unwrap_or_else(|| pins_of(summary))
    }

    /// Whether, with this summary, it is as it should be where the user dropped these pins and no others: see
    /// [`Compaction::heeds`].
    #[must_use]
    pub fn heeds(&self, summary: &str, dropped: &[String]) -> bool {
        if dropped.is_empty() {
            return self.unpinned.is_empty();
        }
        let is_dropped = |pin: &String| dropped.iter().any(|text| text.trim() == pin.trim());
        !self.pins(summary).iter().any(is_dropped) && self.unpinned.iter().all(is_dropped)
    }

    /// Whether it shortens results that it does not cover.
    pub(super) fn trims_behind_the_span(&self) -> bool {
        let shown = self.view.iter().flat_map(|view| &view.trims);
        let shown = shown.map(|(link, _)| *link);
        let links = self.trims.iter().map(|trim| trim.link).chain(shown);
        links.max().is_some_and(|last| last >= self.covered_links)
    }

    /// What is stored for it.
    ///
    /// # Errors
    /// [`RecordError::Unwritable`].
    pub fn write(&self) -> Result<String, RecordError> {
        write(self)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde wants"
)]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn texts(pins: &[Pin]) -> Vec<String> {
    pins.iter().map(|pin| pin.text.clone()).collect()
}

/// The pins that a summary says it carries.
pub(super) fn pins_of(summary: &str) -> Vec<String> {
    Earlier::read(summary).map_or_else(Vec::new, |earlier| earlier.pins)
}

/// The message at a link with some of its results shortened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkTrims {
    /// The link.
    pub link: usize,
    /// What is seen of its results.
    pub trims: Vec<StoredTrim>,
}

/// A trim in few words: block, part, and what is seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StoredTrim {
    /// Characters at the beginning and at the end.
    Ends(usize, usize, usize, usize),
    /// The same, and what is kept between them.
    Kept(usize, usize, usize, usize, Vec<(usize, usize)>),
    /// A line in its place.
    Placeholder(usize, usize, String),
}

/// What is shown up to a link; behind it everything is shown as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenView {
    /// What stands in front, in order.
    pub items: Vec<FrozenItem>,
    /// The first link behind it.
    pub from_link: usize,
    /// Results behind it that stay, shortened.
    pub trims: Vec<(usize, Vec<StoredTrim>)>,
    /// What the client's own notes inside may take.
    pub notes_cap_tokens: u64,
}

/// One thing that a view shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrozenItem {
    /// Messages as they were sent: the first link, and the first behind them.
    Links(usize, usize),
    /// One with some of its results shortened.
    Trimmed(usize, Vec<StoredTrim>),
    /// One with the newest summary inside.
    Merged(usize),
    /// The newest summary.
    Summary(Speaker),
    /// A message that an earlier round or the design put there.
    Made(Speaker, String),
}

/// In whose name a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Speaker {
    /// Who speaks in this role.
    #[must_use]
    pub const fn of(role: Role) -> Self {
        match role {
            Role::Assistant => Self::Assistant,
            _ => Self::User,
        }
    }

    /// The role.
    #[must_use]
    pub const fn role(self) -> Role {
        match self {
            Self::User => Role::User,
            Self::Assistant => Role::Assistant,
        }
    }
}

impl StoredTrim {
    /// What is stored of a trim.
    #[must_use]
    pub fn of(trim: &Trim) -> Self {
        let (block, part) = (trim.block, trim.part);
        match &trim.shown {
            Shown::Placeholder(line) => Self::Placeholder(block, part, line.clone()),
            Shown::Kept(kept) if kept.between.is_empty() => {
                Self::Ends(block, part, kept.head_chars, kept.tail_chars)
            }
            Shown::Kept(kept) => {
                let between = kept.between.iter().map(|range| (range.start, range.end));
                let (head, tail) = (kept.head_chars, kept.tail_chars);
                Self::Kept(block, part, head, tail, between.collect())
            }
        }
    }

    /// The trim itself.
    #[must_use]
    pub fn trim(&self) -> Trim {
        let kept = |head_chars: usize, between: &[(usize, usize)], tail_chars: usize| {
            Shown::Kept(Kept {
                head_chars,
                between: between.iter().map(|(start, end)| *start..*end).collect(),
                tail_chars,
            })
        };
        let (block, part, shown) = match self {
            Self::Ends(block, part, head, tail) => (*block, *part, kept(*head, &[], *tail)),
            Self::Kept(block, part, head, tail, between) => {
                (*block, *part, kept(*head, between, *tail))
            }
            Self::Placeholder(block, part, line) => {
                (*block, *part, Shown::Placeholder(line.clone()))
            }
        };
        Trim { block, part, shown }
    }
}
