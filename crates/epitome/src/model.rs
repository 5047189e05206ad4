//! What is known of models: their windows, prices and caches.

mod names;
mod table;

pub use table::{ModelTable, ModelTableError, ModelTableProblem};

use crate::window::{Window, WindowSource};

/// A model, as far as the table knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Its name without provider and date.
    pub name: String,
    /// Tokens that input and output share.
    pub window_tokens: u64,
    /// The input's own limit, where it is less than the window.
    pub input_tokens: Option<u64>,
    /// The longest answer.
    pub max_output_tokens: Option<u64>,
    /// What it costs.
    pub prices: Prices,
    /// How its provider caches prompts.
    pub cache: Option<CacheRule>,
    /// The shortest prefix that is cached at all.
    pub cache_minimum_tokens: Option<u64>,
    /// The window of requests that ask for the long context, where it is another.
    pub beta_window_tokens: Option<u64>,
    /// Whether a request is refused when its input and the room it asks for its answer are above the window together;
    /// `None` where nobody said.
    pub counts_output: Option<bool>,
}

impl Model {
    /// The window that a request has to fit into: the input's own limit where there is one.
    #[must_use]
    pub fn window(&self) -> Window {
        Window {
            tokens: self.input_tokens.unwrap_or(self.window_tokens),
            source: WindowSource::Table,
        }
    }

    /// [`window`](Self::window) of a request that asks for `beta`.
    #[must_use]
    pub fn window_with(&self, beta: ContextBeta) -> Window {
        match (beta, self.beta_window_tokens) {
            (ContextBeta::OneMillion, Some(tokens)) => Window {
                tokens,
                source: WindowSource::Table,
            },
            _ => self.window(),
        }
    }
}

/// Whether a request asks for a longer context than its model has by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContextBeta {
    /// It does not.
    #[default]
    None,
    /// It asks for a million tokens; only some models have them.
    OneMillion,
}

/// The beginning of the beta's name; its date follows.
const LONG_CONTEXT_BETA: &str = "context-1m-";

impl ContextBeta {
    /// What a header `anthropic-beta` asks for: names apart by commas.
    ///
    /// ```
    /// use epitome::ContextBeta;
    ///
    /// let header = "claude-code-20250219,context-1m-2025-08-07";
    /// assert_eq!(ContextBeta::of_header(header), ContextBeta::OneMillion);
    /// ```
    #[must_use]
    pub fn of_header(value: &str) -> Self {
        let mut names = value.split(',').map(str::trim);
        match names.any(|name| name.starts_with(LONG_CONTEXT_BETA)) {
            true => Self::OneMillion,
            false => Self::None,
        }
    }
}

/// Prices in nanodollars per token, which are thousandths of a dollar per million tokens. What is `None`
/// is not known; what is zero is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// A token of fresh input.
    pub input: Option<u64>,
    /// A token of output.
    pub output: Option<u64>,
    /// A token read from the cache.
    pub cache_read: Option<u64>,
    /// A token written to the cache for its usual time (five minutes where it can be chosen).
    pub cache_write_5m: Option<u64>,
    /// A token written to the cache for an hour.
    pub cache_write_1h: Option<u64>,
    /// The price of long input, where it is another.
    pub long_input: Option<LongInput>,
}

/// A price that begins at a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongInput {
    /// Input above this many tokens is long.
    pub from_tokens: u64,
    /// Nanodollars per token of it.
    pub nanodollars: u64,
}

/// How a provider caches prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheRule {
    /// Where the request marks it, at most four times; five minutes or an hour, anew with every hit.
    Anthropic,
    /// Where the request marks it, or by itself at the end; half an hour, writing is paid.
    OpenAiMarked,
    /// By itself, on any prefix seen before; writing is free. Minutes, or up to a day where the request asks for it.
    OpenAi,
    /// By itself, on any prefix seen before; writing is free. How long is not said.
    Automatic,
    /// Not at all.
    None,
}

impl CacheRule {
    /// The rule's word in the table.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiMarked => "openai-marked",
            Self::OpenAi => "openai",
            Self::Automatic => "automatic",
            Self::None => "none",
        }
    }

    /// Marks a request may carry; 0 where there are none.
    #[must_use]
    pub const fn marks(self) -> usize {
        match self {
            Self::Anthropic | Self::OpenAiMarked => 4,
            Self::OpenAi | Self::Automatic | Self::None => 0,
        }
    }

    /// The longest time after which something may still be cached, since it was last used; `None` where nobody says.
    /// After it the cache is surely cold.
    #[must_use]
    pub const fn longest_lifetime_ms(self) -> Option<u64> {
        const HOUR_MS: u64 = 3_600_000;
        match self {
            Self::Anthropic => Some(HOUR_MS),
            // Extended retention; what is not extended is gone within an hour.
            Self::OpenAi | Self::OpenAiMarked => Some(24 * HOUR_MS),
            Self::Automatic => None,
            Self::None => Some(0),
        }
    }

    fn named(name: &str) -> Option<Self> {
        [
            Self::Anthropic,
            Self::OpenAiMarked,
            Self::OpenAi,
            Self::Automatic,
            Self::None,
        ]
        .into_iter()
        .find(|rule| rule.as_str() == name)
    }
}

/// The window of a model by name, if the built-in table knows it; found as [`ModelTable::find`] does.
#[must_use]
pub fn window_of(model: &str) -> Option<Window> {
    window_of_with(model, ContextBeta::None)
}

/// [`window_of`] under what the request asks for; see [`ModelTable::window_with`].
#[must_use]
pub fn window_of_with(model: &str, beta: ContextBeta) -> Option<Window> {
    ModelTable::builtin().window_with(model, beta)
}
