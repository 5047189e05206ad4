//! The plain data that goes into a store and comes out of it.

mod chain;
mod change;
mod counted;
pub(crate) mod housekeeping;
mod job;
mod memory;
mod pin;
mod search;
mod turn;
mod usage;

pub use chain::{ChainQuestion, KnownChain};
pub use change::{Appended, ChangeKind, ChangeRow, NewChange};
pub use counted::CountedRow;
pub use housekeeping::{
    Deleted, Oldest, OwnedConversation, Resealed, Restored, StoreStatistics, SweepBefore, Swept,
};
pub use job::{Claimed, JobClaim, JobRow, JobState};
pub use memory::{MemoryRow, Saved};
pub use pin::{PinMark, PinRow};
pub use search::{EntryWords, SearchHit, SearchScope};
pub use turn::TurnRow;
pub use usage::TenantUsage;

use bytes::Bytes;
use epitome::Digest;

use crate::ConversationId;

/// One link of a hash chain: a message in its place after all messages before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    /// The chain hash up to and including this message.
    pub digest: Digest,
    /// The node before this one; `None` for the first message.
    pub parent: Option<Digest>,
    /// The key of the entry that holds the message's bytes.
    pub entry: Digest,
    /// The index among the chained messages, from 0.
    pub position: u32,
    /// The conversation that first appended this node; a fork shares the nodes of its prefix.
    pub conversation: ConversationId,
}

/// One message, byte for byte as the client sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRow {
    /// The keyed content digest, computed by the caller.
    pub key: Digest,
    /// The exact bytes.
    pub raw: Bytes,
    /// The wire format they came in, such as `openai-chat` or `anthropic`.
    pub wire: String,
    /// How many tokens they count as.
    pub tokens: u32,
}

/// A conversation as its first request describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConversation {
    /// Its name.
    pub id: ConversationId,
    /// The conversation it was forked from.
    pub parent: Option<ConversationId>,
    /// A label for people.
    pub label: Option<String>,
    /// When it began, in milliseconds since the epoch.
    pub created_ms: i64,
}

/// What one request adds to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The conversation it belongs to; created on first use.
    pub conversation: NewConversation,
    /// The new messages.
    pub entries: Vec<EntryRow>,
    /// The new links, in any order.
    pub nodes: Vec<NodeRow>,
    /// The words of entries, new or stored, for [`search`](crate::Search::search). Those of an entry whose words are
    /// known stay as they are. May be left empty and given later, with [`index`](crate::Search::index).
    pub words: Vec<EntryWords>,
    /// When the request came, in milliseconds since the epoch.
    pub touched_ms: i64,
}

/// A conversation as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRow {
    /// Its name.
    pub id: ConversationId,
    /// The conversation it was forked from.
    pub parent: Option<ConversationId>,
    /// A label for people.
    pub label: Option<String>,
    /// When it began, in milliseconds since the epoch.
    pub created_ms: i64,
    /// When it was last appended to, in milliseconds since the epoch.
    pub touched_ms: i64,
    /// How many nodes it was the first to append.
    pub nodes: u64,
    /// How many compactions it has, undone ones included.
    pub compactions: u64,
}

/// Where a compaction is in its life. It only ever moves down this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompactionState {
    /// Stored with its span, not yet seen by a model.
    Prepared,
    /// Part of what models see.
    Published,
    /// Withdrawn; kept as a record.
    Undone,
}

impl CompactionState {
    /// The stored name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Published => "published",
            Self::Undone => "undone",
        }
    }

    /// Reads a stored name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Prepared, Self::Published, Self::Undone]
            .into_iter()
            .find(|state| state.as_str() == name)
    }
}

/// A frozen summary that stands for a span of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionRow {
    /// Its name, unique inside the tenant.
    pub id: String,
    /// The conversation it was made for.
    pub conversation: ConversationId,
    /// The last chain node it covers.
    pub node: Digest,
    /// The class of models it was made for.
    pub model_class: String,
    /// Where it is in its life.
    pub state: CompactionState,
    /// How many entries before the span stay as they are.
    pub head_entries: u32,
    /// How many entries the span covers.
    pub covered_entries: u32,
    /// The tokens of the view before.
    pub tokens_before: u64,
    /// The tokens of the view after.
    pub tokens_after: u64,
    /// The frozen text.
    pub summary: String,
    /// The details, as JSON.
    pub record: String,
    /// When it was made, in milliseconds since the epoch.
    pub created_ms: i64,
}

/// What became of a compaction that was to be committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// It was the first for its epoch and is stored as given.
    New(CompactionRow),
    /// Another one was first; that one must be used, so that every proxy forwards the same bytes.
    Existing(CompactionRow),
}

impl Committed {
    /// The compaction that holds for the epoch, whoever wrote it.
    #[must_use]
    pub fn into_row(self) -> CompactionRow {
        match self {
            Self::New(row) | Self::Existing(row) => row,
        }
    }
}

/// What the proxy did with one request, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The conversation, when it was known.
    pub conversation: Option<ConversationId>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// What was done.
    pub action: String,
    /// The reason code.
    pub reason: String,
    /// The tokens of the request as it came.
    pub tokens_before: u64,
    /// The tokens of the request as it was forwarded.
    pub tokens_after: u64,
    /// The model that was asked for.
    pub model: String,
}

/// What is believed of a model at an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeliefRow {
    /// The endpoint.
    pub endpoint: String,
    /// The model.
    pub model: String,
    /// Its window and why, in a form that is the program's own; `None` leaves what is stored.
    pub window: Option<String>,
    /// How it counts, in a form that is the program's own; `None` leaves what is stored.
    pub counts: Option<String>,
    /// When it was written, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// The context window of a model, learned from an endpoint's own answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedWindow {
    /// The endpoint.
    pub endpoint: String,
    /// The model.
    pub model: String,
    /// The window.
    pub window_tokens: u64,
    /// When it was learned, in milliseconds since the epoch.
    pub at_ms: i64,
}
