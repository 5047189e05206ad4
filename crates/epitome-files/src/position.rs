//! Where something stands in a file.

use std::fmt;

/// A place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The first byte.
    pub byte: u64,
    /// The line, from 1, in files that are made of lines.
    pub line: Option<u64>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}"),
            None => write!(f, "byte {}", self.byte),
        }
    }
}
