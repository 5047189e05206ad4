//! One try: what makes it the same as another, and why it failed.

use crate::reason::Reason;

/// How hard a compaction tries. Each rung gives up more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rung {
    /// Fewer of the newest entries stay.
    ShorterTail,
    /// Results that stay are trimmed.
    TrimmedResults,
    /// As much stays as the line lets through.
    WholeLine,
    /// What was kept free for the answer is used too.
    WholeWindow,
    /// Only what must stay, stays.
    Floor,
}

impl Rung {
    /// The rung after this one; none after the floor.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::ShorterTail => Some(Self::TrimmedResults),
            Self::TrimmedResults => Some(Self::WholeLine),
            Self::WholeLine => Some(Self::WholeWindow),
            Self::WholeWindow => Some(Self::Floor),
            Self::Floor => None,
        }
    }
}

/// What makes two tries the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attempt {
    /// Where the span ends.
    pub span_end: usize,
    /// The size it was to come down to.
    pub target_tokens: u64,
    /// How hard it tried.
    pub rung: Rung,
}

/// Why a try failed: a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The result was not clearly smaller.
    NotSmaller,
    /// The summary was checked and refused.
    SummaryRejected,
    /// There was no text in the answer.
    SummaryEmpty,
    /// The summariser took too long.
    SummaryTimeout,
    /// The summariser's own request was too long.
    SummaryOverflow,
    /// The summariser failed in another way.
    SummaryFailed,
    /// Its answer ended before it was finished.
    SummaryCutOff,
    /// It called a tool instead of writing.
    SummaryCalledTools,
    /// The summary was longer than it may be.
    SummaryTooLong,
    /// It would not write it.
    SummaryRefused,
    /// Its provider asked to wait for longer than there was time.
    SummaryRateLimited,
    /// It may not cost more for now.
    SpendLimit,
    /// A hook said no.
    Cancelled,
    /// The provider refused the rewritten request.
    RewriteRefused,
}

impl From<Failure> for Reason {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotSmaller => Self::NotSmaller,
            Failure::SummaryRejected => Self::SummaryRejected,
            Failure::SummaryEmpty => Self::SummaryEmpty,
            Failure::SummaryTimeout => Self::SummaryTimeout,
            Failure::SummaryOverflow => Self::SummaryOverflow,
            Failure::SummaryFailed => Self::SummaryFailed,
            Failure::SummaryCutOff => Self::SummaryCutOff,
            Failure::SummaryCalledTools => Self::SummaryCalledTools,
            Failure::SummaryTooLong => Self::SummaryTooLong,
            Failure::SummaryRefused => Self::SummaryRefused,
            Failure::SummaryRateLimited => Self::SummaryRateLimited,
            Failure::SpendLimit => Self::SpendLimit,
            Failure::Cancelled => Self::Cancelled,
            Failure::RewriteRefused => Self::RewriteRefused,
        }
    }
}
