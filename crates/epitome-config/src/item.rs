//! One value that somebody set.

use std::fmt;

use epitome::settings::{Key, Value};

use crate::address::Address;
use crate::notation::{json_of, toml};
use crate::origin::Origin;
use crate::row::{Form, Row};
use crate::scope::{Scope, join};

/// What is set.
#[derive(Clone, Debug)]
pub(crate) enum Setting {
    /// Which preset.
    Preset,
    /// A setting of presets.
    Key(&'static Key),
    /// A setting of a section.
    Row(&'static Row),
    /// The file of a template.
    Template(String),
    /// A setting of the hook at this position, from 0.
    Hook(usize, &'static Row),
    /// That there are no hooks.
    NoHooks,
    /// A setting of the tenant of this name.
    Tenant(String, &'static Row),
}

impl Setting {
    /// Its name without the scope.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::Preset => "preset".to_owned(),
            Self::Key(key) => key.path(),
            Self::Row(row) => row.path(),
            Self::Template(name) => join("summarizer.templates", name),
            Self::Hook(at, row) => format!("hooks[{at}].{}", row.name),
            Self::NoHooks => "hooks".to_owned(),
            Self::Tenant(name, row) => join(&join("tenants", name), row.name),
        }
    }

    /// Whether there may be any number of its kind.
    pub(crate) const fn is_listed(&self) -> bool {
        self.is_hook() || matches!(self, Self::Template(_) | Self::Tenant(..))
    }

    pub(crate) const fn is_hook(&self) -> bool {
        matches!(self, Self::Hook(..) | Self::NoHooks)
    }

    /// A value of it as it may be shown.
    pub(crate) fn shown(&self, value: &Value) -> Value {
        match (self, value) {
            (Self::Row(row), Value::Text(text)) if row.form == Form::Address => {
                Value::Text(Address::new(text).to_string())
            }
            _ => value.clone(),
        }
    }
}

/// One value that somebody set.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) scope: Scope,
    pub(crate) setting: Setting,
    /// The whole path as it is written.
    pub(crate) written: String,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
    /// How high the layer is.
    pub(crate) rank: usize,
}

impl Item {
    /// What tells it from others.
    pub(crate) fn name(&self) -> (Scope, String) {
        (self.scope.clone(), self.setting.path())
    }

    pub(crate) fn entry(&self) -> Entry {
        Entry {
            path: match self.scope.at() {
                at if at.is_empty() => self.setting.path(),
                at => format!("{at}.{}", self.setting.path()),
            },
            value: self.setting.shown(&self.value),
            origin: self.origin.clone(),
        }
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry {
            path,
            value,
            origin,
        } = self.entry();
        write!(f, "{path} = {value} ({origin})")
    }
}

/// One value and where it comes from, fit to be shown: addresses are without passwords.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The whole name: `window`, `summarizer.url`, `agents.research.window`.
    pub path: String,
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

impl Entry {
    /// The value as JSON has it.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        json_of(&self.value)
    }

    /// The value as TOML writes it.
    #[must_use]
    pub fn toml(&self) -> String {
        toml(&self.value)
    }
}
