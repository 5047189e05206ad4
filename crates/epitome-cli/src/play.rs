//! Conversations of files, walked through again: what `replay` and `compare` share.

mod input;
mod money;

use std::path::Path;

use anyhow::Result;
use epitome::settings::Value;
use epitome::{
    CachePrices, Model, ModelTable, PresetName, PruneSettings, Session, Window, WindowSource,
};
use epitome_config::{Flag, Loaded, Resolved};
use epitome_cost::{Replayed, Terms, replay};

use crate::config;
pub(crate) use input::{Input, read};
pub(crate) use money::dollars;

/// Whose prices are taken where nobody names a model that the table knows.
const ASSUMED_MODEL: &str = "claude-sonnet-5";

/// What users may say about a replay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes<'a> {
    pub(crate) config: Option<&'a Path>,
    pub(crate) preset: Option<PresetName>,
    pub(crate) window: Option<u64>,
    pub(crate) model: Option<&'a str>,
    pub(crate) quiet: bool,
}

/// A design in force, for any conversation.
pub(crate) struct Stage {
    loaded: Loaded,
    /// The model that the user named.
    model: Option<String>,
}

/// A design in force for one conversation.
pub(crate) struct Scene {
    pub(crate) resolved: Resolved,
    pub(crate) window: Window,
    pub(crate) model: Priced,
    /// Whether old tool results are replaced, as the configuration of the proxy says.
    pub(crate) prunes: bool,
}

/// Whose prices are taken.
pub(crate) struct Priced {
    pub(crate) model: &'static Model,
    /// The name under which somebody asked for another one.
    pub(crate) instead_of: Option<String>,
    /// Whether anybody named one.
    pub(crate) is_named: bool,
}

impl Stage {
    /// Reads the configuration under what the user says.
    pub(crate) fn set(wishes: &Wishes<'_>) -> Result<Self> {
        let mut flags = Vec::new();
        if let Some(preset) = wishes.preset {
            let name = Value::Text(preset.to_string());
            flags.push(Flag::new("--preset", "preset", name));
        }
        if let Some(window) = wishes.window {
            flags.push(config::whole("--window", "window", window));
        }
        Ok(Self {
            loaded: config::load(wishes.config, flags, wishes.quiet)?,
            model: wishes.model.map(str::to_owned),
        })
    }

    /// The design for one conversation. Where nobody says how large the window is, all designs have the same.
    pub(crate) fn scene(&self, input: &Input) -> Scene {
        let everybody = self.loaded.for_agent(None);
        let named = self.model.as_deref().or(input.model.as_deref());
        let resolved = match named {
            Some(model) => everybody.for_model(model),
            None => everybody.for_any_model(),
        };
        let window = match resolved.window.source {
            WindowSource::Assumed => Window::assumed(),
            _ => resolved.window,
        };
        Scene {
            resolved,
            window,
            model: Priced::of(named),
            prunes: self.loaded.server.prune,
        }
    }
}

impl Priced {
    fn of(named: Option<&str>) -> Self {
        let table = ModelTable::builtin();
        let found = named.and_then(|name| table.find(name));
        let is_priced = |model: &&Model| model.prices.input.is_some() && model.cache.is_some();
        match found.filter(is_priced) {
            Some(model) => Self {
                model,
                instead_of: None,
                is_named: true,
            },
            None => Self {
                model: assumed(),
                instead_of: named.map(str::to_owned),
                is_named: named.is_some(),
            },
        }
    }

    /// A line that says whose prices they are, and why.
    pub(crate) fn told(&self) -> String {
        let name = &self.model.name;
        let date = ModelTable::builtin().date();
        match (&self.instead_of, self.is_named) {
            (Some(other), _) => {
                format!("prices of {name} ({date}): those of {other} are not known")
            }
            (None, true) => format!("prices of {name} ({date})"),
            (None, false) => {
                format!("prices of {name} ({date}): the file names no model, --model does")
            }
        }
    }
}

impl Scene {
    /// The name of the design.
    pub(crate) fn preset(&self) -> String {
        self.resolved
            .settings
            .preset()
            .unwrap_or_default()
            .to_string()
    }

    /// Walks through a conversation.
    pub(crate) fn play(&self, input: &Input) -> Replayed {
        let model = self.model.model;
        let session = Session::from_settings(&self.resolved.settings, self.window, input.meter)
            .with_cache_prices(CachePrices::of(Some(model)));
        // What fits is left alone, unless somebody wants it otherwise.
        let session = match self.prunes {
            true => session,
            false => session.with_pruning(PruneSettings::off()),
        };
        let terms = Terms {
            model,
            lifetime: input.lifetime,
        };
        replay(&input.recording, session, &terms)
    }

    /// Where the window comes from.
    pub(crate) fn window_told(&self) -> &'static str {
        match self.window.source {
            WindowSource::Assumed => " (assumed; --window sets another)",
            WindowSource::Table => " (of the model)",
            WindowSource::Configured | WindowSource::Learned => "",
        }
    }
}

#[expect(
    clippy::expect_used,
    reason = "the table is part of the program, and a test looks for this row"
)]
fn assumed() -> &'static Model {
    ModelTable::builtin()
        .find(ASSUMED_MODEL)
        .expect("the table has the assumed model")
}

#[cfg(test)]
#[path = "play_tests.rs"]
mod tests;
