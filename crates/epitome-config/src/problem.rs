//! What can be wrong with a configuration, and where.

use std::fmt;

use epitome::settings::SettingsError;

use crate::origin::Origin;
use crate::standing::Standing;

/// One thing that is wrong, with the place to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Where it stands.
    pub origin: Origin,
    /// What it is.
    pub kind: ProblemKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A setting is unknown, of another kind, out of bounds, given twice, or out of order.
    #[error(transparent)]
    Setting(#[from] SettingsError),
    /// The file is not TOML. The line itself is not shown: it may hold a key.
    #[error("not TOML: {message} (column {column})")]
    Syntax {
        /// What the parser says.
        message: String,
        /// The character of the line, from 1.
        column: usize,
    },
    /// The file cannot be read.
    #[error("cannot read it: {reason}")]
    Unreadable {
        /// What the system says, or what it is instead.
        reason: String,
    },
    /// A key stands in the file.
    #[error(
        "`{path}` would put a key into a file: name an environment variable with `key_env` or a file with \
         `key_file` instead"
    )]
    KeyInFile {
        /// Where it stands.
        path: String,
    },
    /// A project's file sets what only its owner may set; a warning only.
    #[error(
        "ignored `{}`: {standing}; run `epitome config trust` there to obey it",
        ignored.join("`, `")
    )]
    NotTrusted {
        /// The settings, as they are written.
        ignored: Vec<String>,
        /// Why it is not heard.
        standing: Standing,
    },
    /// No setting belongs to a variable; a warning only.
    #[error("{name} sets nothing{}", suggestion(.nearest.as_deref()))]
    UnknownVariable {
        /// The variable.
        name: String,
        /// The one that may be meant.
        nearest: Option<String>,
    },
}

impl ProblemKind {
    /// A word for scripts.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Setting(SettingsError::UnknownKey { .. }) => "unknown_key",
            Self::Setting(SettingsError::WrongType { .. }) => "wrong_type",
            Self::Setting(SettingsError::OutOfBounds { .. }) => "out_of_bounds",
            Self::Setting(SettingsError::GivenTwice { .. }) => "given_twice",
            Self::Setting(SettingsError::TiersOutOfOrder { .. }) => "tiers_out_of_order",
            Self::Setting(SettingsError::AgentTwice { .. }) => "agent_twice",
            Self::Setting(_) => "setting",
            Self::Syntax { .. } => "syntax",
            Self::Unreadable { .. } => "unreadable",
            Self::KeyInFile { .. } => "key_in_file",
            Self::NotTrusted { .. } => "not_trusted",
            Self::UnknownVariable { .. } => "unknown_variable",
        }
    }
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(": did you mean {name}?"))
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.kind)
    }
}

/// A configuration that cannot be used: everything that is wrong with it, a line each.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", lines(.problems))]
pub struct ConfigError {
    /// What is wrong, file by file and from top to bottom; never empty.
    pub problems: Vec<Problem>,
}

fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
