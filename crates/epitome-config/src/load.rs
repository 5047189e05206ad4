//! A configuration that was read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use epitome::Trigger;
use epitome::settings::{SettingsError, Value};

use crate::check::Presets;
use crate::field::Section;
use crate::item::{Entry, Item, Setting};
use crate::layers::{Layer, Merged};
use crate::names::{ROWS, key_at, presets_with};
use crate::origin::Origin;
use crate::problem::{ConfigError, Problem, ProblemKind};
use crate::resolve::{self, ForAgent};
use crate::scope::Scope;
use crate::sections::{Hook, Memory, Server, Summarizer, Tenant, default_of};
use crate::sources::{Flag, Owner, Sources};
use crate::{read, trust, variables};

/// A configuration that was read and can be used.
///
/// *Output*: the sections as fields; [`Loaded::for_agent`] for the settings of the presets; [`Loaded::values`] for
/// people.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// Who writes summaries.
    pub summarizer: Summarizer,
    /// Notes that outlive a conversation.
    pub memory: Memory,
    /// Programs that are told.
    pub hooks: Vec<Hook>,
    /// The proxy.
    pub server: Server,
    /// Whose requests the proxy takes, by name; without any everybody is one.
    pub tenants: BTreeMap<String, Tenant>,
    /// What is odd, but no reason to stop.
    pub warnings: Vec<Problem>,
    /// The files that were read, the lowest layer first.
    pub files: Vec<PathBuf>,
    merged: Merged,
}

impl Sources {
    /// Reads everything.
    ///
    /// # Errors
    /// Everything that is wrong with any of the layers.
    pub fn load(&self) -> Result<Loaded, ConfigError> {
        Loaded::of(self)
    }
}

