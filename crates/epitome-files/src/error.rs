//! Why a file cannot be read at all.

use crate::position::Position;

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
