//! The names of the presets.

use std::fmt;
use std::str::FromStr;

/// Which design a conversation is compacted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PresetName {
    /// Ours: by tokens, at cuts, pins untouched.
    #[default]
    Default,
    /// Everything becomes one message.
    Vibe,
    /// Recent tokens stay, the rest becomes an entry.
    Openclaw,
    /// The summary joins the first message.
    Micro,
    /// The oldest share goes, summaries stack.
    Spacebot,
    /// Rounds of one structured summary.
    Layer,
}

impl PresetName {
    /// Every preset.
    pub const ALL: &[Self] = &[
        Self::Default,
        Self::Vibe,
        Self::Openclaw,
        Self::Micro,
        Self::Spacebot,
        Self::Layer,
    ];

    /// The name users write.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Vibe => "vibe",
            Self::Openclaw => "openclaw",
            Self::Micro => "micro",
            Self::Spacebot => "spacebot",
            Self::Layer => "layer",
        }
    }
}

impl fmt::Display for PresetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no preset of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no preset `{0}`: there are default, vibe, openclaw, micro, spacebot and layer")]
pub struct UnknownPreset(String);

impl FromStr for PresetName {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        Self::ALL
            .iter()
            .copied()
            .find(|preset| preset.as_str() == name)
            .ok_or_else(|| UnknownPreset(name.to_owned()))
    }
}
