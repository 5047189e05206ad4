//! What is known of models: their windows, prices and caches.

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
    /// By itself, on any prefix seen before; writing is free.
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
            Self::Automatic => "automatic",
            Self::None => "none",
        }
    }

    /// Marks a request may carry; 0 where there are none.
    #[must_use]
    pub const fn marks(self) -> usize {
        match self {
            Self::Anthropic | Self::OpenAiMarked => 4,
            Self::Automatic | Self::None => 0,
        }
    }

    /// The longest that a prefix may stay in the cache, in milliseconds; `None` where nobody promises an end.
    #[must_use]
    pub const fn longest_lifetime_ms(self) -> Option<u64> {
        match self {
            Self::Anthropic => Some(60 * 60 * 1_000),
            Self::OpenAiMarked | Self::Automatic => None,
            Self::None => Some(0),
        }
    }

    fn named(name: &str) -> Option<Self> {
        [
            Self::Anthropic,
            Self::OpenAiMarked,
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
    ModelTable::builtin().find(model).map(Model::window)
}
