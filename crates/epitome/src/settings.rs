//! What the presets can be told: every setting with its default, bounds and names, read from any configuration.
//!
//! - one preset's settings, typed: [`Settings`], made of [`CommonSettings`] and [`DesignSettings`]
//! - a whole file with its agents, in our form or a reference design's: [`Configuration`]
//! - what a parser gives: [`Value`]; what is known of a setting: [`Key`]
//! - what is wrong with it: [`SettingsError`]
//!
//! The rows are in `tables.rs` and, of a single design, with it; structs, reading, writing and error messages are made of them. A key may be written in
//! snake_case, camelCase or PascalCase, but only once. `Preset::from(&settings)` is the design the engine runs.

mod configuration;
mod engine;
mod find;
mod tables;

use crate::design::{Design, PresetName};
use crate::setting::Fields;
use find::{Found, Given, Place};

pub use crate::design::{
    CompactionMode, DefaultSettings, DesignSettings, LayerSettings, MemoryFlushSettings,
    MicroSettings, OpenclawSettings, SpacebotSettings, TableSettings, VibeSettings,
};
pub use crate::setting::{
    Bounds, Hint, Key, Kind, Notice, SettingsError, Value, nearest, spellings,
};
pub use configuration::Configuration;
pub use tables::{CommonSettings, OnFailure};

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

impl Settings {
    /// The settings of a design as it has them: one that is built in by its name, or one's own.
    #[must_use]
    pub fn of(design: impl Into<&'static Design>) -> Self {
        let design = design.into();
        Self {
            common: CommonSettings::of(design),
            design: DesignSettings::of(design),
        }
    }

    /// The design they belong to.
    #[must_use]
    pub const fn design(&self) -> &'static Design {
        self.design.design()
    }

    /// The name of that design, where it is one of those that are built in.
    #[must_use]
    pub fn preset(&self) -> Option<PresetName> {
        let mut names = PresetName::ALL.into_iter();
        names.find(|name| name.design() == self.design())
    }

    /// Every key, the common ones first.
    #[must_use]
    pub fn keys(&self) -> Vec<&'static Key> {
        let mut keys = self.common.keys();
        keys.extend(self.design.own().keys());
        keys
    }

    /// Every key with the value it has now. Of [`Settings::of`] these are the defaults.
    pub fn entries(&self) -> impl Iterator<Item = (&'static Key, Value)> {
        self.keys().into_iter().filter_map(|key| {
            let common = self.common.slot(key);
            let slot = common.or_else(|| self.design.own().slot(key))?;
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
        changed.design.own().check(&|name| {
            let given = given.iter().find(|given| given.key.name == name);
            given.map_or_else(|| name.to_owned(), |given| given.path.clone())
        })?;
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
            None => self.design.own_mut().slot_mut(key),
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
