//! What the layers set, and which of them is heard.

use std::collections::BTreeMap;
use std::path::Path;

use crate::item::{Item, Setting};
use crate::origin::Origin;
use crate::problem::{Problem, ProblemKind};
use crate::scope::Scope;

/// What one layer says.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(crate) items: Vec<Item>,
    pub(crate) unknown: Vec<Unknown>,
    pub(crate) problems: Vec<Problem>,
}

impl Layer {
    /// That of a file which cannot be read.
    pub(crate) fn unreadable(path: &Path, reason: String) -> Self {
        let problem = Problem {
            origin: Origin::of_file(path),
            kind: ProblemKind::Unreadable { reason },
        };
        Self {
            problems: vec![problem],
            ..Self::default()
        }
    }
}

/// A key among settings that no setting is called. What may be meant depends on the presets of all layers.
#[derive(Debug)]
pub(crate) struct Unknown {
    pub(crate) scope: Scope,
    pub(crate) group: &'static str,
    pub(crate) path: String,
    pub(crate) written: String,
    pub(crate) beside: Vec<&'static str>,
    pub(crate) origin: Origin,
}

/// What is set after all layers, by scope and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merged(BTreeMap<(Scope, String), Item>);

impl Merged {
    /// Puts layers over each other, the lowest first. A list of hooks replaces the one below it.
    pub(crate) fn of(layers: impl IntoIterator<Item = Vec<Item>>) -> Self {
        let mut merged = BTreeMap::new();
        for layer in layers {
            if layer.iter().any(|item| item.setting.is_hook()) {
                merged.retain(|_, item: &mut Item| !item.setting.is_hook());
            }
            merged.extend(layer.into_iter().map(|item| (item.name(), item)));
        }
        Self(merged)
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.0.values()
    }

    /// What holds for an agent and a model, by name.
    pub(crate) fn holding(
        &self,
        agent: Option<&str>,
        model: Option<&str>,
    ) -> BTreeMap<String, &Item> {
        let holds = |item: &&Item| item.scope.holds(agent, model);
        let mut items: Vec<&Item> = self.0.values().filter(holds).collect();
        items.sort_by_cached_key(|item| item.scope.order());
        let named = items.into_iter().map(|item| (item.setting.path(), item));
        named.collect()
    }

    /// What is said about a setting for everybody.
    pub(crate) fn base(&self, setting: &Setting) -> Option<&Item> {
        let name = setting.path();
        let of = |scope| self.0.get(&(scope, name.clone()));
        of(Scope::Process).or_else(|| of(Scope::Base))
    }
}
