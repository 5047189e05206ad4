//! What the presets can be told: every setting with its default, bounds and names, read from any configuration.
//!
//! - one preset's settings, typed: [`Settings`], made of [`CommonSettings`] and [`DesignSettings`]
//! - a whole file with its agents, in our form or a reference design's: [`Configuration`]
//! - what a parser gives: [`Value`]; what is known of a setting: [`Key`]
//! - what is wrong with it: [`SettingsError`]
//!
//! The rows are in `tables.rs`; structs, reading, writing and error messages are made of them. A key may be written in
//! snake_case, camelCase or PascalCase, but only once. `Preset::from(&settings)` is the design the engine runs.

mod configuration;
mod engine;
mod error;
mod field;
mod find;
mod key;
mod nearest;
mod tables;
mod value;

use crate::preset_name::PresetName;
use field::Fields;
use find::{Found, Given, Place};

pub use configuration::Configuration;
pub use error::{Hint, Notice, SettingsError};
pub use key::{Bounds, Key, Kind, spellings};
pub use nearest::nearest;
pub use tables::{
    CommonSettings, CompactionMode, DefaultSettings, LayerSettings, MemoryFlushSettings,
    MicroSettings, OnFailure, OpenclawSettings, SpacebotSettings, VibeSettings,
};
pub use value::Value;

/// The settings of a preset.
///
/// *Input*: [`Settings::of`] for the defaults, [`Settings::apply`] for each layer over them. *Output*:
/// [`Settings::entries`], and `Preset::from(&settings)` for the engine.
///
/// ```
/// use epitome::PresetName;
/// use epitome::settings::{Settings, Value};
///
/// let mut settings = Settings::of(PresetName::Vibe);
/// let slip = Value::Table(vec![("autoCompactTreshold".to_owned(), Value::Whole(0))]);
/// assert_eq!(
///     settings.apply(&slip).unwrap_err().to_string(),
///     "`autoCompactTreshold` is not a setting: did you mean `autoCompactThreshold`?",
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What every preset has.
    pub common: CommonSettings,
    /// What this one has.
    pub design: DesignSettings,
}

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

impl Settings {
    /// The settings of a preset as its reference has them.
    #[must_use]
    pub fn of(preset: PresetName) -> Self {
        let design = match preset {
            PresetName::Default => DesignSettings::Default(DefaultSettings::default()),
            PresetName::Vibe => DesignSettings::Vibe(VibeSettings::default()),
            PresetName::Openclaw => DesignSettings::Openclaw(OpenclawSettings::default()),
            PresetName::Micro => DesignSettings::Micro(MicroSettings::default()),
            PresetName::Spacebot => DesignSettings::Spacebot(SpacebotSettings::default()),
            PresetName::Layer => DesignSettings::Layer(LayerSettings::default()),
        };
        Self {
            common: CommonSettings::of(preset),
            design,
        }
    }

    /// The preset they belong to.
    #[must_use]
    pub const fn preset(&self) -> PresetName {
        match self.design {
            DesignSettings::Default(_) => PresetName::Default,
            DesignSettings::Vibe(_) => PresetName::Vibe,
            DesignSettings::Openclaw(_) => PresetName::Openclaw,
            DesignSettings::Micro(_) => PresetName::Micro,
            DesignSettings::Spacebot(_) => PresetName::Spacebot,
            DesignSettings::Layer(_) => PresetName::Layer,
        }
    }

    /// Every key, the common ones first.
    #[must_use]
    pub fn keys(&self) -> Vec<&'static Key> {
        let mut keys = self.common.keys();
        keys.extend(self.design.fields().keys());
        keys
    }

    /// Every key with the value it has now. Of [`Settings::of`] these are the defaults.
    pub fn entries(&self) -> impl Iterator<Item = (&'static Key, Value)> {
        self.keys().into_iter().filter_map(|key| {
            let common = self.common.slot(key);
            let slot = common.or_else(|| self.design.fields().slot(key))?;
            Some((key, slot.value()))
        })
    }

    /// Puts a table of settings over these, and returns the keys that it gives: they are no longer what they were
    /// before, whatever their value. After an error nothing is changed.
    ///
    /// # Errors
    /// As [`Configuration::load`].
    pub fn apply(&mut self, table: &Value) -> Result<Vec<&'static Key>, SettingsError> {
        let mut found = Found::new(self.keys());
        found.search(table, "", Place::FLAT)?;
        if let Some(Notice { path, hint }) = found.unknown.into_iter().next() {
            return Err(SettingsError::UnknownKey { path, hint });
        }
        self.overlay(&found.given)?;
        Ok(found.given.iter().map(|given| given.key).collect())
    }

    fn overlay(&mut self, given: &[Given<'_>]) -> Result<(), SettingsError> {
        let mut changed = self.clone();
        for given in given {
            changed.set(given)?;
        }
        changed.check_tiers(given)?;
        *self = changed;
        Ok(())
    }

    fn set(&mut self, Given { key, path, value }: &Given<'_>) -> Result<(), SettingsError> {
        let number = match key.kind {
            Kind::Whole => value.as_whole().map(|whole| whole as f64),
            Kind::Number => value.as_number(),
            Kind::Switch | Kind::Text | Kind::Choice(_) | Kind::Threshold => None,
        };
        if let Some(value) = number.filter(|number| !key.bounds.contains(*number)) {
            return Err(SettingsError::OutOfBounds {
                path: path.clone(),
                value,
                bounds: key.bounds,
            });
        }
        let slot = match self.common.slot_mut(key) {
            Some(slot) => Some(slot),
            None => self.design.fields_mut().slot_mut(key),
        };
        match slot.map(|slot| slot.put(value)) {
            Some(true) => Ok(()),
            Some(false) | None => Err(SettingsError::WrongType {
                path: path.clone(),
                expected: key.expected(),
                found: value.to_string(),
            }),
        }
    }

    fn check_tiers(&self, given: &[Given<'_>]) -> Result<(), SettingsError> {
        let DesignSettings::Spacebot(own) = &self.design else {
            return Ok(());
        };
        let tiers = [
            ("background_threshold", own.background_threshold),
            ("aggressive_threshold", own.aggressive_threshold),
            ("emergency_threshold", own.emergency_threshold),
        ];
        let written = |name: &str| {
            let given = given.iter().find(|given| given.key.name == name);
            given.map_or_else(|| name.to_owned(), |given| given.path.clone())
        };
        for pair in tiers.windows(2) {
            if let [(lower, lower_value), (upper, upper_value)] = *pair
                && lower_value > upper_value
            {
                return Err(SettingsError::TiersOutOfOrder {
                    lower: written(lower),
                    lower_value,
                    upper: written(upper),
                    upper_value,
                });
            }
        }
        Ok(())
    }

    /// Every setting under its own name, groups as tables.
    fn to_entries(&self) -> Vec<(String, Value)> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        for (key, value) in self.entries() {
            let entry = (key.name.to_owned(), value);
            match entries.last_mut() {
                _ if key.group.is_empty() => entries.push(entry),
                Some((name, Value::Table(group))) if name == key.group => group.push(entry),
                _ => entries.push((key.group.to_owned(), Value::Table(vec![entry]))),
            }
        }
        entries
    }
}

impl DesignSettings {
    fn fields(&self) -> &dyn Fields {
        match self {
            Self::Default(own) => own,
            Self::Vibe(own) => own,
            Self::Openclaw(own) => own,
            Self::Micro(own) => own,
            Self::Spacebot(own) => own,
            Self::Layer(own) => own,
        }
    }

    fn fields_mut(&mut self) -> &mut dyn Fields {
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
