//! The settings of every design, and what they mean to it.

use super::{
    DefaultSettings, Design, LayerSettings, MicroSettings, OpenclawSettings, Preset, PresetName,
    SpacebotSettings, TableSettings, VibeSettings,
};
use crate::pruning::PruneSettings;
use crate::setting::{Fields, SettingsError};
use crate::window::Margins;

/// The settings that belong to one design.
#[derive(Clone, Debug, PartialEq)]
pub enum DesignSettings {
    /// Of `default`.
    Default(DefaultSettings),
    /// Of `vibe`.
    Vibe(VibeSettings),
    /// Of `openclaw`.
    Openclaw(OpenclawSettings),
    /// Of `micro`.
    Micro(MicroSettings),
    /// Of `spacebot`.
    Spacebot(SpacebotSettings),
    /// Of `layer`.
    Layer(LayerSettings),
    /// Of any other design.
    Table(TableSettings),
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
    /// The settings of a design that brings them as [`Knobs`](super::Knobs), as it has them.
    #[must_use]
    pub fn table(design: &'static Design) -> Self {
        Self::Table(TableSettings::of(design))
    }

    /// The settings of a design as it has them.
    pub(crate) fn of(design: &'static Design) -> Self {
        (design.settings)(design)
    }

    /// Whose they are.
    pub(crate) const fn design(&self) -> &'static Design {
        let name = match self {
            Self::Default(_) => PresetName::Default,
            Self::Vibe(_) => PresetName::Vibe,
            Self::Openclaw(_) => PresetName::Openclaw,
            Self::Micro(_) => PresetName::Micro,
            Self::Spacebot(_) => PresetName::Spacebot,
            Self::Layer(_) => PresetName::Layer,
            Self::Table(own) => return own.design(),
        };
        name.design()
    }

    pub(crate) fn own(&self) -> &dyn Own {
        match self {
            Self::Default(own) => own,
            Self::Vibe(own) => own,
            Self::Openclaw(own) => own,
            Self::Micro(own) => own,
            Self::Spacebot(own) => own,
            Self::Layer(own) => own,
            Self::Table(own) => own,
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
            Self::Table(own) => own,
        }
    }
}
