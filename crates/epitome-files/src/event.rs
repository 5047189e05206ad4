//! What a reader says while it goes through a file.

use epitome::{Block, FileOperations, Message};

use crate::position::Position;
use crate::problem::Problem;

/// One thing that a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A conversation begins; what follows belongs to it.
    Conversation,
    /// The conversation's own id.
    Id(String),
    /// The folder in which the agent worked.
    Folder(String),
    /// Whose model answered, by the name that the agent's own configuration has for it.
    Provider(String),
    /// A message.
    Message {
        /// What it says.
        message: Message,
        /// Where it stands.
        origin: Origin,
    },
    /// More of an earlier message of this conversation: some formats spread one message over several entries.
    More {
        /// Which message of the conversation, from 0.
        index: usize,
        /// What it says besides.
        blocks: Vec<Block>,
    },
    /// The file ends here, for now.
    Tip(Tip),
    /// The agent compacted its history here, or started over.
    Compaction(Recorded),
    /// What the provider counted for one request.
    Usage(Usage),
    /// An entry that is known and says nothing to the model: a change of model, a progress line, another branch.
    Aside {
        /// What it is, in the format's own word or in ours.
        kind: String,
    },
    /// Something that the model saw and that is no message here: what a client attached, a search of the provider.
    Unshown {
        /// What it is, in the format's own word.
        kind: String,
    },
    /// Something is wrong with the file.
    Problem(Problem),
}

/// The size of one request and of its answer, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All that went in, from a cache or not.
    pub input_tokens: u64,
    /// The answer.
    pub output_tokens: u64,
}

/// Where a message comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The id of its entry, where the format has ids.
    pub id: Option<Box<str>>,
    /// Its number among the entries of the file, from 0; a header counts.
    pub entry: usize,
    /// Where the entry stands.
    pub position: Position,
}

/// Where a conversation goes on: what the next entry of its file has to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tip {
    /// The id of the entry that the next one follows, where the format has ids.
    pub parent: Option<Box<str>>,
    /// How many entries the file has, a header included.
    pub entries: usize,
    /// The number of the next entry, where entries are numbered.
    pub ordinal: Option<u64>,
    /// Members that every entry of the file repeats, as they are spelled, each with a comma behind it.
    pub members: String,
}

/// A compaction that the file records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// With a summary, or without.
    pub kind: RecordedKind,
    /// How many messages of the conversation stand before it.
    pub at: usize,
    /// The summary; empty where the file does not tell it.
    pub summary: String,
    /// What of the earlier messages stays in view.
    pub kept: Kept,
    /// The size of the context before, as the agent counted it.
    pub tokens_before: Option<u64>,
    /// What set it off, in the format's own word.
    pub trigger: Option<String>,
    /// What was done to files in what went, and in what earlier compactions took.
    pub files: FileOperations,
    /// Where it stands.
    pub origin: Origin,
}

/// Whether something stands for what went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedKind {
    /// A summary does.
    Summary,
    /// Nothing does: the conversation starts over.
    Reset,
}

/// What a recorded compaction keeps of the messages before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// None of them.
    Nothing,
    /// Those from this one on.
    From(usize),
    /// None of them; these stand for all, the summary included.
    Replaced(Vec<Message>),
}
