//! The tool by which a model writes memories.

use std::fmt;

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::json;

use crate::model::Tool;

use super::{MemoryError, MemoryFolder, MemoryPath};

/// The name of the tool.
pub const MEMORY_TOOL: &str = "memory_write";

/// What became of a text. Its display is what the model is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKept {
    /// It stands in the file of this day.
    Appended {
        /// The day.
        day: Date,
        /// Its length.
        bytes: usize,
    },
    /// It already stood there, as the last text.
    AlreadyThere {
        /// The day.
        day: Date,
    },
}

impl fmt::Display for NoteKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Appended { day, bytes } => {
                write!(f, "Appended {bytes} bytes to memory/{day}.md.")
            }
            Self::AlreadyThere { day } => {
                write!(
                    f,
                    "memory/{day}.md already ends with this; nothing was written."
                )
            }
        }
    }
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default, alias = "file_path", alias = "filePath", alias = "file")]
    path: Option<String>,
    #[serde(alias = "text")]
    content: String,
}

impl MemoryFolder {
    /// The tool as models see it.
    #[must_use]
    pub fn tool() -> Tool {
        Tool {
            name: MEMORY_TOOL.to_owned(),
            description: String::from(
                "Appends a note to the memory file of a day. Nothing that stands there is changed.",
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "The file: memory/YYYY-MM-DD.md, normally today's.",
                        "pattern": r"^memory/[0-9]{4}-[0-9]{2}-[0-9]{2}\.md$",
                    },
                    "content": {
                        "type": "string",
                        "description": "The note, as Markdown. It has to be understood without the conversation.",
                    },
                },
                "required": ["path", "content"],
                "additionalProperties": false,
            }),
        }
    }

    /// Carries out a call of the tool, with its arguments as the model wrote them. A call that names no path means
    /// the file of `today`.
    ///
    /// # Errors
    /// As [`MemoryFolder::append`], and where arguments or path are not understood. The error's words are fit for the
    /// model: they say what to do instead.
    pub fn call(&self, arguments: &str, today: Date) -> Result<NoteKept, MemoryError> {
        let arguments: Arguments =
            serde_json::from_str(arguments).map_err(|error| MemoryError::Arguments {
                problem: error.to_string(),
            })?;
        let day = match arguments.path {
            Some(path) => path.parse::<MemoryPath>()?.day(),
            None => today,
        };
        self.append(day, &arguments.content)
    }
}
