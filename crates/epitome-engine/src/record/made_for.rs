//! What a proxy's compaction was made for.

use std::fmt;

use epitome::Digest;

use super::ChainRecord;

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

impl MadeFor {
    /// The class of a row: what it was made for, and what tells it from others that were made for the same at the same
    /// place. Of these the first one wins, so that none may be taken for one that shows something else.
    #[must_use]
    pub fn class_of(self, record: &ChainRecord) -> String {
        let mut class = self.to_string();
        if !record.unpinned.is_empty() {
            let mut texts: Vec<&str> = record.unpinned.iter().map(|text| text.trim()).collect();
            texts.sort_unstable();
            texts.dedup();
            let digest = Digest::of(texts.join("\n").as_bytes()).prefix();
            class.push_str(&format!("/without/{digest:016x}"));
        }
        if record.covered_links > 0 && record.trims_behind_the_span() {
            // Its place is the last result that it shortens, and one that covers more may end with the same result.
            class.push_str(&format!("/covers/{}", record.covered_links));
        }
        if record.pruned_results > 0 {
            class.push_str(&format!("/pruned/{}", record.pruned_results));
        }
        if let Some(again) = &record.again {
            class.push_str(&format!("/again/{again}"));
        }
        class
    }

    /// Reads the class of a row; `None` where it is not one of a proxy, or one that this version does not know.
    #[must_use]
    pub fn read(class: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok();
        let mut parts = class.split('/');
        match (parts.next()?, parts.next()) {
            ("any", _) => Some(Self::Any),
            ("window", Some(tokens)) => number(tokens).map(Self::Window),
            ("output", Some(tokens)) => number(tokens).map(Self::Output),
            ("refused", Some(model)) => u64::from_str_radix(model, 16).ok().map(Self::Refused),
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
