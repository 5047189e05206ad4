//! Reading a file of any format.

use std::io::{BufRead, Seek};

use crate::error::ReadError;
use crate::event::Event;
use crate::format::FileFormat;
use crate::lines::rewind;
use crate::{
    aider, claude_code, cline, codex, copilot, gemini, goose, opencode, openhands, pi, swe_agent,
    tau, unified,
};

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
        FileFormat::OpenCode => opencode::read(source, emit),
        FileFormat::OpenHands => openhands::read(source, emit),
        FileFormat::SweAgent => swe_agent::read(source, emit),
        FileFormat::Tau => tau::read(source, emit),
        FileFormat::Copilot => copilot::read(source, emit),
        FileFormat::Gemini => gemini::read(source, emit),
        FileFormat::Aider => aider::read(source, emit),
        FileFormat::Goose => goose::read(source, emit),
        FileFormat::Cline => cline::read(source, emit),
        FileFormat::Unified => unified::read(source, emit),
    }
}
