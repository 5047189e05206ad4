//! Recorded sessions: what was said, and where a client compacted it.

use serde::Deserialize;
use thiserror::Error;

/// A session in the unified shape, whatever client recorded it.
#[derive(Clone, Debug, Deserialize)]
pub struct Session {
    /// Its name; also the seed of what is planted in it.
    pub id: String,
    /// Which client recorded it.
    pub format: String,
    /// What was said.
    pub messages: Vec<Entry>,
    /// Compactions the client made on its way.
    #[serde(default)]
    pub compactions: Vec<RealCompaction>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The client's own instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool result.
    Tool,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Entry {
    /// Who speaks.
    pub role: Speaker,
    /// The text.
    #[serde(default, deserialize_with = "text_or_nothing")]
    pub content: String,
    /// Tool calls it makes.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// The call it answers.
    #[serde(default)]
    pub tool_call_id: Option<String>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ToolCall {
    /// By which the result refers to it.
    pub id: String,
    /// The tool.
    #[serde(default, deserialize_with = "text_or_nothing")]
    pub name: String,
    /// Its arguments, usually JSON.
    pub arguments: String,
}

/// A compaction that a client made, with the summary its model wrote.
#[derive(Clone, Debug, Deserialize)]
pub struct RealCompaction {
    /// The first message after it.
    pub at: usize,
    /// The summary.
    pub summary: String,
}

/// A file that is no session.
#[derive(Debug, Error)]
#[error("not a session in the unified shape: {0}")]
pub struct NoSession(#[from] serde_json::Error);

impl Session {
    /// Reads the unified shape.
    ///
    /// # Errors
    /// [`NoSession`] says where the JSON is not of that shape.
    pub fn read(json: &[u8]) -> Result<Self, NoSession> {
        Ok(serde_json::from_slice(json)?)
    }
}

impl Entry {
    /// A message of plain text.
    #[must_use]
    pub fn text(role: Speaker, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }
}

fn text_or_nothing<'de, D: serde::Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(value)?.unwrap_or_default())
}
