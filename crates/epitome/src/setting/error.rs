//! What can be wrong with a configuration, and what is only worth a word.

use std::fmt;

use super::key::Bounds;

/// A configuration that cannot be used. Every variant names the key as it is written in the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// No setting has this name.
    #[error("`{path}` is not a setting{hint}")]
    UnknownKey {
        /// Where it stands.
        path: String,
        /// What may be meant.
        hint: Hint,
    },
    /// The value is of another kind.
    #[error("`{path}` wants {expected}, not {found}")]
    WrongType {
        /// Where it stands.
        path: String,
        /// What may stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// The number is too small or too large.
    #[error("`{path}` is {value}: it has to be {bounds}")]
    OutOfBounds {
        /// Where it stands.
        path: String,
        /// The number.
        value: f64,
        /// What it may be.
        bounds: Bounds,
    },
    /// One setting stands there twice, in two spellings or in two places.
    #[error("`{first}` and `{second}` are the same setting: keep one of them")]
    GivenTwice {
        /// Where it stands first.
        first: String,
        /// Where it stands again.
        second: String,
    },
    /// A tier lies above the next one.
    #[error(
        "`{lower}` is {lower_value}, above `{upper}` at {upper_value}: \
         tiers go up from background over aggressive to emergency"
    )]
    TiersOutOfOrder {
        /// The tier that should be lower.
        lower: String,
        /// Its share of the window.
        lower_value: f64,
        /// The tier that should be higher.
        upper: String,
        /// Its share of the window.
        upper_value: f64,
    },
    /// Two agents have one id.
    #[error("two agents are called `{id}`: put the settings of an agent in one place")]
    AgentTwice {
        /// The id.
        id: String,
    },
}

/// A key of a reference design's own file that nothing here reads. Such a file has other readers too, so this is no
/// error; a close name may be a slip all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where it stands.
    pub path: String,
    /// What may be meant.
    pub hint: Hint,
}

/// What an unknown key may be meant to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// No known name is near.
    Nothing,
    /// This one is.
    Nearest(String),
    /// Another preset has a setting of this name.
    OfPreset(&'static str),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not read here{}", self.path, self.hint)
    }
}

/// The end of a sentence.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Nearest(name) => write!(f, ": did you mean `{name}`?"),
            Self::OfPreset(preset) => write!(f, ": it belongs to the preset `{preset}`"),
        }
    }
}
