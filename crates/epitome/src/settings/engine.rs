//! What the settings mean to the engine.

use super::tables::{
    CompactionMode, DefaultSettings, LayerSettings, MicroSettings, OpenclawSettings,
    SpacebotSettings, VibeSettings,
};
use super::{DesignSettings, Settings};
use crate::preset::{Keep, Preset, Trigger};
use crate::prune::{EntryCap, PruneSettings};
use crate::reference::{layer, openclaw, spacebot, vibe};
use crate::threshold::Threshold;
use crate::window::{Margins, Window};

/// A trigger that never fires: a configured threshold of zero or less.
const NEVER: Trigger = Trigger::Never;

impl Settings {
    /// The window that is set, `None` where the model table and then [`Preset::assumed_window`] decide.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        self.common.window.map(Window::configured)
    }

    /// What is shown of long and old tool results in a window.
    #[must_use]
    pub fn pruning(&self, window: Window) -> PruneSettings {
        let named = PruneSettings::of(self.preset(), window.tokens);
        match &self.design {
            DesignSettings::Micro(own) => PruneSettings {
                entry_cap: EntryCap::Chars(own.max_tool_result_chars),
                ..named
            },
            _ => named,
        }
    }

    /// What is kept free of a window, and how early one acts.
    #[must_use]
    pub fn margins(&self) -> Margins {
        match &self.design {
            DesignSettings::Default(own) => Margins {
                reserve_tokens: own.reserve_tokens,
                prepare_share: own.prepare_share,
            },
            _ => Margins::default(),
        }
    }

    /// Whether people are warned once per cycle.
    #[must_use]
    pub const fn warns(&self) -> bool {
        match &self.design {
            DesignSettings::Vibe(own) => own.context_warnings,
            _ => false,
        }
    }

    fn summary_tokens(&self) -> u64 {
        let own = || match &self.design {
            DesignSettings::Openclaw(own) => own.reserve().saturating_mul(8) / 10,
            _ => u64::MAX,
        };
        self.common.summary_tokens.unwrap_or_else(own)
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
        let named = Self::named(settings.preset());
        let (trigger, keep) = match &settings.design {
            DesignSettings::Default(own) => (own.trigger(), named.keep),
            DesignSettings::Vibe(own) => (Trigger::AtLeast(own.auto_compact_threshold), named.keep),
            DesignSettings::Openclaw(own) => (
                Trigger::WindowLess(own.reserve()),
                Keep::RecentTokens(own.keep_recent_tokens),
            ),
            DesignSettings::Micro(own) => (
                own.trigger(),
                Keep::FirstAndLast(own.protected_tail_messages),
            ),
            DesignSettings::Spacebot(own) => (Trigger::Tiers(own.thresholds()), named.keep),
            DesignSettings::Layer(own) => (
                Trigger::Share(own.reference(layer::DEFAULT_WINDOW_TOKENS)),
                Keep::Last(own.recent_messages_to_keep),
            ),
        };
        let most_messages = match &settings.design {
            DesignSettings::Micro(own) => Some(own.max_conversation_messages),
            _ => None,
        };
        let history_share = match &settings.design {
            DesignSettings::Openclaw(own) if own.mode == CompactionMode::Safeguard => {
                Some(own.max_history_share)
            }
            _ => None,
        };
        Self {
            trigger,
            keep,
            summary_tokens: settings.summary_tokens(),
            history_share,
            most_messages,
            ..named
        }
    }
}

impl DefaultSettings {
    fn trigger(&self) -> Trigger {
        match self.threshold {
            None => Trigger::HardLine,
            Some(Threshold::Off) => NEVER,
            Some(Threshold::Tokens(tokens)) => Trigger::AtLeast(signed(tokens)),
            Some(Threshold::Below(reserve)) => Trigger::WindowLess(reserve),
            Some(Threshold::Share(hundredths)) => Trigger::Share(layer::Settings {
                model_context_limit: 0,
                system_reserve: 0,
                output_reserve: 0,
                safety_buffer: 0,
                threshold_percent: f64::from(hundredths) / 10_000.0,
                recent_messages_to_keep: 0,
            }),
        }
    }
}

impl VibeSettings {
    /// Whether the user wants to be warned.
    #[must_use]
    pub const fn warnings(&self) -> vibe::Warnings {
        if self.context_warnings {
            vibe::Warnings::On
        } else {
            vibe::Warnings::Off
        }
    }
}

impl OpenclawSettings {
    /// The reserve in force: what is set, raised to the floor.
    #[must_use]
    pub const fn reserve(&self) -> u64 {
        openclaw::reserve(self.reserve_tokens, self.reserve_tokens_floor).0
    }
}

impl MicroSettings {
    fn trigger(&self) -> Trigger {
        match u64::try_from(self.compaction_threshold_tokens) {
            Ok(tokens @ 1..) if self.compaction_enabled => Trigger::Above(tokens),
            _ => NEVER,
        }
    }
}

impl SpacebotSettings {
    /// The three tiers.
    #[must_use]
    pub const fn thresholds(&self) -> spacebot::Thresholds {
        spacebot::Thresholds {
            background: self.background_threshold,
            aggressive: self.aggressive_threshold,
            emergency: self.emergency_threshold,
        }
    }
}

impl LayerSettings {
    /// The settings of the reference's own steps, in a window of `window_tokens`.
    #[must_use]
    pub fn reference(&self, window_tokens: u64) -> layer::Settings {
        layer::Settings {
            model_context_limit: signed(window_tokens),
            system_reserve: signed(self.system_reserve),
            output_reserve: signed(self.output_reserve),
            safety_buffer: signed(self.safety_buffer),
            threshold_percent: self.threshold_percent,
            recent_messages_to_keep: self.recent_messages_to_keep,
        }
    }
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}
