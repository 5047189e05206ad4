//! How each design asks for a summary.

use epitome::Design;
pub use epitome::SummaryForm;
use epitome::settings::Settings;

/// The way one design asks for a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// The design.
    pub design: &'static Design,
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
        let design = settings.design();
        Self {
            design,
            form: design.asking.form,
            temperature: settings.common.summary_temperature,
            most_tokens: settings.common.summary_tokens,
            input_chars: settings.input_chars(),
            saves_memories: design.asking.saves_memories,
            is_staged: settings.is_staged(),
            parallel: PARALLEL,
        }
    }
}
