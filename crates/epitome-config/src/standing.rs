//! How a file stands with its user.

use std::fmt;

/// What is known of a file in the list of trusted ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// It is what was trusted.
    Trusted,
    /// It was trusted, and is another one now.
    Changed,
    /// Nobody trusted it.
    Unknown,
}

/// Why a file is not heard.
impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trusted => "it is trusted",
            Self::Changed => "it changed since it was trusted",
            Self::Unknown => "it was found in the working folder or above it and is not trusted",
        })
    }
}
