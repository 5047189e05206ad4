//! What the agent is started with.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use epitome::PresetName;
use epitome_wire::Wire;

const USAGE: &str = "agent --url URL --model NAME [--api openai-chat|openai-responses|anthropic] [--preset NAME] \
    [--window TOKENS] [--folder PATH] [--key VARIABLE] TASK";

pub(crate) struct Arguments {
    pub(crate) url: String,
    pub(crate) api: Wire,
    pub(crate) model: String,
    pub(crate) preset: PresetName,
    pub(crate) window: u64,
    pub(crate) folder: PathBuf,
    pub(crate) key: Option<String>,
    pub(crate) task: String,
}

impl Arguments {
    pub(crate) fn read(mut given: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut url = None;
        let mut api = Wire::OpenAiChat;
        let mut model = None;
        let mut preset = PresetName::Default;
        let mut window = None;
        let mut folder = PathBuf::from(".");
        let mut key = None;
        let mut task = None;
        while let Some(argument) = given.next() {
            let Some(option) = argument.strip_prefix("--") else {
                task = Some(argument);
                continue;
            };
            let value = given.next().context(USAGE)?;
            match option {
                "url" => url = Some(value),
                "api" => {
                    let found = Wire::ALL.iter().find(|wire| wire.as_str() == value);
                    api = *found.context(USAGE)?;
                }
                "model" => model = Some(value),
                "preset" => preset = value.parse()?,
                "window" => window = Some(value.parse().context("--window wants a number")?),
                "folder" => folder = value.into(),
                "key" => key = Some(value),
                _ => bail!("there is no option --{option}\n{USAGE}"),
            }
        }
        let model = model.context(USAGE)?;
        let known = epitome::window_of(&model).map(|window| window.tokens);
        Ok(Self {
            url: url.context(USAGE)?,
            api,
            preset,
            window: window.or(known).unwrap_or(epitome::ASSUMED_WINDOW_TOKENS),
            model,
            folder,
            key,
            task: task.context(USAGE)?,
        })
    }
}
