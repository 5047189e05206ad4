//! The settings of one agent with one model.

use std::collections::BTreeMap;

use epitome::settings::{Key, Settings, SettingsError, Value};
use epitome::{Preset, PresetName, Window, window_of};

use crate::item::{Entry, Item, Setting};
use crate::layers::Merged;
use crate::names::presets_with;
use crate::origin::Origin;

/// A configuration as one agent has it.
#[derive(Clone, Copy, Debug)]
pub struct ForAgent<'l> {
    merged: &'l Merged,
    agent: Option<&'l str>,
}

/// The settings of one agent with one model, and where each comes from.
///
/// What wins, weakest first: the default of the preset; the outermost table of the files; `[models."…"]`, of several
/// that match the most specific one; `[agents.…]`; `[agents.….models."…"]`; `EPITOME_*` variables; flags. The preset
/// itself is found in the same way, and then only those settings are heard that it has.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Resolved {
    /// The settings.
    pub settings: Settings,
    /// The window: what is set, else what the model table says, else what the preset assumes.
    pub window: Window,
    entries: Vec<Entry>,
}

impl<'l> ForAgent<'l> {
    pub(crate) const fn of(merged: &'l Merged, agent: Option<&'l str>) -> Self {
        Self { merged, agent }
    }

    /// Its settings with a model.
    #[must_use]
    pub fn for_model(&self, model: &str) -> Resolved {
        self.resolve(Some(model))
    }

    /// Its settings where nothing is known of the model.
    #[must_use]
    pub fn for_any_model(&self) -> Resolved {
        self.resolve(None)
    }

    fn resolve(&self, model: Option<&str>) -> Resolved {
        let merged = self.merged;
        let holding = merged.holding(self.agent, model);
        let settings =
            settings(&holding).unwrap_or_else(|_| as_far_as_possible(merged, self.agent, model));
        let preset = Preset::from(&settings);
        let window = settings
            .window()
            .or_else(|| model.and_then(window_of))
            .unwrap_or_else(|| preset.assumed_window());
        let name = settings.preset().unwrap_or_default();
        let mut entries = vec![entry(
            holding.get("preset").copied(),
            "preset".to_owned(),
            Value::Text(name.to_string()),
            Origin::Default,
        )];
        entries.extend(settings.entries().map(|(key, value)| {
            let path = key.path();
            let item = holding.get(&path).copied();
            entry(item, path, value, Origin::Preset(name))
        }));
        Resolved {
            settings,
            window,
            entries,
        }
    }
}

impl Resolved {
    /// The preset and each of its settings, with the value in force and where that comes from.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }
}

fn entry(item: Option<&Item>, path: String, value: Value, default: Origin) -> Entry {
    Entry {
        path,
        value,
        origin: item.map_or(default, |item| item.origin.clone()),
    }
}

/// The preset that a value names.
pub(crate) fn preset_of(value: &Value) -> Option<PresetName> {
    match value {
        Value::Text(name) => name.parse().ok(),
        _ => None,
    }
}

/// Settings as the table that the core reads.
pub(crate) fn table(settings: impl Iterator<Item = (&'static Key, Value)>) -> Value {
    let mut entries: Vec<(String, Value)> = Vec::new();
    for (key, value) in settings {
        let entry = (key.name.to_owned(), value);
        let group = entries.iter_mut().find(|(name, _)| name == key.group);
        match group {
            _ if key.group.is_empty() => entries.push(entry),
            Some((_, Value::Table(group))) => group.push(entry),
            _ => entries.push((key.group.to_owned(), Value::Table(vec![entry]))),
        }
    }
    Value::Table(entries)
}

/// The settings that these items lead to.
///
/// # Errors
/// Each value fits by itself, but together they may be out of order.
pub(crate) fn settings(holding: &BTreeMap<String, &Item>) -> Result<Settings, SettingsError> {
    let named = holding
        .get("preset")
        .and_then(|item| preset_of(&item.value));
    let mut settings = Settings::of(named.unwrap_or_default());
    overlay(&mut settings, holding.values().copied())?;
    Ok(settings)
}

fn overlay<'i>(
    settings: &mut Settings,
    items: impl Iterator<Item = &'i Item>,
) -> Result<(), SettingsError> {
    let preset = settings.preset().unwrap_or_default();
    let known = items.filter_map(|item| match item.setting {
        Setting::Key(key) if presets_with(key).contains(&preset) => Some((key, item.value.clone())),
        _ => None,
    });
    settings.apply(&table(known)).map(|_| ())
}

/// Loading tries every agent with every model that the files name, but a model may match several patterns that are
/// only together out of order: then the stronger table is not heard.
fn as_far_as_possible(merged: &Merged, agent: Option<&str>, model: Option<&str>) -> Settings {
    let holding = merged.holding(agent, model);
    let mut scopes: Vec<_> = holding.values().map(|item| item.scope.clone()).collect();
    scopes.sort_by_cached_key(|scope| scope.order());
    scopes.dedup();
    let named = holding
        .get("preset")
        .and_then(|item| preset_of(&item.value));
    let mut settings = Settings::of(named.unwrap_or_default());
    for scope in scopes {
        let items = holding.values().copied().filter(|item| item.scope == scope);
        // Nothing is changed by a table that cannot be applied.
        overlay(&mut settings, items).ok();
    }
    settings
}