impl Loaded {
    fn of(sources: &Sources) -> Result<Self, ConfigError> {
        let found = sources.found();
        let mut layers: Vec<Layer> = Vec::new();
        let mut warnings = Vec::new();
        for (rank, (path, owner)) in found.iter().enumerate() {
            layers.push(match owner {
                Owner::User => read::layer(path, rank),
                Owner::Folder => {
                    let (layer, told) = trust::layer(path, rank, sources.trusted());
                    warnings.extend(told);
                    layer
                }
            });
        }
        let files = found.into_iter().map(|(path, _)| path).collect();
        let (environment, odd) = variables::read(&sources.variables, layers.len());
        warnings.extend(odd);
        layers.push(environment);
        layers.push(flags(&sources.flags, layers.len()));

        let presets = Presets::of(layers.iter().flat_map(|layer| &layer.items));
        let mut problems = Vec::new();
        let mut usable = Vec::new();
        for mut layer in layers {
            for unknown in &layer.unknown {
                let kind = presets.hint(unknown).into();
                let origin = unknown.origin.clone();
                layer.problems.push(Problem { origin, kind });
            }
            layer.items.retain(|item| match presets.check(item) {
                Ok(()) => true,
                Err(error) => {
                    let (origin, kind) = (item.origin.clone(), error.into());
                    layer.problems.push(Problem { origin, kind });
                    false
                }
            });
            layer.problems.sort_by_key(|problem| match problem.origin {
                Origin::File { line, .. } => line,
                _ => 0,
            });
            problems.append(&mut layer.problems);
            usable.push(layer.items);
        }
        let merged = Merged::of(usable);
        for problem in out_of_order(&merged) {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        let mut loaded = Self {
            summarizer: section(&merged),
            memory: section(&merged),
            hooks: hooks(&merged),
            server: section(&merged),
            tenants: tenants(&merged),
            warnings,
            files,
            merged,
        };
        problems.extend(loaded.choose_key_source());
        loaded.read_templates();
        if problems.is_empty() {
            Ok(loaded)
        } else {
            Err(ConfigError { problems })
        }
    }

    /// The configuration of an agent; one that has nothing of its own has what all have.
    #[must_use]
    pub const fn for_agent<'l>(&'l self, agent: Option<&'l str>) -> ForAgent<'l> {
        ForAgent::of(&self.merged, agent)
    }

    /// The agents that have settings of their own.
    #[must_use]
    pub fn agents(&self) -> Vec<&str> {
        let names = self.merged.items().filter_map(|item| match &item.scope {
            Scope::Agent(name) | Scope::AgentModel(name, _) => Some(name.as_str()),
            Scope::Base | Scope::Model(_) | Scope::Process => None,
        });
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Every value with its origin: the settings for everybody, the sections, then what agents and models have of their
    /// own.
    pub fn values(&self) -> impl Iterator<Item = Entry> {
        let base = self.for_agent(None).for_any_model();
        let of_base: Vec<Entry> = base.entries().cloned().collect();
        let is_listed = |item: &&Item| {
            of_base
                .iter()
                .any(|entry| entry.path == item.setting.path())
        };
        let everybody = |item: &&Item| matches!(item.scope, Scope::Base | Scope::Process);
        // Of a preset that only some agent has.
        let other = self.merged.items().filter(everybody).filter(|item| {
            matches!(item.setting, Setting::Key(_))
                && !is_listed(item)
                && self
                    .merged
                    .base(&item.setting)
                    .is_some_and(|first| first.scope == item.scope)
        });
        let other: Vec<Entry> = other.map(Item::entry).collect();
        let rows = ROWS.iter();
        let rows = rows.filter(|row| !matches!(row.section, "hooks" | "tenants"));
        let rows = rows.filter_map(|row| {
            let setting = Setting::Row(row);
            match self.merged.base(&setting) {
                Some(item) => Some(item.entry()),
                None => Some(Entry {
                    path: row.path(),
                    value: setting.shown(&default_of(row)?),
                    origin: Origin::Default,
                }),
            }
        });
        let rows: Vec<Entry> = rows.collect();
        let lists = self.merged.items().filter(|item| item.setting.is_listed());
        let own = self.merged.items().filter(|item| !everybody(item));
        let rest: Vec<Entry> = lists.chain(own).map(Item::entry).collect();
        of_base.into_iter().chain(other).chain(rows).chain(rest)
    }

    /// The value of a setting by its path: `window`, `summarizer.url`, `agents.research.window`.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<Entry> {
        self.values().find(|entry| entry.path == path)
    }

    /// Of two ways to the key the one from the higher layer stays.
    fn choose_key_source(&mut self) -> Option<Problem> {
        if self.summarizer.key_env.is_none() || self.summarizer.key_file.is_none() {
            return None;
        }
        let item = |name: &str| {
            let row = ROWS.iter().find(|row| row.path() == name)?;
            self.merged.base(&Setting::Row(row))
        };
        let (variable, file) = (item("summarizer.key_env")?, item("summarizer.key_file")?);
        match variable.rank.cmp(&file.rank) {
            std::cmp::Ordering::Less => self.summarizer.key_env = None,
            std::cmp::Ordering::Greater => self.summarizer.key_file = None,
            std::cmp::Ordering::Equal => {
                let error = SettingsError::GivenTwice {
                    first: variable.written.clone(),
                    second: file.written.clone(),
                };
                return Some(Problem {
                    origin: file.origin.clone(),
                    kind: error.into(),
                });
            }
        }
        None
    }

    fn read_templates(&mut self) {
        let mut items: Vec<&Item> = self.merged.items().collect();
        items.sort_by_key(|item| item.rank);
        for item in items {
            if let (Setting::Template(name), Value::Text(path)) = (&item.setting, &item.value) {
                let templates = &mut self.summarizer.templates;
                templates.insert(name.clone(), PathBuf::from(path));
            }
        }
    }
}

fn flags(flags: &[Flag], rank: usize) -> Layer {
    let mut layer = Layer::default();
    for Flag { name, path, value } in flags {
        let origin = Origin::Flag(name.clone());
        let row = ROWS.iter().find(|row| row.path() == *path);
        let setting = match (path.as_str(), key_at(path), row) {
            ("preset", ..) => Setting::Preset,
            (_, Some(key), _) => Setting::Key(key),
            (_, None, Some(row)) => Setting::Row(row),
            (_, None, None) => {
                let (path, hint) = (path.clone(), epitome::settings::Hint::Nothing);
                let kind = SettingsError::UnknownKey { path, hint }.into();
                layer.problems.push(Problem { origin, kind });
                continue;
            }
        };
        layer.items.push(Item {
            scope: Scope::Process,
            setting,
            written: name.clone(),
            value: value.clone(),
            origin,
            rank,
        });
    }
    layer
}

/// Tiers that are out of order for some agent with some model.
fn out_of_order(merged: &Merged) -> Vec<Problem> {
    let mut agents: Vec<Option<&str>> = vec![None];
    let mut models: Vec<Option<&str>> = vec![None];
    // Only one design has tiers.
    let is_of_tiers = |item: &&Item| match item.setting {
        Setting::Preset => true,
        Setting::Key(key) => {
            matches!(presets_with(key), [only] if matches!(only.design().trigger, Trigger::Tiers(_)))
        }
        _ => false,
    };
    for item in merged.items().filter(is_of_tiers) {
        match &item.scope {
            Scope::Agent(agent) => agents.push(Some(agent)),
            Scope::Model(model) => models.push(Some(model)),
            Scope::AgentModel(agent, model) => {
                agents.push(Some(agent));
                models.push(Some(model));
            }
            Scope::Base | Scope::Process => {}
        }
    }
    for names in [&mut agents, &mut models] {
        names.sort_unstable();
        names.dedup();
    }
    let mut problems: Vec<Problem> = Vec::new();
    for agent in &agents {
        for model in &models {
            let holding = merged.holding(*agent, *model);
            let Err(mut error) = resolve::settings(&holding) else {
                continue;
            };
            let mut origin = Origin::Default;
            if let SettingsError::TiersOutOfOrder { lower, upper, .. } = &mut error {
                for path in [lower, upper] {
                    if let Some(item) = holding.get(path.as_str()) {
                        path.clone_from(&item.written);
                        origin = item.origin.clone();
                    }
                }
            }
            let kind = ProblemKind::Setting(error);
            let problem = Problem { origin, kind };
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    problems
}

fn section<S: Section + Default>(merged: &Merged) -> S {
    let mut section = S::default();
    for row in S::rows() {
        if let Some(item) = merged.base(&Setting::Row(row)) {
            section.put(row, &item.value);
        }
    }
    section
}

fn tenants(merged: &Merged) -> BTreeMap<String, Tenant> {
    let mut tenants: BTreeMap<String, Tenant> = BTreeMap::new();
    for item in merged.items() {
        if let Setting::Tenant(name, row) = &item.setting {
            let tenant = tenants.entry(name.clone()).or_default();
            tenant.put(row, &item.value);
        }
    }
    tenants
}

fn hooks(merged: &Merged) -> Vec<Hook> {
    let mut hooks: Vec<Hook> = Vec::new();
    for item in merged.items() {
        if let Setting::Hook(at, row) = item.setting {
            while hooks.len() <= at {
                hooks.push(Hook::default());
            }
            if let Some(hook) = hooks.get_mut(at) {
                hook.put(row, &item.value);
            }
        }
    }
    hooks
}
