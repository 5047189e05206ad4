//! The closed set of what can be wrong with a body.

use std::fmt;

/// Something that the provider would refuse, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub code: ProblemCode,
    /// Which message, unless it is about all of them.
    pub message: Option<usize>,
    /// Which block of its content (a tool call of a Chat message counts as a block of `tool_calls`).
    pub block: Option<usize>,
    /// What is wrong, and where, in one line.
    pub text: String,
}

impl Problem {
    pub(crate) fn of_all(code: ProblemCode, text: impl Into<String>) -> Self {
        Self {
            code,
            message: None,
            block: None,
            text: text.into(),
        }
    }

    pub(crate) fn at(
        code: ProblemCode,
        message: usize,
        block: Option<usize>,
        what: impl fmt::Display,
    ) -> Self {
        Self {
            code,
            message: Some(message),
            block,
            text: format!("{}: {what}", place(message, block)),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.text)
    }
}

/// How a place is named in texts.
pub(crate) fn place(message: usize, block: Option<usize>) -> String {
    match block {
        Some(block) => format!("message {}, block {}", message + 1, block + 1),
        None => format!("message {}", message + 1),
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// What can be wrong with a body.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ProblemCode {
            $($(#[$doc])* $name,)*
        }

        impl ProblemCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable code.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }
    };
}

codes! {
    /// There are no messages.
    NoMessages = "no_messages",
    /// A message is not JSON inside: a broken escape, a control character, bytes that are not UTF-8.
    UnreadableMessage = "unreadable_message",
    /// A message is not an object.
    NotAnObject = "not_an_object",
    /// A string holds half of a surrogate pair.
    LoneSurrogate = "lone_surrogate",
    /// A message has no role, or one that the format does not know.
    UnknownRole = "unknown_role",
    /// The first message is not the user's.
    FirstNotUser = "first_not_user",
    /// A note of the system stands before a message of the user.
    MisplacedNote = "misplaced_note",
    /// The content, or the list of calls, has the wrong type.
    MalformedContent = "malformed_content",
    /// A block is not an object with a type.
    MalformedBlock = "malformed_block",
    /// A block stands in a message whose role cannot have it.
    MisplacedBlock = "misplaced_block",
    /// A message says nothing.
    EmptyMessage = "empty_message",
    /// A block of text is empty.
    EmptyText = "empty_text",
    /// A call or a result has no id to pair it by.
    MissingId = "missing_id",
    /// A call does not name its tool.
    MissingName = "missing_name",
    /// The arguments of a call have the wrong type.
    MalformedArguments = "malformed_arguments",
    /// An item's id does not begin as its kind asks for.
    MalformedId = "malformed_id",
    /// A result has nothing where its content belongs.
    MissingOutput = "missing_output",
    /// Two calls of one step have the same id.
    RepeatedCallId = "repeated_call_id",
    /// A call has the id of a call of an earlier step.
    ReusedCallId = "reused_call_id",
    /// A call in the middle is not answered.
    UnansweredCall = "unanswered_call",
    /// The history ends in a call that is not answered yet.
    CallInFlight = "call_in_flight",
    /// A result answers no call.
    OrphanResult = "orphan_result",
    /// A call is answered twice.
    RepeatedResult = "repeated_result",
    /// A result does not stand right behind its call.
    LateResult = "late_result",
    /// A result stands behind other content of its message.
    ResultBehindText = "result_behind_text",
    /// The results of one step are spread over several messages.
    SplitResults = "split_results",
    /// A result stands in a message of the wrong role or form.
    MisplacedResult = "misplaced_result",
    /// A server-side tool's call has no result in the same content, or a result no call.
    UnpairedServerTool = "unpaired_server_tool",
    /// Thinking stands at the end of a message.
    EndsInThinking = "ends_in_thinking",
    /// A block of thinking holds no thinking.
    MissingThinking = "missing_thinking",
    /// A block of thinking is not signed.
    MissingSignature = "missing_signature",
    /// More cache marks than a request may have.
    TooManyCacheMarks = "too_many_cache_marks",
    /// A cache mark on thinking or on empty text.
    MisplacedCacheMark = "misplaced_cache_mark",
    /// Reasoning without what it led to right behind it.
    LoneReasoning = "lone_reasoning",
    /// A reasoning item without its list of summaries.
    MalformedReasoning = "malformed_reasoning",
    /// An answer lost its beginning, and its items still name themselves as parts of it.
    CutAnswer = "cut_answer",
    /// A wish for a compaction that is not the last item.
    MisplacedTrigger = "misplaced_trigger",
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
