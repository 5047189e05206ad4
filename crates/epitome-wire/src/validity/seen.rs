//! A message as the rules about several messages see it: who speaks, and which calls and results it holds.

use crate::json::{Kind, Value};
use crate::wire::Wire;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
    System,
    Tool,
    /// Somebody the format does not know, or a message that cannot be read.
    Unknown,
}

/// A block, as far as pairs are concerned. An id that is missing is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Call(String),
    Result(String),
    ServerCall(String),
    ServerResult(String),
    Reasoning,
    Other,
}

/// A message.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) speaker: Speaker,
    pub(crate) pieces: Vec<Piece>,
    /// Whether it was put out by the model; an item of Responses may be without being a message.
    pub(crate) is_models: bool,
}

/// Calls of Responses and the outputs that answer them.
pub(crate) const PAIRS: &[(&str, &str)] = &[
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("local_shell_call", "local_shell_call_output"),
    ("shell_call", "shell_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
    ("computer_call", "computer_call_output"),
    ("tool_search_call", "tool_search_output"),
];

impl Seen {
    pub(crate) fn of(wire: Wire, message: Option<&Value<'_>>) -> Self {
        let Some(message) = message else {
            return Self {
                speaker: Speaker::Unknown,
                pieces: Vec::new(),
                is_models: false,
            };
        };
        match wire {
            Wire::OpenAiChat => chat(message),
            Wire::OpenAiResponses => item(message),
            Wire::Anthropic => anthropic(message),
        }
    }

    /// Whether Anthropic takes it as no first message. Of one that cannot be understood nothing is said here.
    pub(crate) fn is_no_opening(&self) -> bool {
        !matches!(self.speaker, Speaker::User | Speaker::Unknown)
    }

    pub(crate) fn has_call(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Call(_)))
    }
}

fn text(value: &Value<'_>, name: &str) -> String {
    value.string(name).unwrap_or_default().into_owned()
}

fn speaker(message: &Value<'_>) -> Speaker {
    match message.string("role").as_deref() {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        Some("system" | "developer") => Speaker::System,
        Some("tool") => Speaker::Tool,
        _ => Speaker::Unknown,
    }
}

fn anthropic(message: &Value<'_>) -> Seen {
    let speaker = speaker(message);
    let pieces = match message.get("content").map(|content| &content.kind) {
        Some(Kind::Array(blocks)) => blocks.iter().map(block).collect(),
        None => Vec::new(),
        Some(_) => vec![Piece::Other],
    };
    Seen {
        speaker,
        pieces,
        is_models: speaker == Speaker::Assistant,
    }
}

fn block(block: &Value<'_>) -> Piece {
    match block.string("type").as_deref() {
        Some("tool_use") => Piece::Call(text(block, "id")),
        Some("server_tool_use" | "mcp_tool_use") => Piece::ServerCall(text(block, "id")),
        Some("tool_result") => Piece::Result(text(block, "tool_use_id")),
        Some(name) if name.ends_with("_tool_result") => {
            Piece::ServerResult(text(block, "tool_use_id"))
        }
        _ => Piece::Other,
    }
}

fn chat(message: &Value<'_>) -> Seen {
    let speaker = speaker(message);
    let pieces = match speaker {
        Speaker::Tool => vec![Piece::Result(text(message, "tool_call_id"))],
        Speaker::Assistant => message
            .get("tool_calls")
            .map_or(&[][..], Value::items)
            .iter()
            .map(|call| Piece::Call(text(call, "id")))
            .collect(),
        _ => Vec::new(),
    };
    Seen {
        speaker,
        pieces,
        is_models: speaker == Speaker::Assistant,
    }
}

fn item(item: &Value<'_>) -> Seen {
    let kind = text(item, "type");
    if matches!(kind.as_str(), "" | "message") {
        let speaker = speaker(item);
        return Seen {
            speaker,
            pieces: Vec::new(),
            is_models: speaker == Speaker::Assistant,
        };
    }
    let is_call = PAIRS.iter().any(|(call, _)| *call == kind);
    let is_output = PAIRS.iter().any(|(_, output)| *output == kind);
    let id = text(item, result_member(Wire::OpenAiResponses, item));
    // The provider searches for tools itself, and then neither side has an id.
    let is_own_search = kind.starts_with("tool_search") && id.is_empty();
    let piece = match kind.as_str() {
        "reasoning" => Piece::Reasoning,
        _ if is_own_search => Piece::Other,
        _ if is_call => Piece::Call(id),
        _ if is_output => Piece::Result(id),
        _ => Piece::Other,
    };
    let is_clients = kind.ends_with("_output")
        || matches!(kind.as_str(), "mcp_approval_response" | "additional_tools");
    Seen {
        speaker: match (&piece, is_clients) {
            (Piece::Result(_), _) => Speaker::Tool,
            (_, true) => Speaker::System,
            (_, false) => Speaker::Assistant,
        },
        pieces: vec![piece],
        is_models: !is_clients,
    }
}

/// The object that holds the id of a call, and the member's name.
pub(crate) fn call_member<'v, 'a>(
    wire: Wire,
    message: &'v Value<'a>,
    block: usize,
) -> Option<(&'v Value<'a>, &'static str)> {
    match wire {
        Wire::OpenAiChat => Some((message.get("tool_calls")?.items().get(block)?, "id")),
        Wire::OpenAiResponses => Some((message, "call_id")),
        Wire::Anthropic => Some((message.get("content")?.items().get(block)?, "id")),
    }
}

/// The member that says which call a result answers, in the object of the result.
pub(crate) fn result_member(wire: Wire, result: &Value<'_>) -> &'static str {
    match wire {
        Wire::OpenAiChat => "tool_call_id",
        Wire::Anthropic => "tool_use_id",
        Wire::OpenAiResponses => {
            let is_shell = result.string("type").as_deref() == Some("local_shell_call_output");
            let has_call_id = result.string("call_id").is_some_and(|id| !id.is_empty());
            if is_shell && !has_call_id {
                "id"
            } else {
                "call_id"
            }
        }
    }
}
