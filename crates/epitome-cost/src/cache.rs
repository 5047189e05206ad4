//! A provider's cache over time.

mod automatic;
mod marked;

use std::collections::HashMap;

use epitome::{CacheRule, Digest, Model};

use crate::request::{Lifetime, Prefix, Request, prefixes};
use crate::spent::Spent;

/// From each mark Anthropic looks at so many blocks for the end of something cached, the marked one included.
pub const LOOK_BACK_BLOCKS: usize = 20;

const MINUTE_MS: u64 = 60_000;
/// The shortest prefix that is cached, where the table of models says nothing: what most models of all providers have.
const USUAL_MINIMUM_TOKENS: u64 = 1_024;

/// How long a provider that caches by itself keeps a prefix that nobody uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retention {
    /// In memory: five to ten minutes are named as usual, an hour as the most. Here it is ten minutes.
    InMemory,
    /// Up to a day: OpenAI's default for those who did not forbid it.
    #[default]
    Day,
}

impl Retention {
    const fn idle_ms(self) -> u64 {
        match self {
            Self::InMemory => 10 * MINUTE_MS,
            Self::Day => 24 * 60 * MINUTE_MS,
        }
    }
}

/// Why a provider would refuse a request for its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has more marks than are allowed.
    #[error("{marks} cache marks, where {allowed} are allowed")]
    TooManyMarks {
        /// How many it has.
        marks: usize,
        /// How many it may have.
        allowed: usize,
    },
    /// A mark for an hour stands behind one for five minutes.
    #[error("a cache mark for an hour behind one for five minutes")]
    HourBehindMinutes,
}

/// The cache that a provider keeps for one model and one customer.
///
/// *Input*: [`ProviderCache::send`], in the order of the requests. What it says is a function of the requests so far.
#[derive(Clone, Debug)]
pub struct ProviderCache {
    rule: CacheRule,
    minimum_tokens: u64,
    retention: Retention,
    held: HashMap<Digest, Held>,
    /// The request before: most requests begin as it does.
    last: Vec<Prefix>,
}

/// A prefix that is cached.
#[derive(Clone, Copy, Debug)]
struct Held {
    used_ms: u64,
    idle_ms: u64,
}

impl Held {
    const fn is_alive(self, at_ms: u64) -> bool {
        at_ms.saturating_sub(self.used_ms) <= self.idle_ms
    }
}

/// Where a request meets what is cached, in tokens from its beginning.
#[derive(Clone, Copy, Debug, Default)]
struct Borders {
    /// Up to here it is read.
    read: u64,
    /// Up to here it is written for an hour.
    hour: u64,
    /// Up to here it is written for the usual time.
    minutes: u64,
}

impl ProviderCache {
    /// An empty cache that follows a rule, and takes nothing shorter than this.
    #[must_use]
    pub fn new(rule: CacheRule, minimum_tokens: u64) -> Self {
        Self {
            rule,
            minimum_tokens,
            retention: Retention::default(),
            held: HashMap::new(),
            last: Vec::new(),
        }
    }

    /// An empty cache of a model. Where nobody says how its provider caches, nothing is.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let rule = model.cache.unwrap_or(CacheRule::None);
        let usual = match rule {
            CacheRule::Automatic | CacheRule::None => 0,
            CacheRule::Anthropic | CacheRule::OpenAiMarked | CacheRule::OpenAi => {
                USUAL_MINIMUM_TOKENS
            }
        };
        Self::new(rule, model.cache_minimum_tokens.unwrap_or(usual))
    }

    /// The same, where a prefix that is cached by itself is kept for so long.
    #[must_use]
    pub const fn with_retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Sends a request, and says what of it was read, written and fresh.
    ///
    /// # Errors
    /// [`Refused`] where the provider would not take its marks. The cache is as it was.
    pub fn send(&mut self, request: &Request) -> Result<Spent, Refused> {
        let prefixes = prefixes(request, &self.last);
        let borders = match self.rule {
            CacheRule::Anthropic => self.by_marks(&prefixes, request.at_ms)?,
            CacheRule::OpenAiMarked => self.by_marks_and_end(&prefixes, request.at_ms),
            CacheRule::OpenAi => {
                self.by_itself(&prefixes, request.at_ms, automatic::OPENAI_STEP_TOKENS)
            }
            CacheRule::Automatic => self.by_itself(&prefixes, request.at_ms, 1),
            CacheRule::None => Borders::default(),
        };
        let input_tokens = prefixes.last().map_or(0, |whole| whole.tokens);
        self.last = prefixes;
        let Borders {
            read,
            hour,
            minutes,
        } = borders;
        let written_1h_tokens = hour.saturating_sub(read);
        let written_5m_tokens = minutes.saturating_sub(read.max(hour));
        Ok(Spent {
            read_tokens: read,
            written_5m_tokens,
            written_1h_tokens,
            fresh_tokens: input_tokens.saturating_sub(read + written_1h_tokens + written_5m_tokens),
            output_tokens: request.output_tokens,
        })
    }

    fn is_alive(&self, prefix: &Prefix, at_ms: u64) -> bool {
        self.held
            .get(&prefix.key)
            .is_some_and(|held| held.is_alive(at_ms))
    }

    /// What is read is used, and so is all that it begins with: none of it costs anything to keep on.
    fn use_up_to(&mut self, prefixes: &[Prefix], end: usize, at_ms: u64) {
        for prefix in prefixes.iter().take(end + 1) {
            if let Some(held) = self.held.get_mut(&prefix.key)
                && held.is_alive(at_ms)
            {
                held.used_ms = at_ms;
            }
        }
    }

    fn hold(&mut self, prefix: &Prefix, at_ms: u64, idle_ms: u64) {
        let used_ms = at_ms;
        self.held.insert(prefix.key, Held { used_ms, idle_ms });
    }
}

const fn idle_ms(lifetime: Lifetime) -> u64 {
    match lifetime {
        Lifetime::FiveMinutes => 5 * MINUTE_MS,
        Lifetime::Hour => 60 * MINUTE_MS,
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
