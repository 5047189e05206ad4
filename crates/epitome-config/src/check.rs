//! Whether what the layers set can be used.

use epitome::PresetName;
use epitome::settings::{Bounds, Hint, Settings, SettingsError, Value, nearest, spellings};

use crate::field::Section;
use crate::item::{Item, Setting};
use crate::layers::Unknown;
use crate::names::{keys, presets_with};
use crate::resolve::{preset_of, table};
use crate::row::{Form, Row};
use crate::scope::Scope;
use crate::sections::{Hook, Memory, Server, Summarizer, Tenant};

/// The presets that the layers name, and where.
#[derive(Debug)]
pub(crate) struct Presets(Vec<(Scope, PresetName)>);

impl Presets {
    /// Those that the items of all layers name. Where no file says it, the preset is `default`.
    pub(crate) fn of<'i>(items: impl Iterator<Item = &'i Item>) -> Self {
        let of_item = |item: &Item| match item.setting {
            Setting::Preset => Some((item.scope.clone(), preset_of(&item.value)?)),
            _ => None,
        };
        let mut named: Vec<_> = items.filter_map(of_item).collect();
        if !named.iter().any(|(scope, _)| *scope == Scope::Base) {
            named.push((Scope::Base, PresetName::default()));
        }
        Self(named)
    }

    /// Those that can be in force where a scope is heard.
    fn possible(&self, scope: &Scope) -> Vec<PresetName> {
        let named = |wanted: &dyn Fn(&Scope) -> bool| -> Vec<PresetName> {
            let found = self.0.iter().filter(|(scope, _)| wanted(scope));
            found.map(|(_, preset)| *preset).collect()
        };
        let of_everybody = |scope: &Scope| matches!(scope, Scope::Base | Scope::Process);
        let own = named(&|other| match (scope, other) {
            (Scope::Agent(name), Scope::AgentModel(other, _)) => name == other,
            (Scope::AgentModel(name, _), Scope::Agent(other)) => name == other,
            _ => scope == other,
        });
        match scope {
            Scope::Base | Scope::Process => named(&|_| true),
            Scope::Agent(_) | Scope::AgentModel(..) if !own.is_empty() => own,
            Scope::Agent(_) | Scope::AgentModel(..) => {
                named(&|other| of_everybody(other) || matches!(other, Scope::Model(_)))
            }
            Scope::Model(_) => {
                let is_agents =
                    |other: &Scope| matches!(other, Scope::Agent(_) | Scope::AgentModel(..));
                let mut presets = if own.is_empty() {
                    named(&of_everybody)
                } else {
                    own
                };
                presets.extend(named(&is_agents));
                presets
            }
        }
    }

    /// What an unknown key may be meant to be.
    pub(crate) fn hint(&self, unknown: &Unknown) -> SettingsError {
        let possible = self.possible(&unknown.scope);
        let of_group = || keys().filter(|key| key.group == unknown.group);
        let likely = of_group()
            .filter(|key| {
                presets_with(key)
                    .iter()
                    .any(|preset| possible.contains(preset))
            })
            .flat_map(|key| key.spellings());
        let is_outermost = unknown.group.is_empty();
        let groups = keys().map(|key| key.group).filter(|_| is_outermost);
        let beside = unknown.beside.iter().copied().chain(groups);
        let beside = beside.chain(is_outermost.then_some("preset"));
        let beside = beside.filter(|name| !name.is_empty()).flat_map(spellings);
        let near = nearest(&unknown.written, likely.chain(beside)).or_else(|| {
            let all = of_group().flat_map(|key| key.spellings());
            nearest(&unknown.written, all)
        });
        SettingsError::UnknownKey {
            path: unknown.path.clone(),
            hint: near.map_or(Hint::Nothing, Hint::Nearest),
        }
    }

    /// Whether a value fits what is set.
    pub(crate) fn check(&self, item: &Item) -> Result<(), SettingsError> {
        let wrong = |expected: &str| SettingsError::WrongType {
            path: item.written.clone(),
            expected: expected.to_owned(),
            found: item.value.to_string(),
        };
        match &item.setting {
            Setting::Preset => match preset_of(&item.value) {
                Some(_) => Ok(()),
                None => {
                    let words = PresetName::ALL.map(PresetName::as_str);
                    Err(wrong(&format!("`{}`", words.join("`, `"))))
                }
            },
            Setting::Template(_) if matches!(item.value, Value::Text(_)) => Ok(()),
            Setting::Template(_) => Err(wrong("the path of a file")),
            Setting::NoHooks => Ok(()),
            Setting::Row(row) | Setting::Hook(_, row) | Setting::Tenant(_, row) => {
                check_row(row, item)
            }
            Setting::Key(key) => {
                let having = presets_with(key);
                let possible = self.possible(&item.scope);
                let used = having.iter().find(|preset| possible.contains(preset));
                // A variable may be meant for another command than this one.
                let is_lenient = item.scope == Scope::Process;
                match (used, having.first()) {
                    (None, Some(preset)) if !is_lenient => Err(SettingsError::UnknownKey {
                        path: item.written.clone(),
                        hint: Hint::OfPreset(preset.as_str()),
                    }),
                    (used, first) => {
                        let preset = used.or(first).copied().unwrap_or_default();
                        let alone = table(std::iter::once((*key, item.value.clone())));
                        let applied = Settings::of(preset).apply(&alone);
                        applied.map_or_else(|error| at(&item.written, error), |_| Ok(()))
                    }
                }
            }
        }
    }
}

