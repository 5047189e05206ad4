//! What pruning goes by.

/// What pruning goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneSettings {
    /// When a result is cut on arrival.
    pub entry_cap: EntryCap,
    /// What becomes of results that have grown old.
    pub old: OldResults,
    /// What becomes of old results that report a failure.
    pub errors: ErrorResults,
    /// Tools whose results are left alone, whatever their size or age.
    pub protected_tools: Vec<String>,
    /// A result below this is never replaced.
    pub smallest_tokens: u64,
    /// While the cache may be warm, old results go only when this much goes with them: every provider has to read
    /// anew what stands behind the first of them.
    pub smallest_saving_tokens: u64,
    /// How a placeholder says that what was left out can be had.
    pub recall: Recall,
}

/// When a result is cut on arrival, to the size that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryCap {
    /// Never.
    Off,
    /// Above so many characters.
    Chars(usize),
    /// Above so many tokens.
    Tokens(u64),
}

/// What becomes of results that have grown old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldResults {
    /// They stay.
    Keep,
    /// A line stands for each.
    Replace {
        /// How many of the newest steps are not old. The newest one never is.
        keep_steps: usize,
    },
}

/// What becomes of old results that report a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorResults {
    /// They stay as they are.
    Keep,
    /// They are cut down to their ends and their error lines.
    Shorten,
}

/// How a placeholder says that what was left out can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recall {
    /// It cannot be had, so nothing is promised.
    None,
    /// In these words of the host; `{id}` becomes the id of the call.
    Phrase(String),
}

impl PruneSettings {
    /// Nothing is pruned.
    #[must_use]
    pub const fn off() -> Self {
        Self {
            entry_cap: EntryCap::Off,
            old: OldResults::Keep,
            errors: ErrorResults::Keep,
            protected_tools: Vec::new(),
            smallest_tokens: 400,
            smallest_saving_tokens: 0,
            recall: Recall::None,
        }
    }

    /// Whether results of this tool are left alone.
    #[must_use]
    pub fn protects(&self, tool: &str) -> bool {
        self.protected_tools.iter().any(|name| name == tool)
    }
}
