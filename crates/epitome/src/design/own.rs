//! The settings of every design, and what they mean to it.

use super::{
    DefaultSettings, LayerSettings, MicroSettings, OpenclawSettings, Preset, SpacebotSettings,
    VibeSettings,
};
use crate::preset_name::PresetName;
use crate::pruning::PruneSettings;
use crate::setting::{Fields, SettingsError};
use crate::window::Margins;

/// The settings that belong to one preset.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is the preset it is named after")]
pub enum DesignSettings {
    Default(DefaultSettings),
    Vibe(VibeSettings),
    Openclaw(OpenclawSettings),
    Micro(MicroSettings),
    Spacebot(SpacebotSettings),
    Layer(LayerSettings),
}

/// What the settings of a design mean to it. What a design does not say is as for all.
pub(crate) trait Own: Fields {
    /// Puts what is set in place of the design's own choices. What a summary may take is not set yet.
    fn choose(&self, preset: &mut Preset);

    /// Puts what is set in place of the design's own pruning.
    fn prune(&self, _settings: &mut PruneSettings) {}

    /// What is kept free of a window, and how early one acts.
    fn margins(&self) -> Margins {
        Margins::default()
    }

    /// Whether people are warned once per cycle.
    fn warns(&self) -> bool {
        false
    }

    /// The most characters of a transcript.
    fn input_chars(&self) -> Option<usize> {
        None
    }

    /// Whether a long history is summarised in parts even where it would fit one request.
    fn is_staged(&self) -> bool {
        false
    }

    /// The tokens at which it compacts, where it asks for no window.
    fn windowless_tokens(&self) -> Option<u64> {
        None
    }

    /// Looks at settings that depend on each other. `written` is where a setting stands, as it is written.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check(&self, _written: &dyn Fn(&str) -> String) -> Result<(), SettingsError> {
        Ok(())
    }
}

impl DesignSettings {
    /// The settings of a preset as its reference has them.
    pub(crate) fn of(preset: PresetName) -> Self {
        match preset {
            PresetName::Default => Self::Default(DefaultSettings::default()),
            PresetName::Vibe => Self::Vibe(VibeSettings::default()),
            PresetName::Openclaw => Self::Openclaw(OpenclawSettings::default()),
            PresetName::Micro => Self::Micro(MicroSettings::default()),
            PresetName::Spacebot => Self::Spacebot(SpacebotSettings::default()),
            PresetName::Layer => Self::Layer(LayerSettings::default()),
        }
    }

    /// The preset they belong to.
    pub(crate) const fn preset(&self) -> PresetName {
        match self {
            Self::Default(_) => PresetName::Default,
            Self::Vibe(_) => PresetName::Vibe,
            Self::Openclaw(_) => PresetName::Openclaw,
            Self::Micro(_) => PresetName::Micro,
            Self::Spacebot(_) => PresetName::Spacebot,
            Self::Layer(_) => PresetName::Layer,
        }
    }

    pub(crate) fn own(&self) -> &dyn Own {
        match self {
            Self::Default(own) => own,
            Self::Vibe(own) => own,
            Self::Openclaw(own) => own,
            Self::Micro(own) => own,
            Self::Spacebot(own) => own,
            Self::Layer(own) => own,
        }
    }

    pub(crate) fn own_mut(&mut self) -> &mut dyn Own {
        match self {
            Self::Default(own) => own,
            Self::Vibe(own) => own,
            Self::Openclaw(own) => own,
            Self::Micro(own) => own,
            Self::Spacebot(own) => own,
            Self::Layer(own) => own,
        }
    }
}
