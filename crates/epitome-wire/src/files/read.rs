//! Reading a file of any format.

use std::io::{BufRead, Seek, SeekFrom};

use super::event::{Event, Position};
use super::format::FileFormat;
use super::{aider, claude_code, codex, copilot, gemini, openhands, pi, swe_agent, tau, unified};

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file system says no.
    #[error("cannot be read at {position}")]
    Io {
        /// How far reading came.
        position: Position,
        /// What it says.
        source: std::io::Error,
    },
    /// A line, or an item of a document, is longer than anything sensible.
    #[error("{position} is longer than {limit} bytes, which no session file needs")]
    TooLong {
        /// Where it begins.
        position: Position,
        /// The longest that is read.
        limit: usize,
    },
    /// A document breaks before anything could be read.
    #[error("{what} at {position}")]
    Broken {
        /// Where.
        position: Position,
        /// What is wrong.
        what: &'static str,
    },
    /// Somebody wrote to the file between two looks at it.
    #[error("changed while it was read, at {position}; read it again")]
    Changed {
        /// Where it was noticed.
        position: Position,
    },
}

/// Reads a file and hands over what it says, in order. Little is kept meanwhile: a line or an item, and of files
/// whose entries are a tree the ids.
///
/// # Errors
/// [`ReadError`] when the file cannot be read at all; what is wrong in a readable file is an [`Event::Problem`].
pub fn read_file<R: BufRead + Seek>(
    source: &mut R,
    format: FileFormat,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    rewind(source)?;
    match format {
        FileFormat::Pi => pi::read(source, emit),
        FileFormat::ClaudeCode => claude_code::read(source, emit),
        FileFormat::Codex => codex::read(source, emit),
        FileFormat::OpenHands => openhands::read(source, emit),
        FileFormat::SweAgent => swe_agent::read(source, emit),
        FileFormat::Tau => tau::read(source, emit),
        FileFormat::Copilot => copilot::read(source, emit),
        FileFormat::Gemini => gemini::read(source, emit),
        FileFormat::Aider => aider::read(source, emit),
        FileFormat::Unified => unified::read(source, emit),
    }
}

/// Back to the first byte.
pub(super) fn rewind<R: Seek>(source: &mut R) -> Result<(), ReadError> {
    source
        .seek(SeekFrom::Start(0))
        .map(|_| ())
        .map_err(|source| ReadError::Io {
            position: Position::default(),
            source,
        })
}
