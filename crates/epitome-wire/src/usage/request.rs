//! Does a request hold more than its text says? A count of one that does tells little about text.

use crate::body::{Body, Field};
use crate::identity::Conversation;
use crate::json::{self, Value};

/// Tools that the provider runs, by the beginning of their type; what is longer than these is a version of them.
const SERVER_TOOLS: &[&str] = &[
    "web_search",
    "web_fetch",
    "code_execution",
    "tool_search",
    "mcp",
    "file_search",
    "code_interpreter",
    "image_generation",
    "builtin_function",
];

/// Top-level members that have the provider look elsewhere.
const SERVER_FIELDS: &[Field] = &[
    Field::McpServers,
    Field::WebSearchOptions,
    Field::Plugins,
    Field::PreviousResponseId,
    Field::Conversation,
];

/// Whether a request is text, reasoning, calls and results and nothing else: no images, documents or sounds, no kinds of
/// blocks that are not known, no tools that the provider runs itself, no history that it keeps.
///
/// Messages were looked at when they first came ([`Known::is_plain`](crate::Known::is_plain)); here only what stands
/// beside them is.
#[must_use]
pub fn is_plain_request(body: &Body, conversation: &Conversation) -> bool {
    let is_given = |field: &Field| body.field(*field).is_some_and(|value| value != b"null");
    conversation.messages.iter().all(|known| known.is_plain)
        && !SERVER_FIELDS.iter().any(is_given)
        && !body.field(Field::Tools).is_some_and(has_server_tools)
}

fn has_server_tools(tools: &[u8]) -> bool {
    // Most lists have none of these words, and are not read.
    let may_have = |name: &&str| memchr::memmem::find(tools, name.as_bytes()).is_some();
    if !SERVER_TOOLS.iter().any(may_have) {
        return false;
    }
    let Ok(tools) = json::read(tools) else {
        return false;
    };
    tools.items().iter().any(is_server_tool)
}

fn is_server_tool(tool: &Value<'_>) -> bool {
    let kind = tool.string("type").unwrap_or_default();
    SERVER_TOOLS.iter().any(|name| kind.starts_with(name))
}
