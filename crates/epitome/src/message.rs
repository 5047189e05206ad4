//! What the core knows of a message: who speaks and which blocks it is made of.

/// Stands before a summary where a provider wants a user message first. Nobody typed it.
pub(crate) const OPENING: &str = "(The conversation goes on from the summary below.)";

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The client's own instructions (`system`, `developer`), wherever they stand.
    System,
    /// The person, or whatever speaks for them. Anthropic tool results arrive in this role too.
    User,
    /// The model.
    Assistant,
    /// A message that is nothing but a tool result (OpenAI Chat).
    Tool,
}

impl Role {
    /// The word used in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// One message, decoded once when it arrived. Its raw bytes live beside it, never inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What was said, called or returned, in order.
    pub blocks: Vec<Block>,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Visible text.
    Text(String),
    /// Text that a client put in by itself, such as a system reminder. It takes room but is not part of
    /// what anybody said: it feeds no summary, no pin and no recall.
    Injected(String),
    /// Reasoning that only its provider may read; kept or dropped whole.
    Thinking {
        /// Characters it takes.
        chars: usize,
    },
    /// A tool call.
    Call(Call),
    /// The result of a tool call.
    Result(ToolResult),
    /// An image, document or sound.
    Media(Media),
    /// A block of a kind this version does not know, or a whole message of one. Counted, never read.
    Opaque {
        /// Characters it takes.
        chars: usize,
        /// Ids that stand in it: what has one of them too may belong to it.
        ids: Box<[Box<str>]>,
    },
}

impl Block {
    /// A block that nothing is known of but its size.
    #[must_use]
    pub fn opaque(chars: usize) -> Self {
        Self::Opaque {
            chars,
            ids: Box::default(),
        }
    }
}

/// A tool call as the model made it. Its texts never grow, so they carry no spare room: a block is as large as its
/// largest kind, and a long history has very many blocks.
///
/// ```
/// use epitome::Call;
///
/// let call = Call::new("call_1", "read", r#"{"path":"src/main.rs"}"#);
/// assert_eq!(&*call.name, "read");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The provider's id, by which the result refers to it.
    pub id: Box<str>,
    /// The tool's name.
    pub name: Box<str>,
    /// The arguments as text. Usually JSON, but models also write text that is not.
    pub arguments: Box<str>,
}

impl Call {
    /// A call of a tool.
    pub fn new(
        id: impl Into<Box<str>>,
        name: impl Into<Box<str>>,
        arguments: impl Into<Box<str>>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

/// What a tool returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call it answers.
    pub call_id: Box<str>,
    /// Its content in order.
    pub parts: Vec<ResultPart>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

/// One part of a tool result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultPart {
    /// Text output.
    Text(String),
    /// An image, document or sound.
    Media(Media),
    /// A part of a kind this version does not know.
    Opaque {
        /// Characters it takes.
        chars: usize,
    },
}

/// An image, document or sound, known only by what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// What a person calls it: `image`, `document`, `audio`.
    pub kind: String,
    /// Estimated tokens it takes.
    pub tokens: u32,
}

/// Tokens assumed for a medium whose size is not known.
pub const MEDIA_TOKENS: u32 = 1_600;

impl Message {
    /// A message of one text block.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            blocks: vec![Block::Text(text.into())],
        }
    }

    /// What somebody said in it, without tool traffic, thinking or injected text; one item per text block.
    pub fn spoken(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Its tool calls.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Whether it holds pictures, documents or sound, whose size no text tells.
    #[must_use]
    pub fn has_media(&self) -> bool {
        self.blocks.iter().any(|block| match block {
            Block::Media(_) => true,
            Block::Result(result) => {
                let mut parts = result.parts.iter();
                parts.any(|part| matches!(part, ResultPart::Media(_)))
            }
            _ => false,
        })
    }

    /// Its tool results.
    pub fn results(&self) -> impl Iterator<Item = &ToolResult> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Result(result) => Some(result),
            _ => None,
        })
    }

    /// Whether nothing is known of it: neither what it says nor, perhaps, who speaks.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        let is_opaque = |block: &Block| matches!(block, Block::Opaque { .. });
        !self.blocks.is_empty() && self.blocks.iter().all(is_opaque)
    }

    /// Whether it is thinking and nothing else.
    #[must_use]
    pub fn is_only_thinking(&self) -> bool {
        let is_thinking = |block: &Block| matches!(block, Block::Thinking { .. });
        self.role == Role::Assistant
            && !self.blocks.is_empty()
            && self.blocks.iter().all(is_thinking)
    }
}

impl ToolResult {
    /// The text parts of the result.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            ResultPart::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }
}
