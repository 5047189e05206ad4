//! Whole configurations: the settings of all agents, in our form or in a reference design's own.

use super::Settings;
use super::find::{Found, Place, join, lookup};
use crate::design::PresetName;
use crate::setting::{Kind, Notice, SettingsError, Value};

/// The settings of a configuration and what single agents have otherwise.
///
/// ```
/// use epitome::settings::{Configuration, DesignSettings, Value};
///
/// let text = |text: &str| Value::Text(text.to_owned());
/// let table = |entries: &[(&str, Value)]| {
///     Value::Table(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
/// };
/// let agent = table(&[("id", text("small-model-bot")), ("context_window", Value::Whole(32_000))]);
/// let configuration = Configuration::load(&table(&[
///     ("preset", text("spacebot")),
///     ("background_threshold", Value::Number(0.7)),
///     ("agents", Value::List(vec![agent])),
/// ]))?;
/// let settings = configuration.for_agent("small-model-bot");
/// assert_eq!(settings.common.window, Some(32_000));
/// assert!(matches!(&settings.design, DesignSettings::Spacebot(own) if own.background_threshold == 0.7));
/// # Ok::<(), epitome::settings::SettingsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// What holds for every agent that has nothing of its own.
    pub settings: Settings,
    /// What was found in a reference design's file and is not read here; empty for our own form.
    pub notices: Vec<Notice>,
    agents: Vec<(String, Settings)>,
}

impl Configuration {
    /// Reads our own form: one table with `preset`, the settings of that preset, and `agents`, a list of tables with an
    /// `id` and settings. `preset` may be left out for `default`.
    ///
    /// # Errors
    /// The first thing that is wrong: an unknown key, a wrong kind, a number out of bounds, a setting given twice,
    /// tiers out of order. Settings that contradict the window are no error here: what comes of them is a no-op with
    /// the reason `window_below_reserves`.
    pub fn load(tree: &Value) -> Result<Self, SettingsError> {
        let preset = preset(tree)?;
        let place = Place {
            beside: &["preset", "agents"],
            ..Place::FLAT
        };
        let agent = Place {
            beside: &["id"],
            ..Place::FLAT
        };
        let read = Self::read(preset, tree, place, Some(agent))?;
        match read.notices.into_iter().next() {
            Some(Notice { path, hint }) => Err(SettingsError::UnknownKey { path, hint }),
            None => Ok(Self {
                notices: Vec::new(),
                ..read
            }),
        }
    }

    /// Reads the file of a reference design, in its own form. Such a file belongs to another program: keys that nothing
    /// here reads are [notices](Self::notices), not errors.
    ///
    /// | preset | form |
    /// |---|---|
    /// | `vibe`, `micro`, `layer` | settings in the outermost table |
    /// | `openclaw` | `agents.defaults.compaction` |
    /// | `spacebot` | `defaults.compaction`; `agents`, a list of tables with `id` and `compaction`; `context_window` in any of the tables |
    ///
    /// # Errors
    /// As [`Configuration::load`], but for unknown keys.
    pub fn load_reference(preset: PresetName, tree: &Value) -> Result<Self, SettingsError> {
        let (place, agent) = Place::of_file(preset.design().file);
        Self::read(preset, tree, place, agent)
    }

    /// The settings of an agent: those of all, overlaid by the keys that the agent has itself.
    #[must_use]
    pub fn for_agent(&self, id: &str) -> &Settings {
        self.agents()
            .find(|(agent, _)| *agent == id)
            .map_or(&self.settings, |(_, settings)| settings)
    }

    /// The agents that have settings of their own, in the order of the file.
    pub fn agents(&self) -> impl Iterator<Item = (&str, &Settings)> {
        self.agents
            .iter()
            .map(|(id, settings)| (id.as_str(), settings))
    }

    /// Everything in our own form, with every setting spelled out; [`Configuration::load`] gives the same settings back.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let preset = Value::Text(self.settings.design().name.to_owned());
        let mut entries = vec![("preset".to_owned(), preset)];
        entries.extend(self.settings.to_entries());
        let agent = |(id, settings): &(String, Settings)| {
            let mut entries = vec![("id".to_owned(), Value::Text(id.clone()))];
            entries.extend(settings.to_entries());
            Value::Table(entries)
        };
        if !self.agents.is_empty() {
            let agents = self.agents.iter().map(agent).collect();
            entries.push(("agents".to_owned(), Value::List(agents)));
        }
        Value::Table(entries)
    }

    fn read(
        preset: PresetName,
        tree: &Value,
        place: Place<'_>,
        agent_place: Option<Place<'_>>,
    ) -> Result<Self, SettingsError> {
        let mut settings = Settings::of(preset);
        let mut notices = settings.take(tree, "", place)?;
        let mut agents: Vec<(String, Settings)> = Vec::new();
        let listed = match agent_place {
            Some(place) => lookup(tree, "", "agents")?.map(|agents| (agents, place)),
            None => None,
        };
        if let Some(((path, list), place)) = listed {
            let Value::List(list) = list else {
                return Err(wrong(&path, "a list of agents", list));
            };
            for (at, agent) in list.iter().enumerate() {
                let path = format!("{path}[{at}]");
                let id = agent_id(agent, &path)?;
                if agents.iter().any(|(other, _)| *other == id) {
                    return Err(SettingsError::AgentTwice { id });
                }
                let mut own = settings.clone();
                notices.extend(own.take(agent, &path, place)?);
                agents.push((id, own));
            }
        }
        Ok(Self {
            settings,
            notices,
            agents,
        })
    }
}

impl Settings {
    /// Takes over what a tree gives, and returns what it has besides.
    fn take(
        &mut self,
        tree: &Value,
        at: &str,
        place: Place<'_>,
    ) -> Result<Vec<Notice>, SettingsError> {
        let mut found = Found::new(self.keys());
        found.search(tree, at, place)?;
        self.overlay(&found.given)?;
        Ok(found.unknown)
    }
}

fn preset(tree: &Value) -> Result<PresetName, SettingsError> {
    let Some((path, value)) = lookup(tree, "", "preset")? else {
        return Ok(PresetName::default());
    };
    let named = value.as_text().and_then(|name| name.parse().ok());
    named.ok_or_else(|| {
        let words = PresetName::ALL.map(PresetName::as_str);
        wrong(&path, &format!("`{}`", words.join("`, `")), value)
    })
}

fn agent_id(agent: &Value, at: &str) -> Result<String, SettingsError> {
    let expected = format!("{} that names the agent", Kind::Text);
    match lookup(agent, at, "id")? {
        Some((_, Value::Text(id))) => Ok(id.clone()),
        Some((path, value)) => Err(wrong(&path, &expected, value)),
        None => Err(wrong(&join(at, "id"), &expected, &Value::Null)),
    }
}

fn wrong(path: &str, expected: &str, found: &Value) -> SettingsError {
    SettingsError::WrongType {
        path: path.to_owned(),
        expected: expected.to_owned(),
        found: found.to_string(),
    }
}