/// The error with the path as it is written. The order of tiers is a matter of all of them together.
fn at(written: &str, error: SettingsError) -> Result<(), SettingsError> {
    let path = written.to_owned();
    Err(match error {
        SettingsError::TiersOutOfOrder { .. } => return Ok(()),
        SettingsError::WrongType {
            expected, found, ..
        } => SettingsError::WrongType {
            path,
            expected,
            found,
        },
        SettingsError::OutOfBounds { value, bounds, .. } => SettingsError::OutOfBounds {
            path,
            value,
            bounds,
        },
        other => other,
    })
}

fn check_row(row: &Row, item: &Item) -> Result<(), SettingsError> {
    let path = || item.written.clone();
    let value = &item.value;
    let number = match *value {
        Value::Whole(number) => Some(number as f64),
        Value::Number(number) => Some(number),
        _ => None,
    };
    let is_bounded = row.bounds != Bounds::Any;
    if let Some(value) = number.filter(|number| is_bounded && !row.bounds.contains(*number)) {
        return Err(SettingsError::OutOfBounds {
            path: path(),
            value,
            bounds: row.bounds,
        });
    }
    let wrong = |expected: String, found: String| SettingsError::WrongType {
        path: path(),
        expected,
        found,
    };
    let fits = Summarizer::default().put(row, value)
        || Memory::default().put(row, value)
        || Server::default().put(row, value)
        || Hook::default().put(row, value)
        || Tenant::default().put(row, value);
    match (fits, row.form, value) {
        // Whatever stands where the way to a key should stand may be the key.
        (false, Form::Variable, Value::Text(_)) => {
            Err(wrong(row.expected(), "another text".to_owned()))
        }
        (false, Form::Digests, Value::Text(_) | Value::List(_)) => {
            Err(wrong(row.expected(), "something else".to_owned()))
        }
        (false, ..) => Err(wrong(row.expected(), value.to_string())),
        (true, Form::Address, Value::Text(text)) if is_web(row) && !text.is_empty() => {
            let rest = text
                .strip_prefix("http://")
                .or_else(|| text.strip_prefix("https://"));
            match rest.is_some_and(|rest| !rest.is_empty()) {
                true => Ok(()),
                false => Err(wrong(
                    "an address that begins with `http://` or `https://`".to_owned(),
                    "another text".to_owned(),
                )),
            }
        }
        _ => Ok(()),
    }
}

/// Whether an address is one of the web: the store may be elsewhere.
fn is_web(row: &Row) -> bool {
    row.name != "store"
}
