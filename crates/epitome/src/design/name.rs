//! The names of the designs that are built in. One more is a file beside this one, and a line in each list here and in
//! `own`.

use std::fmt;
use std::str::FromStr;

use super::Design;

/// A named bundle of choices: ours, or one of the five reference designs.
///
/// ```
/// use epitome::PresetName;
///
/// let preset: PresetName = "openclaw".parse()?;
/// assert_eq!(preset, PresetName::Openclaw);
/// assert_eq!(preset.to_string(), "openclaw");
/// # Ok::<(), epitome::UnknownPreset>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PresetName {
    /// Ours.
    #[default]
    Default,
    /// One absolute threshold; everything after the system prompt becomes one message.
    Vibe,
    /// Window minus reserve; recent tokens and split turns; session files.
    Openclaw,
    /// One estimate; a summary inside the first message.
    Micro,
    /// Three tiers; summaries stack.
    Spacebot,
    /// A share of what the reserves leave; rounds.
    Layer,
}

/// A name that no preset has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a preset: use {}", PresetName::listed())]
pub struct UnknownPreset {
    /// What was given.
    pub name: String,
}

impl PresetName {
    /// Every preset, ours first, then the references in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Default,
        Self::Vibe,
        Self::Openclaw,
        Self::Micro,
        Self::Spacebot,
        Self::Layer,
    ];

    /// The name in configuration and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.design().name
    }

    /// What the name stands for.
    #[must_use]
    pub const fn design(self) -> &'static Design {
        match self {
            Self::Default => &super::default::DESIGN,
            Self::Vibe => &super::vibe::DESIGN,
            Self::Openclaw => &super::openclaw::DESIGN,
            Self::Micro => &super::micro::DESIGN,
            Self::Spacebot => &super::spacebot::DESIGN,
            Self::Layer => &super::layer::DESIGN,
        }
    }

    /// All of them, for a sentence.
    fn listed() -> String {
        let names = Self::ALL.map(|name| format!("`{name}`"));
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

impl fmt::Display for PresetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for PresetName {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.as_str() == name)
            .ok_or_else(|| UnknownPreset {
                name: name.to_owned(),
            })
    }
}
