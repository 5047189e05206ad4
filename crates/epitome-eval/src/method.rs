//! The ways to compact that are compared.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::baseline::{self, characters};
use crate::builtin;
use crate::history::History;
use crate::text::{prefix, suffix};

/// A way to compact a history to a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// What the user said, verbatim lines that name as many identifiers as possible, the newest messages.
    CoverLines,
    /// The newest messages.
    DropOldest,
    /// The first request and the newest messages.
    HeadTail,
    /// Old tool results become stubs; then the oldest messages go.
    MaskTools,
    /// The same, with what the user said in front.
    MaskUsers,
    /// Lines picked blindly and the newest messages.
    RandomLines,
    /// Lines with the most telling words and the newest messages.
    TfidfLines,
    /// What the user said, a bare list of identifiers, the newest messages.
    Ledger,
    /// The built-in summariser of this engine.
    Builtin,
}

impl Method {
    /// All of them: baselines first.
    pub const ALL: [Self; 9] = [
        Self::CoverLines,
        Self::DropOldest,
        Self::HeadTail,
        Self::MaskTools,
        Self::MaskUsers,
        Self::RandomLines,
        Self::TfidfLines,
        Self::Ledger,
        Self::Builtin,
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CoverLines => "cover_lines",
            Self::DropOldest => "drop_oldest",
            Self::HeadTail => "head_tail",
            Self::MaskTools => "mask_tools",
            Self::MaskUsers => "mask_users",
            Self::RandomLines => "random_lines",
            Self::TfidfLines => "tfidf_lines",
            Self::Ledger => "ledger",
            Self::Builtin => "builtin",
        }
    }

    /// The text that stands for the messages before `at`, of at most `budget_tokens`.
    #[must_use]
    pub fn compact(self, history: &History, at: usize, budget_tokens: u64) -> String {
        let text = self.attempt(history, at, budget_tokens);
        let chars = characters(budget_tokens);
        let fitting = match self {
            Self::DropOldest | Self::MaskTools => suffix(&text, chars),
            _ => prefix(&text, chars),
        };
        if fitting.len() == text.len() {
            return text;
        }
        fitting.to_owned()
    }

    /// The same before it is clipped to the budget.
    pub(crate) fn attempt(self, history: &History, at: usize, budget: u64) -> String {
        let method = match self {
            Self::CoverLines => baseline::cover_lines,
            Self::DropOldest => baseline::drop_oldest,
            Self::HeadTail => baseline::head_tail,
            Self::MaskTools => baseline::mask_tools,
            Self::MaskUsers => baseline::mask_users,
            Self::RandomLines => baseline::random_lines,
            Self::TfidfLines => baseline::tfidf_lines,
            Self::Ledger => baseline::ledger,
            Self::Builtin => builtin::builtin,
        };
        method(history, at, budget)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A name that is no method's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0} is no method; there are {names}", names = Method::ALL.map(Method::as_str).join(", "))]
pub struct UnknownMethod(String);

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        Self::ALL
            .into_iter()
            .find(|method| method.as_str() == name)
            .ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}
