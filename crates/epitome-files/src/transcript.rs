//! A file as a whole: its conversations with everything that was said.

use std::io::{BufRead, Seek};

use epitome::{Message, Role};

use crate::error::ReadError;
use crate::event::{Event, Kept, Origin, Recorded, RecordedKind, Tip, Usage};
use crate::format::FileFormat;
use crate::problem::Problems;
use crate::read::read_file;

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// Which agent wrote it.
    pub format: FileFormat,
    /// Its conversations; most files hold one.
    pub conversations: Vec<Conversation>,
    /// What is wrong with it.
    pub problems: Problems,
}

/// One conversation of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Its own id.
    pub id: Option<String>,
    /// The folder in which the agent worked.
    pub folder: Option<String>,
    /// Whose model answered, by the name that the agent's own configuration has for it.
    pub provider: Option<String>,
    /// The model that answered last, by the name that the agent calls it.
    pub model: Option<String>,
    /// What the provider counted, request by request, as far as the file tells.
    pub usage: Vec<Usage>,
    /// Every message, those before a compaction included; summaries are not among them.
    pub messages: Vec<Message>,
    /// Where each message comes from.
    pub origins: Vec<Origin>,
    /// The compactions that the file records, in order.
    pub compactions: Vec<Recorded>,
    /// Before which messages the model saw something that is not shown.
    pub unshown: Vec<usize>,
    /// Where its file goes on.
    pub tip: Tip,
}

/// What the model would get if the conversation went on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The messages.
    pub messages: Vec<Message>,
    /// For each message, which one of the conversation it is; `None` for a summary and for what replaces history.
    pub sources: Vec<Option<usize>>,
}

impl Transcript {
    /// Reads a file and keeps all of it.
    ///
    /// # Errors
    /// [`ReadError`] when the file cannot be read at all.
    pub fn collect<R: BufRead + Seek>(
        source: &mut R,
        format: FileFormat,
    ) -> Result<Self, ReadError> {
        let mut transcript = Self {
            format,
            conversations: Vec::new(),
            problems: Problems::default(),
        };
        read_file(source, format, &mut |event| transcript.add(event))?;
        for conversation in &mut transcript.conversations {
            conversation.compactions.sort_by_key(|recorded| recorded.at);
        }
        Ok(transcript)
    }

    fn add(&mut self, event: Event) {
        match event {
            Event::Conversation => self.conversations.push(Conversation::default()),
            Event::Problem(problem) => self.problems.add(problem),
            Event::Aside { .. } => {}
            said => {
                if self.conversations.is_empty() {
                    self.conversations.push(Conversation::default());
                }
                if let Some(conversation) = self.conversations.last_mut() {
                    conversation.add(said);
                }
            }
        }
    }
}

impl Conversation {
    fn add(&mut self, event: Event) {
        match event {
            Event::Id(id) => self.id = Some(id),
            Event::Folder(folder) => self.folder = Some(folder),
            Event::Provider(provider) => self.provider = Some(provider),
            Event::Message { message, origin } => {
                self.messages.push(message);
                self.origins.push(origin);
            }
            Event::More { index, blocks } => {
                if let Some(message) = self.messages.get_mut(index) {
                    message.blocks.extend(blocks);
                }
            }
            Event::Compaction(recorded) => self.compactions.push(recorded),
            Event::Unshown { .. } => self.unshown.push(self.messages.len()),
            Event::Tip(tip) => self.tip = tip,
            Event::Model(model) => self.model = Some(model),
            Event::Usage(usage) => self.usage.push(usage),
            Event::Conversation | Event::Aside { .. } | Event::Problem(_) => {}
        }
    }

    /// What the model would get now: the last compaction decides, by the rules of the format. System messages in
    /// front stay, because agents send them apart from the history.
    #[must_use]
    pub fn context(&self) -> Context {
        self.context_of(self.compactions.last(), self.messages.len())
    }

    /// What the model got right after a recorded compaction.
    pub(crate) fn context_after(&self, recorded: &Recorded) -> Context {
        self.context_of(Some(recorded), recorded.at)
    }

    fn context_of(&self, last: Option<&Recorded>, end: usize) -> Context {
        let mut context = Context::default();
        let Some(last) = last else {
            context.push_range(self, 0, end);
            return context;
        };
        let first_said = self
            .messages
            .iter()
            .position(|message| message.role != Role::System)
            .unwrap_or(self.messages.len())
            .min(last.at);
        if !matches!(&last.kept, Kept::Replaced(_)) {
            context.push_range(self, 0, first_said);
        }
        match (&last.kept, last.kind) {
            (Kept::Replaced(messages), _) => {
                context.push_range(self, 0, usize::from(first_said > 0));
                for message in messages {
                    context.push(message.clone(), None);
                }
            }
            (_, RecordedKind::Summary) if !last.summary.is_empty() => {
                context.push(Message::text(Role::User, last.summary.clone()), None);
            }
            _ => {}
        }
        if let Kept::From(first) = last.kept {
            context.push_range(self, first.max(first_said), last.at);
        }
        context.push_range(self, last.at, end);
        context
    }
}

impl Context {
    fn push(&mut self, message: Message, source: Option<usize>) {
        self.messages.push(message);
        self.sources.push(source);
    }

    fn push_range(&mut self, conversation: &Conversation, from: usize, to: usize) {
        let range = from.min(to)..to;
        let messages = conversation.messages.get(range.clone()).unwrap_or_default();
        for (message, index) in messages.iter().zip(range) {
            self.push(message.clone(), Some(index));
        }
    }
}
