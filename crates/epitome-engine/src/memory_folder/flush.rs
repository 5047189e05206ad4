//! The turn before a compaction in which a model saves what should outlive it.

use epitome::settings::MemoryFlushSettings;
use jiff::civil::Date;
use minijinja::{Environment, Error, UndefinedBehavior, context};

/// The whole answer of a model that has nothing to say.
pub const NO_REPLY: &str = "NO_REPLY";

/// The texts of a flush turn, as templates with `{{ date }}`.
///
/// ```
/// use epitome_engine::memory_folder::flush::FlushPrompts;
///
/// let texts = FlushPrompts::default().render(jiff::civil::date(2026, 11, 15))?;
/// assert!(texts.prompt.contains("memory/2026-11-15.md"));
/// # Ok::<(), minijinja::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlushPrompts {
    /// What the user's side says in that turn.
    pub prompt: String,
    /// What is added to the system prompt for that turn.
    pub system_prompt: String,
}

impl Default for FlushPrompts {
    fn default() -> Self {
        Self {
            prompt: include_str!("../../prompts/memory_flush.md").to_owned(),
            system_prompt: include_str!("../../prompts/memory_flush_system.md").to_owned(),
        }
    }
}

impl From<&MemoryFlushSettings> for FlushPrompts {
    fn from(settings: &MemoryFlushSettings) -> Self {
        let own = Self::default();
        Self {
            prompt: settings.prompt.clone().unwrap_or(own.prompt),
            system_prompt: settings.system_prompt.clone().unwrap_or(own.system_prompt),
        }
    }
}

impl FlushPrompts {
    /// The texts of a day.
    ///
    /// # Errors
    /// If a text is no template, or asks for something else than `date`.
    pub fn render(&self, day: Date) -> Result<Self, Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let render = |text: &str| {
            let rendered = environment.render_str(text, context! { date => day.to_string() })?;
            Ok::<_, Error>(rendered.trim().to_owned())
        };
        Ok(Self {
            prompt: render(&self.prompt)?,
            system_prompt: render(&self.system_prompt)?,
        })
    }
}

/// Whether a reply is meant for nobody: [`NO_REPLY`] as its first or last word, with spaces, punctuation or markdown
/// around. As a part of another word, or in the middle of a text, it is only mentioned.
///
/// ```
/// use epitome_engine::memory_folder::flush::is_silent;
///
/// assert!(is_silent("**NO_REPLY**") && is_silent("Saved. NO_REPLY"));
/// assert!(!is_silent("NO_REPLYING is not a word") && !is_silent("A NO_REPLY would do here."));
/// ```
#[must_use]
pub fn is_silent(reply: &str) -> bool {
    let bare = reply.trim_matches(|c: char| !c.is_alphanumeric());
    let is_apart = |beside: Option<char>| beside.is_none_or(|c| !c.is_alphanumeric());
    // An underscore joins words, but around a word it is markdown.
    let opens = bare
        .strip_prefix(NO_REPLY)
        .is_some_and(|rest| is_apart(rest.trim_start_matches('_').chars().next()));
    let closes = bare
        .strip_suffix(NO_REPLY)
        .is_some_and(|rest| is_apart(rest.trim_end_matches('_').chars().next_back()));
    opens || closes
}
