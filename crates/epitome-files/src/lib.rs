//! Session files of agents: what was said in them, in the order it was said.
//!
//! Every format is read as a stream of [`Event`]s, a line or an item at a time, so that a file of any size takes
//! little memory; [`Transcript::collect`] keeps what the stream says, [`Counts`] only counts it. What is wrong with
//! a file is an event too: a torn last line, an entry of an unknown kind, a broken parent. Only a file that cannot
//! be read at all is an error.
//!
//! - what a file is: [`FileFormat::sniff`]; reading: [`read_file`]
//! - each format is one module with one function `read`; three of them also have a `write`
//!
//! Nothing here opens a file: the caller does.
#![warn(missing_docs)]

mod aider;
mod blocks;
mod claude_code;
mod cline;
mod codex;
mod copilot;
mod counts;
mod document;
mod error;
mod event;
mod format;
mod gemini;
mod goose;
mod lines;
mod opencode;
mod openhands;
mod pi;
mod position;
mod problem;
mod read;
mod repair;
mod sniff;
mod swe_agent;
mod tau;
mod time;
mod transcript;
mod unified;
mod write;

pub use blocks::flat_text;
pub use counts::Counts;
pub use error::ReadError;
pub use event::{CacheUsage, Event, Kept, Origin, Recorded, RecordedKind, Tip, Usage};
pub use format::FileFormat;
pub use position::Position;
pub use problem::{Problem, ProblemCode, Problems};
pub use read::read_file;
pub use repair::{NO_RESULT, RepairError, RepairedFile, repaired};
pub use sniff::SNIFF_BYTES;
pub use transcript::{Context, Conversation, Transcript};
pub use write::{
    Loss, LossCode, NewCompaction, Stamp, Unwritable, Written, appended, carried, chat_messages,
    write_file,
};
