//! The validity rules of the request formats, checked on parsed JSON.
//!
//! The checks name what the real provider would refuse. Where a provider tolerates something harmful (empty
//! assistant text, a reused call identifier) the check is stricter, because a rewriter must never produce it.

mod anthropic;
mod openai_chat;
mod openai_responses;
mod thinking;

use std::fmt;

use serde_json::Value;

use crate::Wire;

pub use anthropic::{anthropic, anthropic_foreign};
pub use openai_chat::openai_chat;
pub use openai_responses::openai_responses;

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The body is not JSON.
    UnparsableBody,
    /// The body is no object, or `messages` is missing or no array.
    MissingMessages,
    /// `messages` is empty.
    EmptyMessages,
    /// A role that the format does not know.
    UnknownRole,
    /// The conversation does not start with a user message.
    FirstMessageNotUser,
    /// A note of the system inside the messages that is followed by a message of the user.
    MisplacedSystem,
    /// A field has the wrong type or a required one is missing.
    MalformedContent,
    /// A block stands in a message whose role cannot have it.
    MisplacedBlock,
    /// A message without content.
    EmptyContent,
    /// A text block without visible text.
    EmptyText,
    /// A call that is not answered at once.
    UnansweredCall,
    /// A result without its call just before it.
    UnexpectedResult,
    /// A second result for the same call.
    DuplicateResult,
    /// Two calls with the same identifier.
    DuplicateCallId,
    /// A result that stands behind other content of its message.
    ResultAfterText,
    /// Arguments of a call that are not a string (OpenAI) or not an object (Anthropic).
    MalformedArguments,
    /// More cache marks than a request may have.
    TooManyCacheMarks,
    /// A cache mark on a thinking block.
    CacheMarkOnThinking,
    /// An assistant message whose last block is thinking.
    EndsInThinking,
    /// A thinking block without its text.
    MissingThinking,
    /// A thinking block without signature.
    MissingSignature,
    /// A thinking block whose text does not fit its signature.
    InvalidSignature,
    /// A call of a server-side tool without its result in the same assistant content.
    UnpairedServerTool,
    /// A reasoning item without the item it led to right behind it.
    LoneReasoning,
    /// An item that a reasoning item led to, without that reasoning item.
    MissingReasoning,
    /// An identifier that does not begin as its kind of item asks for.
    MalformedId,
    /// A reference to an item or an answer that the provider does not have.
    UnknownReference,
    /// A wish for a compaction that is not the last item.
    MisplacedTrigger,
}

/// One broken rule and where it is broken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// Index in `messages`, when it is about a message.
    pub message: Option<usize>,
    /// Index of the content block or tool call in that message, when it is about one.
    pub block: Option<usize>,
    /// What a provider would say about it.
    pub detail: String,
}

impl Violation {
    /// A violation that concerns the request as a whole.
    #[must_use]
    pub fn of_request(rule: Rule, detail: impl Into<String>) -> Self {
        Self {
            rule,
            message: None,
            block: None,
            detail: detail.into(),
        }
    }

    pub(crate) fn of_message(rule: Rule, message: usize, detail: impl Into<String>) -> Self {
        Self {
            message: Some(message),
            ..Self::of_request(rule, detail)
        }
    }

    pub(crate) fn of_block(
        rule: Rule,
        message: usize,
        block: usize,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            block: Some(block),
            ..Self::of_message(rule, message, detail)
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.message, self.block) {
            (Some(message), Some(block)) => {
                write!(formatter, "messages.{message}.content.{block}: ")?;
            }
            (Some(message), None) => write!(formatter, "messages.{message}: ")?,
            _ => {}
        }
        formatter.write_str(&self.detail)
    }
}

/// Checks a request in the given format.
#[must_use]
pub fn check(wire: Wire, request: &Value) -> Vec<Violation> {
    match wire {
        Wire::OpenaiChat => openai_chat(request),
        Wire::OpenaiResponses => openai_responses(request),
        Wire::Anthropic => anthropic(request),
    }
}

/// Parses a body and checks it; a body that is not JSON has exactly one violation.
///
/// # Errors
///
/// The violation [`Rule::UnparsableBody`] when there is no JSON to check.
pub fn check_bytes(wire: Wire, body: &[u8]) -> Result<(Value, Vec<Violation>), Violation> {
    match serde_json::from_slice(body) {
        Ok(request) => {
            let violations = check(wire, &request);
            Ok((request, violations))
        }
        Err(error) => Err(Violation::of_request(
            Rule::UnparsableBody,
            format!("We could not parse the JSON body of your request: {error}"),
        )),
    }
}

/// The messages to check, or the reason why there are none.
fn messages_of(request: &Value) -> Result<&[Value], Violation> {
    let messages = request
        .get("messages")
        .and_then(Value::as_array)
        .ok_or_else(|| Violation::of_request(Rule::MissingMessages, "messages: Field required"))?;
    if messages.is_empty() {
        return Err(Violation::of_request(
            Rule::EmptyMessages,
            "messages: at least one message is required",
        ));
    }
    Ok(messages)
}
