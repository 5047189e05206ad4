use serde_json::Value;

/// One of the request formats the testkit speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wire {
    /// OpenAI Chat Completions.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
}

impl Wire {
    /// All formats, for loops in tests.
    pub const ALL: [Self; 3] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic];

    /// The formats whose conversation is a list of messages with roles, called `messages`.
    pub const MESSAGES: [Self; 2] = [Self::OpenaiChat, Self::Anthropic];

    /// Guesses the format of a request from what only one of them has.
    ///
    /// A request without any telling feature counts as OpenAI Chat.
    #[must_use]
    pub fn of(request: &Value) -> Self {
        if request.get("system").is_some() {
            return Self::Anthropic;
        }
        if request.get("input").is_some() {
            return Self::OpenaiResponses;
        }
        let messages = messages(request);
        let has_anthropic_block = messages.iter().flat_map(blocks).any(|block| {
            matches!(
                block_type(block),
                "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image"
            )
        });
        if has_anthropic_block {
            Self::Anthropic
        } else {
            Self::OpenaiChat
        }
    }

    /// The path of the endpoint that takes these requests.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::OpenaiChat => "/v1/chat/completions",
            Self::OpenaiResponses => "/v1/responses",
            Self::Anthropic => "/v1/messages",
        }
    }

    /// The member of a request that holds the conversation.
    #[must_use]
    pub const fn list_name(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::Anthropic => "messages",
            Self::OpenaiResponses => "input",
        }
    }
}

/// The conversation of a request, or nothing when it is absent.
pub(crate) fn messages(request: &Value) -> &[Value] {
    match request.get("messages") {
        Some(_) => array(request, "messages"),
        None => array(request, "input"),
    }
}

/// Whether an item of Responses is something the model put out.
pub(crate) fn is_models_item(item: &Value) -> bool {
    match block_type(item) {
        "" | "message" => text(item, "role") == "assistant",
        kind => !kind.ends_with("_output") && kind != "mcp_approval_response",
    }
}

/// An array field, or nothing when it is absent or of another type.
pub(crate) fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The content blocks of a message; a string content has none.
pub(crate) fn blocks(message: &Value) -> &[Value] {
    array(message, "content")
}

/// A string field, or the empty string.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

/// The `type` of a block.
pub(crate) fn block_type(block: &Value) -> &str {
    text(block, "type")
}
