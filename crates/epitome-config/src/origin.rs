//! Where a value comes from.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use epitome::PresetName;

/// Where a value comes from.
///
/// ```
/// use epitome_config::Origin;
///
/// let origin = Origin::File { path: std::path::Path::new("epitome.toml").into(), line: 3 };
/// assert_eq!(origin.to_string(), "epitome.toml:3");
/// assert_eq!(Origin::Default.to_string(), "default");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is the same in every preset.
    Default,
    /// A preset has it so.
    Preset(PresetName),
    /// A file says so.
    File {
        /// Which file.
        path: Arc<Path>,
        /// The line, from 1; 0 is the whole file.
        line: usize,
    },
    /// A variable of the environment.
    Variable(String),
    /// A flag of the command line.
    Flag(String),
}

impl Origin {
    /// A whole file.
    pub(crate) fn of_file(path: &Path) -> Self {
        let path = path.into();
        Self::File { path, line: 0 }
    }

    /// Whether nobody set it.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        matches!(self, Self::Default | Self::Preset(_))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(preset) => write!(f, "default of {preset}"),
            Self::File { path, line: 0 } => write!(f, "{}", path.display()),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}
