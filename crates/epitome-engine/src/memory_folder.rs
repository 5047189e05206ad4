//! Memories on disk: `memory/YYYY-MM-DD.md` under one folder, and nowhere else.

mod file;
pub mod flush;
mod path;
mod tool;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::civil::Date;

pub use path::MemoryPath;
pub use tool::{MEMORY_TOOL, NoteKept};

/// The longest text of one call, in bytes.
pub const TEXT_BYTES: usize = 256 << 10;
/// The largest file of one day, in bytes.
pub const DAY_BYTES: u64 = 4 << 20;

/// A folder in which an agent keeps what should outlive a conversation, one file a day.
///
/// The folder is opened once and everything below it is reached from there without following links, so that nothing
/// outside can be touched, whatever a model writes and whoever moves things around meanwhile. Files are only ever
/// appended to.
///
/// ```
/// use epitome_engine::memory_folder::{MemoryFolder, NoteKept};
///
/// # let root = tempfile::tempdir()?;
/// let folder = MemoryFolder::open(root.path())?;
/// let day = jiff::civil::date(2026, 11, 15);
/// folder.append(day, "The build needs Java 21.")?;
/// assert_eq!(folder.append(day, "The build needs Java 21.")?, NoteKept::AlreadyThere { day });
/// let text = std::fs::read_to_string(root.path().join("memory/2026-11-15.md"))?;
/// assert_eq!(text, "The build needs Java 21.\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MemoryFolder {
    root: OwnedFd,
    path: PathBuf,
    /// Looking at the last block and appending belong together.
    turn: Mutex<()>,
}

/// Why nothing was written, or not all of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The folder cannot be opened.
    #[error("the memory folder {} cannot be opened ({source}): check that it is a folder and may be written", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The path is not one of a memory file.
    #[error("`{path}` is no memory file: write to memory/YYYY-MM-DD.md, with a real date")]
    Path {
        /// What was asked for.
        path: String,
    },
    /// The arguments of a call are not understood.
    #[error(
        "the arguments are not understood ({problem}): give {{\"path\": \"memory/YYYY-MM-DD.md\", \"content\": \"…\"}}"
    )]
    Arguments {
        /// What is wrong with them.
        problem: String,
    },
    /// The text has no words.
    #[error("there is nothing to write: give the text as `content`")]
    Empty,
    /// The text is too long.
    #[error(
        "the text has {bytes} bytes and one call may write {TEXT_BYTES}: write less, or in several calls"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The day has enough.
    #[error("{path} would grow over {DAY_BYTES} bytes: keep what matters, in fewer words")]
    DayFull {
        /// The file.
        path: MemoryPath,
    },
    /// Something else stands where the file or its folder should be.
    #[error("{place} is {found}, so nothing was written: remove it")]
    NotAFile {
        /// The place, below the folder.
        place: String,
        /// What stands there.
        found: &'static str,
    },
    /// The system refused, for example because the disk is full. A part of the text may have been written.
    #[error("{path} cannot be written: {source}")]
    Write {
        /// The file.
        path: MemoryPath,
        /// What the system says.
        source: io::Error,
    },
}

impl MemoryFolder {
    /// Opens the folder, and makes it where there is none. It is the host's choice, so a link is followed here.
    ///
    /// # Errors
    /// If it cannot be made or opened.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, MemoryError> {
        let path = root.into();
        match file::open_root(&path) {
            Ok(root) => Ok(Self {
                root,
                path,
                turn: Mutex::new(()),
            }),
            Err(source) => Err(MemoryError::Folder { path, source }),
        }
    }

    /// The folder, as it was named when it was opened.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// Appends a text to the file of a day, a blank line after what stands there. Where the same text already stands
    /// last, nothing is written.
    ///
    /// It blocks the thread while the disk works. Two processes may append at the same time without mixing their
    /// texts, but then the same text may stand there twice.
    ///
    /// # Errors
    /// If the text is empty or too long, if something else stands in the file's place, or if the disk refuses.
    pub fn append(&self, day: Date, text: &str) -> Result<NoteKept, MemoryError> {
        let path = MemoryPath::of(day)?;
        let text = text.trim_end().trim_start_matches(['\n', '\r']);
        if text.is_empty() {
            return Err(MemoryError::Empty);
        }
        if text.len() > TEXT_BYTES {
            return Err(MemoryError::TooLong { bytes: text.len() });
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        file::append(&self.root, path, text)
    }
}
