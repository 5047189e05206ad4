//! What went wrong in a hook. It never stops a compaction.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Whatever a hook returns when it fails.
pub type HookError = Box<dyn Error + Send + Sync>;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookPoint {
    /// A compaction is about to begin.
    Before,
    /// A compaction landed.
    After,
    /// What goes is known and no summary is written yet: it can be cancelled or replaced.
    BeforeCompact,
}

impl HookPoint {
    /// The name that external commands are told.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before_compaction",
            Self::After => "after_compaction",
            Self::BeforeCompact => "session_before_compact",
        }
    }
}

impl fmt::Display for HookPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A hook that did not do its work; the compaction went on without it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the hook `{hook}` at {point} {kind}; the compaction goes on without it")]
pub struct HookFailure {
    /// When it ran.
    pub point: HookPoint,
    /// Its name.
    pub hook: String,
    /// What happened.
    pub kind: FailureKind,
}

/// How a hook failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It said so.
    Failed(String),
    /// It panicked.
    Panicked(String),
    /// It took longer than it may.
    TimedOut(Duration),
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "failed: {error}"),
            Self::Panicked(message) => write!(f, "panicked: {message}"),
            Self::TimedOut(limit) => write!(
                f,
                "took longer than {limit:?} and was ended: make it faster or raise its timeout"
            ),
        }
    }
}
