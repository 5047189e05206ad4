//! Names as they may be written, and the setting they mean.

use std::sync::LazyLock;

use epitome::PresetName;
use epitome::settings::{Key, Settings, spellings};

use crate::row::Row;

/// Every setting that some preset has, with the presets that have it.
static KEYS: LazyLock<Vec<(&'static Key, Vec<PresetName>)>> = LazyLock::new(|| {
    let mut keys: Vec<(&'static Key, Vec<PresetName>)> = Vec::new();
    for preset in PresetName::ALL {
        for key in Settings::of(preset).keys() {
            match keys.iter_mut().find(|(known, _)| *known == key) {
                Some((_, presets)) => presets.push(preset),
                None => keys.push((key, vec![preset])),
            }
        }
    }
    keys
});

/// Every row of every section, in the order of the file.
pub(crate) static ROWS: LazyLock<Vec<&'static Row>> = LazyLock::new(crate::sections::rows);

/// Every setting of every preset, each once.
pub(crate) fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().map(|(key, _)| *key)
}

/// The presets that have a setting.
pub(crate) fn presets_with(key: &Key) -> &'static [PresetName] {
    let found = KEYS.iter().find(|(known, _)| *known == key);
    found.map_or(&[], |(_, presets)| presets)
}

/// The setting that is written like this in a table of a group, `""` for the outermost.
pub(crate) fn key_named(group: &str, written: &str) -> Option<&'static Key> {
    keys().find(|key| key.group == group && key.spellings().any(|name| name == written))
}

/// The group of settings that is written like this.
pub(crate) fn group_named(written: &str) -> Option<&'static str> {
    keys()
        .map(|key| key.group)
        .find(|group| !group.is_empty() && is_spelled(written, group))
}

/// The rows of one section, without those of the tables inside.
pub(crate) fn rows_of(section: &str) -> impl Iterator<Item = &'static Row> {
    ROWS.iter()
        .copied()
        .filter(move |row| row.section == section)
}

/// Whether a name is written in one of the three spellings.
pub(crate) fn is_spelled(written: &str, name: &str) -> bool {
    spellings(name).iter().any(|spelling| spelling == written)
}

/// The setting of presets with this path.
pub(crate) fn key_at(path: &str) -> Option<&'static Key> {
    keys().find(|key| key.path() == path)
}
