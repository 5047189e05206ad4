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
    /// The model that answers from here on, by the name that the agent calls it.
    Model(String),
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
    /// Of the answer, what nobody sees.
    pub reasoning_tokens: u64,
    /// What the cache had to do with it, where the file tells.
    pub cache: Option<CacheUsage>,
    /// How many messages of the conversation stand before the answer.
    pub messages: usize,
    /// When the answer came, in milliseconds since 1970.
    pub at_ms: Option<u64>,
}

impl Usage {
    /// Whether anything was counted at all.
    pub(crate) const fn says_something(&self) -> bool {
        self.input_tokens > 0 || self.output_tokens > 0
    }
}

/// What a provider's cache had to do with a request, as the provider counted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// Of the input, what was read from the cache.
    pub read_tokens: u64,
    /// Of the input, what was written to it.
    pub write_tokens: u64,
    /// Of what was written, what is kept for an hour.
    pub write_1h_tokens: u64,
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
    /// When it was written, in milliseconds since 1970, where the format says so.
    pub at_ms: Option<u64>,
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

/// The model that was named last: it is told once, and again when it is another one.
#[derive(Debug, Default)]
pub(crate) struct NamedModel(Option<Box<str>>);

impl NamedModel {
    pub(crate) fn named(&mut self, name: &str, emit: &mut dyn FnMut(Event)) {
        // Agents put a name in angle brackets on answers that no model gave.
        if name.is_empty() || name.starts_with('<') || self.0.as_deref() == Some(name) {
            return;
        }
        self.0 = Some(name.into());
        emit(Event::Model(name.to_owned()));
    }
}
