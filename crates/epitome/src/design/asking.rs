//! How a design has a summary written.

use crate::message::Message;

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

/// What a design does when no summary can be written, and its own way is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// A weaker summary, down to the built-in one.
    Ladder,
    /// The conversation stays as it was.
    Stays,
    /// This text stands in for a summary.
    Note(&'static str),
}

/// How a design has a summary written, and what it does when there is none.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// What the model is shown.
    pub form: SummaryForm,
    /// The name of the template that says what a summary is.
    pub template: &'static str,
    /// The name of the template of the system prompt.
    pub system_template: &'static str,
    /// The name of the template that shows the conversation.
    pub text_template: &'static str,
    /// One message, with its position from 0, as the transcript shows it; `None` is our own way.
    pub transcript: Option<fn(usize, &Message) -> String>,
    /// Whether results and arguments are shown whole as far as the summariser's window allows, and not as previews.
    pub shows_results: bool,
    /// How much chance there may be.
    pub temperature: Option<f64>,
    /// The most tokens of a summary; `None` is what the plan leaves.
    pub most_tokens: Option<u64>,
    /// What the model is told of a set limit, in percent of it.
    pub told_percent: u64,
    /// Whether memories are saved in the same pass.
    pub saves_memories: bool,
    /// What happens when no summary can be written.
    pub after_failure: AfterFailure,
    /// Whether the provider is asked after a compaction how large the conversation is.
    pub recounts: bool,
}

impl Asking {
    /// A transcript, our record, and the ladder below it.
    pub const BASE: Self = Self {
        form: SummaryForm::Transcript,
        template: "record",
        system_template: "record",
        text_template: "transcript",
        transcript: None,
        shows_results: false,
        temperature: None,
        most_tokens: None,
        told_percent: 100,
        saves_memories: false,
        after_failure: AfterFailure::Ladder,
        recounts: false,
    };
}
