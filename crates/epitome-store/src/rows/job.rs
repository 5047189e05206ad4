//! Background work that is wanted.

use crate::ConversationId;

/// Somebody who wants to do the background work of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobClaim<'a> {
    /// The conversation.
    pub conversation: &'a ConversationId,
    /// Why it is to be done.
    pub reason: &'a str,
    /// Who would do it.
    pub holder: &'a str,
    /// What time it is; as for a lease, a server goes by its own clock.
    pub now_ms: i64,
    /// Until when it is held without a sign of life.
    pub until_ms: i64,
    /// So many jobs may run at once, of all tenants and nodes.
    pub most_running: u32,
}

/// What came of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimed {
    /// It is the caller's.
    Granted {
        /// The fence of the lease that goes with it.
        fence: u64,
        /// How often somebody has begun it, this time included: more than once where others died, or gave it back.
        tries: u32,
    },
    /// Somebody else is at it.
    Taken,
    /// As many run as may: it waits.
    Full,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// Nobody is at it.
    Waiting,
    /// Somebody is at it.
    Running,
    /// Somebody was, and is gone without a word: whoever asks next gets it.
    Abandoned,
}

impl JobState {
    /// Its name in answers and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Abandoned => "abandoned",
        }
    }
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// The conversation.
    pub conversation: ConversationId,
    /// Why it is to be done.
    pub reason: String,
    /// How far it is.
    pub state: JobState,
    /// Who is at it, or was.
    pub holder: Option<String>,
    /// Since when it is wanted.
    pub wanted_ms: i64,
    /// When somebody began it last.
    pub begun_ms: Option<i64>,
    /// How often somebody began it.
    pub tries: u32,
}
