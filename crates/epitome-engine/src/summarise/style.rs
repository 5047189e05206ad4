//! How each design asks for a summary.

use epitome::PresetName;
use epitome::settings::{CompactionMode, DesignSettings, Settings};

/// What a summariser is shown of the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryForm {
    /// A text made of the messages.
    #[default]
    Transcript,
    /// The request of the conversation itself with one instruction more, so that the provider's cache is warm. Needs
    /// the conversation's own request; without one it is the transcript.
    Aligned,
}

/// The way one design asks for a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// The design.
    pub preset: PresetName,
    /// What the model is shown.
    pub form: SummaryForm,
    /// How much chance there may be.
    pub temperature: Option<f64>,
    /// The most tokens of a summary, whatever the plan leaves.
    pub most_tokens: Option<u64>,
    /// The most characters of a transcript; the middle is left out.
    pub input_chars: Option<usize>,
    /// Whether memories are saved in the same pass.
    pub saves_memories: bool,
    /// Whether a long history is summarised in parts even where it would fit one request.
    pub is_staged: bool,
    /// How many parts are written at a time.
    pub parallel: usize,
}

/// How many parts are written at a time.
const PARALLEL: usize = 4;

impl Style {
    /// The way of a design, as its settings say.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let preset = settings.preset();
        let common = &settings.common;
        let mut style = Self {
            preset,
            form: match preset {
                PresetName::Vibe => SummaryForm::Aligned,
                _ => SummaryForm::Transcript,
            },
            temperature: common.summary_temperature,
            most_tokens: common.summary_tokens,
            input_chars: None,
            saves_memories: preset == PresetName::Spacebot,
            is_staged: false,
            parallel: PARALLEL,
        };
        match &settings.design {
            DesignSettings::Micro(own) => style.input_chars = Some(own.summary_input_chars),
            DesignSettings::Openclaw(own) => {
                style.is_staged = own.mode == CompactionMode::Safeguard;
            }
            _ => {}
        }
        style
    }

    /// The name of the template that asks for the summary.
    pub(super) const fn template(&self) -> &'static str {
        match self.preset {
            PresetName::Default | PresetName::Openclaw => "record",
            PresetName::Vibe => "seven_sections",
            PresetName::Micro => "narrative",
            PresetName::Spacebot => "worker",
            PresetName::Layer => "rounds",
        }
    }
}
