//! What is wrong with a file: named with its place, never fatal.

use std::collections::BTreeMap;

use crate::position::Position;

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is.
    pub code: ProblemCode,
    /// Where it is.
    pub position: Position,
    /// What it is, in words.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(code: ProblemCode, position: Position, message: impl Into<String>) -> Self {
        Self {
            code,
            position,
            message: message.into(),
        }
    }
}

/// The kinds of problems: a closed set of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProblemCode {
    /// The last line ends in the middle: a writer was stopped.
    TornLastLine,
    /// A document ends, or breaks, in the middle.
    TornDocument,
    /// A line is not JSON.
    NotJson,
    /// An entry does not have the form that its kind has.
    UnreadableEntry,
    /// An entry is of a kind that this version does not know.
    UnknownEntry,
    /// The file does not begin as its format asks for.
    MissingHeader,
    /// An entry's parent is not in the file.
    BrokenParent,
    /// Following parents leads in a circle.
    ParentCycle,
    /// Two entries have the same id.
    RepeatedId,
    /// A compaction keeps entries from one on that is not before it.
    FirstKeptMissing,
    /// The entry that the conversation should go on from is not in the file.
    LeafMissing,
    /// Two calls have the same id.
    RepeatedCallId,
    /// A result answers no call before it.
    OrphanResult,
    /// A call has more than one result.
    RepeatedResult,
    /// A call has no result.
    UnansweredCall,
}

impl ProblemCode {
    /// The stable code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TornLastLine => "torn_last_line",
            Self::TornDocument => "torn_document",
            Self::NotJson => "not_json",
            Self::UnreadableEntry => "unreadable_entry",
            Self::UnknownEntry => "unknown_entry",
            Self::MissingHeader => "missing_header",
            Self::BrokenParent => "broken_parent",
            Self::ParentCycle => "parent_cycle",
            Self::RepeatedId => "repeated_id",
            Self::FirstKeptMissing => "first_kept_missing",
            Self::LeafMissing => "leaf_missing",
            Self::RepeatedCallId => "repeated_call_id",
            Self::OrphanResult => "orphan_result",
            Self::RepeatedResult => "repeated_result",
            Self::UnansweredCall => "unanswered_call",
        }
    }
}

/// The problems of a file: the first ones in full, all of them counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// The first of each code, at most [`Problems::KEPT`] of them.
    pub kept: Vec<Problem>,
    /// How many there are of each code.
    pub counts: BTreeMap<ProblemCode, u64>,
}

impl Problems {
    /// How many problems of one code are kept in full: enough to act on, and a file of nothing but problems takes
    /// no memory.
    pub const KEPT: u64 = 1_000;

    /// Adds one.
    pub fn add(&mut self, problem: Problem) {
        let count = self.counts.entry(problem.code).or_default();
        *count += 1;
        if *count <= Self::KEPT {
            self.kept.push(problem);
        }
    }

    /// How many there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}
