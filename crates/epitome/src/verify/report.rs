//! What verification found.

use super::mark::AnchorKind;
use crate::reason::Reason;

/// What is wrong with a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AlarmKind {
    /// It names something that the source does not have.
    Invented(AnchorKind),
    /// An instruction of the user in force is missing.
    PinMissing,
    /// It says the opposite of an instruction of the user, or another thing.
    PinContradicted,
    /// It tells an instruction of the user in other words than his.
    PinReworded,
    /// An open to-do is missing.
    TodoDropped,
    /// It gives what only a tool or a client wrote the authority of the user.
    OrderFromTool,
    /// It says that somebody said what somebody else said.
    Attribution,
    /// A required heading is missing.
    HeadingMissing,
    /// It is longer than it may be.
    TooLong,
    /// There is nothing in it.
    Empty,
}

impl AlarmKind {
    /// The stable code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invented(AnchorKind::Path) => "invented_path",
            Self::Invented(AnchorKind::Identifier) => "invented_identifier",
            Self::Invented(AnchorKind::Number) => "invented_number",
            Self::Invented(AnchorKind::Url) => "invented_url",
            Self::PinMissing => "pin_missing",
            Self::PinContradicted => "pin_contradicted",
            Self::PinReworded => "pin_reworded",
            Self::TodoDropped => "todo_dropped",
            Self::OrderFromTool => "order_from_tool",
            Self::Attribution => "attribution",
            Self::HeadingMissing => "heading_missing",
            Self::TooLong => "too_long",
            Self::Empty => "empty",
        }
    }

    /// Whether something is there that is not so; otherwise something is not there that should be, or not in the words
    /// in which it should be.
    #[must_use]
    pub const fn is_untrue(self) -> bool {
        matches!(
            self,
            Self::Invented(_) | Self::PinContradicted | Self::OrderFromTool | Self::Attribution
        )
    }
}

/// One thing that is wrong with a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Alarm {
    /// What.
    pub kind: AlarmKind,
    /// The anchor, the sentence or the pin.
    pub text: String,
    /// The line of the summary, counted from 1; 0 for what is missing from all of it.
    pub line: usize,
}

/// What became of the anchors of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AnchorCounts {
    /// Different ones in the source.
    pub anchors: usize,
    /// Of these, in the summary.
    pub retained: usize,
    /// Of these, not in the summary and light enough to be looked up when somebody asks.
    pub recoverable: usize,
    /// Of these, heavy and not in the summary, for want of room.
    pub missing: usize,
    /// Anchors of the summary as it was handed in that the source does not support.
    pub invented: usize,
}

impl AnchorCounts {
    pub(super) const fn add(&mut self, other: &Self) {
        self.anchors += other.anchors;
        self.retained += other.retained;
        self.recoverable += other.recoverable;
        self.missing += other.missing;
        self.invented += other.invented;
    }
}

/// What verification found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct VerifyReport {
    /// What became of the anchors, by kind, in the order of [`AnchorKind::ALL`].
    pub kinds: [AnchorCounts; 4],
    /// Anchors in the summary as it was handed in, with repetitions.
    pub checked: usize,
    /// Everything that was wrong, in the order of the lines, what is missing last.
    pub alarms: Vec<Alarm>,
    /// What was taken out.
    pub struck: Vec<String>,
    /// What was put in.
    pub appended: Vec<String>,
}

impl VerifyReport {
    /// What became of all anchors.
    #[must_use]
    pub fn total(&self) -> AnchorCounts {
        let mut total = AnchorCounts::default();
        for counts in &self.kinds {
            total.add(counts);
        }
        total
    }

    /// What became of the anchors of one kind.
    #[must_use]
    pub fn of(&self, kind: AnchorKind) -> AnchorCounts {
        let pairs = AnchorKind::ALL.iter().zip(&self.kinds);
        let mut found = pairs.filter(|(other, _)| **other == kind);
        found.next().map(|(_, counts)| *counts).unwrap_or_default()
    }

    pub(super) const fn of_mut(&mut self, kind: AnchorKind) -> &mut AnchorCounts {
        let [path, identifier, number, url] = &mut self.kinds;
        match kind {
            AnchorKind::Path => path,
            AnchorKind::Identifier => identifier,
            AnchorKind::Number => number,
            AnchorKind::Url => url,
        }
    }
}

/// What comes of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It stands as it is.
    Accepted,
    /// It stands after something was taken out or put in.
    Repaired,
    /// It is not used.
    Rejected(Reason),
}

impl Verdict {
    /// The word used in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Repaired => "repaired",
            Self::Rejected(_) => "rejected",
        }
    }
}
