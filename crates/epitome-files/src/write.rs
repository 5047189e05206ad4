//! Writing session files: a whole conversation in another format, or one compaction behind what is there.
//!
//! What a format has no place for is listed as a [`Loss`], never dropped without a word. Every entry that is written
//! here carries a member `epitome`, which the agents ignore, so that reading it back gives exactly what was written.

mod append;
mod carry;
mod claude_code;
mod codex;
mod pi;
mod spell;
mod unified;

pub use append::{NewCompaction, appended};
pub use carry::{Loss, LossCode, carried};
pub use unified::chat_messages;

use crate::format::FileFormat;
use crate::transcript::Conversation;

/// What a file says of itself and cannot be taken from the conversation.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// The id of the session; ids of entries are derived from it.
    pub session_id: &'a str,
    /// The folder in which the agent works, where the conversation does not say it.
    pub folder: &'a str,
    /// The time of every entry, in milliseconds since 1970.
    pub time_ms: u64,
}

/// A file, and what of the conversation is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub bytes: Vec<u8>,
    /// What could not be carried.
    pub losses: Vec<Loss>,
}

/// The format is only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} files are only read; write pi, claude-code, codex or unified")]
pub struct Unwritable(pub FileFormat);

/// Writes a conversation as a file of another format.
///
/// # Errors
/// [`Unwritable`] for a format that is only read.
///
/// ```
/// use std::io::Cursor;
/// use epitome_files::{FileFormat, Stamp, Transcript, write_file};
///
/// let unified = r#"{"id":"u","format":"pi","messages":[{"role":"user","content":"hello"}]}"#;
/// let transcript = Transcript::collect(&mut Cursor::new(unified), FileFormat::Unified).unwrap();
/// let conversation = &transcript.conversations[0];
/// let stamp = Stamp { session_id: "s", folder: "/work", time_ms: 0 };
/// let written = write_file(conversation, FileFormat::Codex, stamp).unwrap();
/// let again = Transcript::collect(&mut Cursor::new(written.bytes), FileFormat::Codex).unwrap();
/// assert_eq!(again.conversations[0].messages, conversation.messages);
/// ```
pub fn write_file(
    conversation: &Conversation,
    format: FileFormat,
    stamp: Stamp<'_>,
) -> Result<Written, Unwritable> {
    let (carried, losses) = carried(conversation, format)?;
    let text = match format {
        FileFormat::Pi => pi::write(&carried, stamp),
        FileFormat::ClaudeCode => claude_code::write(&carried, stamp),
        FileFormat::Codex => codex::write(&carried, stamp),
        FileFormat::Unified => unified::write(&carried, stamp),
        _ => return Err(Unwritable(format)),
    };
    Ok(Written {
        bytes: text.into_bytes(),
        losses,
    })
}
