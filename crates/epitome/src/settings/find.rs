//! Finds the settings in a tree of values: whatever the spelling, each at most once.

use crate::design::{FilePlace, PresetName};
use crate::setting::{Hint, Key, Notice, SettingsError, Value, is_spelled, nearest, spellings};

/// A setting that the configuration gives.
#[derive(Clone, Debug)]
pub(super) struct Given<'v> {
    pub(super) key: &'static Key,
    /// Where it stands, as it is written.
    pub(super) path: String,
    pub(super) value: &'v Value,
}

/// What was found in a tree.
#[derive(Debug)]
pub(super) struct Found<'v> {
    keys: Vec<&'static Key>,
    pub(super) given: Vec<Given<'v>>,
    pub(super) unknown: Vec<Notice>,
    /// Groups that were entered: their name, and where.
    entered: Vec<(&'static str, String)>,
}

/// Where the settings stand in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    /// The tables on the way to them.
    pub(super) way: &'p [&'static str],
    /// Keys of the outermost table that are no settings.
    pub(super) beside: &'p [&'static str],
    /// Whether the window may stand in any table on the way.
    pub(super) window: WindowPlace,
}

/// Where the window stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowPlace {
    /// Among the other settings.
    Inside,
    /// There, or in a table above.
    OrAbove,
}

impl Place<'static> {
    /// In the outermost table.
    pub(super) const FLAT: Self = Self {
        way: &[],
        beside: &[],
        window: WindowPlace::Inside,
    };

    /// Where a design has them in its own file, and where single agents have theirs.
    pub(super) fn of_file(file: FilePlace) -> (Self, Option<Self>) {
        let window = if file.has_window_above {
            WindowPlace::OrAbove
        } else {
            WindowPlace::Inside
        };
        let place = |way, beside| Self {
            way,
            beside,
            window,
        };
        match file.agent_way {
            None => (place(file.way, &[]), None),
            Some(agent_way) => (
                place(file.way, &["agents"]),
                Some(place(agent_way, &["id"])),
            ),
        }
    }
}

impl<'v> Found<'v> {
    pub(super) const fn new(keys: Vec<&'static Key>) -> Self {
        Self {
            keys,
            given: Vec::new(),
            unknown: Vec::new(),
            entered: Vec::new(),
        }
    }

    /// Looks through the tree below `at`.
    pub(super) fn search(
        &mut self,
        tree: &'v Value,
        at: &str,
        place: Place<'_>,
    ) -> Result<(), SettingsError> {
        let Some((next, way)) = place.way.split_first() else {
            return self.table(tree, at, "", place.beside);
        };
        let window = self
            .keys
            .iter()
            .find(|key| key.name == "window" && place.window == WindowPlace::OrAbove)
            .copied();
        let mut inner = None;
        for (written, value) in entries(tree, at)? {
            let path = join(at, written);
            if is_spelled(written, next) {
                if let Some((first, _)) = inner.replace((path.clone(), value)) {
                    return Err(SettingsError::GivenTwice {
                        first,
                        second: path,
                    });
                }
            } else if let Some(key) = window.filter(|key| has_name(key, written)) {
                self.give(key, path, value)?;
            } else if !place.beside.iter().any(|name| is_spelled(written, name)) {
                let near = nearest(
                    written,
                    spellings(next)
                        .into_iter()
                        .chain(window.iter().flat_map(|k| k.spellings())),
                );
                let hint = near.map_or(Hint::Nothing, Hint::Nearest);
                self.unknown.push(Notice { path, hint });
            }
        }
        inner.map_or(Ok(()), |(path, value)| {
            let place = Place {
                way,
                beside: &[],
                ..place
            };
            self.search(value, &path, place)
        })
    }

    /// Reads a table of settings, and the groups in it.
    fn table(
        &mut self,
        tree: &'v Value,
        at: &str,
        group: &str,
        beside: &[&str],
    ) -> Result<(), SettingsError> {
        for (written, value) in entries(tree, at)? {
            if beside.iter().any(|name| is_spelled(written, name)) {
                continue;
            }
            let path = join(at, written);
            let of_group = |key: &&&'static Key| key.group == group && has_name(key, written);
            if let Some(key) = self.keys.iter().find(of_group).copied() {
                self.give(key, path, value)?;
            } else if let Some(inner) = self.group_in(group, written) {
                if let Some((_, first)) = self.entered.iter().find(|(name, _)| *name == inner) {
                    return Err(SettingsError::GivenTwice {
                        first: first.clone(),
                        second: path,
                    });
                }
                self.entered.push((inner, path.clone()));
                self.table(value, &path, inner, &[])?;
            } else {
                let hint = self.hint(group, written);
                self.unknown.push(Notice { path, hint });
            }
        }
        Ok(())
    }

    fn give(
        &mut self,
        key: &'static Key,
        path: String,
        value: &'v Value,
    ) -> Result<(), SettingsError> {
        if let Some(first) = self.given.iter().find(|given| given.key == key) {
            return Err(SettingsError::GivenTwice {
                first: first.path.clone(),
                second: path,
            });
        }
        self.given.push(Given { key, path, value });
        Ok(())
    }

    /// The group that is written like this; groups stand in the outermost table.
    fn group_in(&self, group: &str, written: &str) -> Option<&'static str> {
        let mut groups = self.keys.iter().map(|key| key.group);
        groups.find(|name| group.is_empty() && !name.is_empty() && is_spelled(written, name))
    }

    fn hint(&self, group: &str, written: &str) -> Hint {
        let names = self.keys.iter().flat_map(|key| -> Vec<String> {
            if key.group == group {
                key.spellings().collect()
            } else if group.is_empty() {
                spellings(key.group).into()
            } else {
                Vec::new()
            }
        });
        if let Some(name) = nearest(written, names) {
            return Hint::Nearest(name);
        }
        let has_it = |keys: Vec<&'static Key>| keys.iter().any(|key| has_name(key, written));
        let mut presets = PresetName::ALL.into_iter();
        presets
            .find(|preset| has_it(super::Settings::of(*preset).keys()))
            .map_or(Hint::Nothing, |preset| Hint::OfPreset(preset.as_str()))
    }
}

/// The entry of a table with this name, in whatever spelling, and where it stands.
pub(super) fn lookup<'v>(
    tree: &'v Value,
    at: &str,
    name: &str,
) -> Result<Option<(String, &'v Value)>, SettingsError> {
    let mut same = entries(tree, at)?
        .iter()
        .filter(|(written, _)| is_spelled(written, name))
        .map(|(written, value)| (join(at, written), value));
    match (same.next(), same.next()) {
        (Some((first, _)), Some((second, _))) => Err(SettingsError::GivenTwice { first, second }),
        (first, _) => Ok(first),
    }
}

fn entries<'v>(tree: &'v Value, at: &str) -> Result<&'v [(String, Value)], SettingsError> {
    match tree {
        Value::Table(entries) => Ok(entries),
        other => Err(SettingsError::WrongType {
            path: if at.is_empty() { "." } else { at }.to_owned(),
            expected: "a table".to_owned(),
            found: other.to_string(),
        }),
    }
}

fn has_name(key: &Key, written: &str) -> bool {
    key.spellings().any(|spelling| spelling == written)
}

pub(super) fn join(at: &str, name: &str) -> String {
    if at.is_empty() {
        name.to_owned()
    } else {
        format!("{at}.{name}")
    }
}
