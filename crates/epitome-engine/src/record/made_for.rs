//! What a proxy's compaction was made for.

use std::fmt;

use epitome::Digest;

/// What a compaction of a proxy was made for, as it stands in the class of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeFor {
    /// Not recorded: an earlier version made it.
    Any,
    /// Requests in a window of this size.
    Window(u64),
    /// Requests in a window of this size that fit but for the output they ask for.
    Output(u64),
    /// Requests to a model that refused such a request and taught nothing about its window.
    Refused(u64),
}

/// Stands between what it was made for and the pins that it was made without.
const WITHOUT: &str = "/without/";

impl MadeFor {
    /// The class of a row that was made without these pins: nobody takes it for one that has them.
    #[must_use]
    pub fn class_without(self, unpinned: &[String]) -> String {
        if unpinned.is_empty() {
            return self.to_string();
        }
        let mut texts: Vec<&str> = unpinned.iter().map(|text| text.trim()).collect();
        texts.sort_unstable();
        texts.dedup();
        let digest = Digest::of(texts.join("\n").as_bytes()).prefix();
        format!("{self}{WITHOUT}{digest:016x}")
    }

    /// Reads the class of a row; `None` where it is not one of a proxy, or one that this version does not know.
    #[must_use]
    pub fn read(class: &str) -> Option<Self> {
        let class = class.split(WITHOUT).next().unwrap_or(class);
        let number = |text: &str| text.parse().ok();
        match class.split_once('/') {
            None if class == "any" => Some(Self::Any),
            Some(("window", tokens)) => number(tokens).map(Self::Window),
            Some(("output", tokens)) => number(tokens).map(Self::Output),
            Some(("refused", model)) => u64::from_str_radix(model, 16).ok().map(Self::Refused),
            _ => None,
        }
    }

    /// The window it was made for, where that is known.
    #[must_use]
    pub const fn window_tokens(self) -> Option<u64> {
        match self {
            Self::Window(tokens) | Self::Output(tokens) => Some(tokens),
            Self::Any | Self::Refused(_) => None,
        }
    }
}

impl fmt::Display for MadeFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Window(tokens) => write!(f, "window/{tokens}"),
            Self::Output(tokens) => write!(f, "output/{tokens}"),
            Self::Refused(model) => write!(f, "refused/{model:016x}"),
        }
    }
}
