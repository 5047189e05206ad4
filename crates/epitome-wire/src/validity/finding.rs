//! A problem of one message together with its cure.

use std::ops::Range;

use super::problem::{Problem, ProblemCode};
use crate::splice::Edit;
use crate::wire::Wire;

/// Where a message stands, as far as its own form depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) wire: Wire,
    pub(crate) is_last: bool,
}

/// What is wrong with one message.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) code: ProblemCode,
    pub(crate) block: Option<usize>,
    pub(crate) what: String,
    pub(crate) cure: Cure,
}

/// What would make it right. Ranges are positions in the message.
#[derive(Clone, Debug)]
pub(crate) enum Cure {
    /// Nothing that touches this message alone.
    None,
    /// Some bytes are replaced; says what that does.
    Edits(Vec<Edit>, &'static str),
    /// An item of a list goes.
    DropItem {
        list: Range<usize>,
        item: Range<usize>,
    },
    /// The message goes.
    DropMessage,
    /// Other messages stand for it; says what that does.
    Replace(Vec<Vec<u8>>, &'static str),
}

impl Cure {
    /// What it does, for a person.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::None => "it stays",
            Self::Edits(_, deed) | Self::Replace(_, deed) => deed,
            Self::DropItem { .. } => "the block is dropped",
            Self::DropMessage => "the message is dropped",
        }
    }
}

impl Finding {
    pub(crate) fn of_message(code: ProblemCode, what: impl Into<String>, cure: Cure) -> Self {
        Self {
            code,
            block: None,
            what: what.into(),
            cure,
        }
    }

    pub(crate) fn of_block(
        code: ProblemCode,
        block: usize,
        what: impl Into<String>,
        cure: Cure,
    ) -> Self {
        Self {
            block: Some(block),
            ..Self::of_message(code, what, cure)
        }
    }

    pub(crate) fn into_problem(self, message: usize) -> Problem {
        Problem::at(self.code, message, self.block, self.what)
    }
}
