//! What the settings mean to the engine.

use super::Settings;
use crate::design::Preset;
use crate::pruning::PruneSettings;
use crate::window::{Margins, Window};

impl Settings {
    /// The window that is set, `None` where the model table and then [`Preset::assumed_window`] decide.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        self.common.window.map(Window::configured)
    }

    /// What is shown of long and old tool results in a window.
    #[must_use]
    pub fn pruning(&self, window: Window) -> PruneSettings {
        let mut pruning = PruneSettings::of(self.design(), window.tokens);
        self.design.own().prune(&mut pruning);
        pruning
    }

    /// What is kept free of a window, and how early one acts.
    #[must_use]
    pub fn margins(&self) -> Margins {
        self.design.own().margins()
    }

    /// Whether people are warned once per cycle.
    #[must_use]
    pub fn warns(&self) -> bool {
        self.design.own().warns()
    }

    /// The most characters of a transcript that a summariser gets, where there is a limit.
    #[must_use]
    pub fn input_chars(&self) -> Option<usize> {
        self.design.own().input_chars()
    }

    /// Whether a long history is summarised in parts even where it would fit one request.
    #[must_use]
    pub fn is_staged(&self) -> bool {
        self.design.own().is_staged()
    }

    /// The tokens at which a conversation is compacted, where the design asks for no window.
    #[must_use]
    pub fn windowless_tokens(&self) -> Option<u64> {
        self.design.own().windowless_tokens()
    }
}

/// The design with these settings.
///
/// ```
/// use epitome::settings::Settings;
/// use epitome::{Preset, PresetName};
///
/// assert_eq!(Preset::from(&Settings::of(PresetName::Layer)), Preset::named(PresetName::Layer));
/// ```
impl From<&Settings> for Preset {
    fn from(settings: &Settings) -> Self {
        let mut preset = Self {
            summary_tokens: u64::MAX,
            ..Self::of(settings.design())
        };
        settings.design.own().choose(&mut preset);
        if let Some(tokens) = settings.common.summary_tokens {
            preset.summary_tokens = tokens;
        }
        preset
    }
}
