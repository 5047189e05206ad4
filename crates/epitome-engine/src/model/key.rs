//! A secret that is read when it is needed and shown to nobody.

use std::fmt;
use std::path::PathBuf;

use super::borrowed::Borrowed;

/// Where the key of an endpoint comes from. Neither its text form nor any error holds the key itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// The endpoint wants none.
    #[default]
    None,
    /// An environment variable.
    Environment(String),
    /// A file with nothing else in it.
    File(PathBuf),
    /// What a client brought along for its own request.
    Borrowed(Borrowed),
}

/// Why a key could not be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The variable is not set, or empty.
    #[error("the environment variable `{name}` holds no key: set it, or name another")]
    NotSet {
        /// Its name.
        name: String,
    },
    /// The file cannot be read.
    #[error("the key file {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is something in it that cannot stand in a header.
    #[error("the key from {origin} has characters that cannot be sent: only visible ASCII can")]
    Unsendable {
        /// The variable or the file.
        origin: String,
    },
}

/// A key in hand.
#[derive(Clone)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Key {
    /// Reads it, each time anew: keys are exchanged while programs run.
    pub(super) fn read(&self) -> Result<Option<Secret>, KeyError> {
        let (text, origin) = match self {
            Self::None | Self::Borrowed(_) => return Ok(None),
            Self::Environment(name) => {
                let not_set = || KeyError::NotSet { name: name.clone() };
                let text = std::env::var(name).map_err(|_| not_set())?;
                if text.trim().is_empty() {
                    return Err(not_set());
                }
                (text, name.clone())
            }
            Self::File(path) => {
                let unreadable = |source| KeyError::Unreadable {
                    path: path.clone(),
                    source,
                };
                let text = std::fs::read_to_string(path).map_err(unreadable)?;
                (text, path.display().to_string())
            }
        };
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::Unsendable { origin });
        }
        Ok(Some(Secret(text.to_owned())))
    }
}
