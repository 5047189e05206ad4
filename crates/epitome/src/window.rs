//! The window, what is kept free of it, and the lines a conversation may not cross.

/// Where the size of a window comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSource {
    /// Set by the user.
    Configured,
    /// Told by the provider in an overflow answer.
    Learned,
    /// From the model table.
    Table,
    /// Nothing is known: the usual size is assumed.
    Assumed,
}

/// A context window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens that input and output share.
    pub tokens: u64,
    /// How that is known.
    pub source: WindowSource,
}

/// The size assumed for a model that nobody knows.
pub const ASSUMED_WINDOW_TOKENS: u64 = 128_000;

/// What is kept free, and how early one acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// Room kept for the answer when the request does not ask for more; at most a quarter of the window.
    pub reserve_tokens: u64,
    /// The share of the hard line from which a compaction is prepared.
    pub prepare_share: f64,
}

impl Default for Margins {
    fn default() -> Self {
        Self {
            reserve_tokens: 20_000,
            prepare_share: 0.85,
        }
    }
}

impl Window {
    /// The window of a model nobody knows.
    #[must_use]
    pub const fn assumed() -> Self {
        Self {
            tokens: ASSUMED_WINDOW_TOKENS,
            source: WindowSource::Assumed,
        }
    }

    /// A window the user set.
    #[must_use]
    pub const fn configured(tokens: u64) -> Self {
        Self {
            tokens,
            source: WindowSource::Configured,
        }
    }
}

/// How large a request may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// From here on a compaction is worth preparing in the background.
    pub prepare_tokens: u64,
    /// No request goes out above this, whatever it takes.
    pub hard_tokens: u64,
}
