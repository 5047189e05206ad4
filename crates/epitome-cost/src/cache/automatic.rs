//! Caches that work by themselves.

use epitome::CacheRule;

use super::{Borders, ProviderCache};
use crate::request::Prefix;

/// OpenAI caches in steps of so many tokens.
pub(super) const OPENAI_STEP_TOKENS: u64 = 128;

impl ProviderCache {
    /// Whatever an earlier request began with is read, in whole steps and from a least length on. Writing is free: it is
    /// fresh input.
    pub(super) fn by_itself(
        &mut self,
        prefixes: &[Prefix],
        at_ms: u64,
        step_tokens: u64,
    ) -> Borders {
        let idle_ms = match self.rule {
            CacheRule::OpenAi => self.retention.idle_ms(),
            // Nobody says how long; unknown means warm.
            _ => u64::MAX,
        };
        let shared = prefixes
            .iter()
            .rev()
            .find(|prefix| self.is_alive(prefix, at_ms))
            .map_or(0, |prefix| prefix.tokens);
        for prefix in prefixes {
            self.hold(prefix, at_ms, idle_ms);
        }
        let read = shared - shared % step_tokens.max(1);
        Borders {
            read: if read >= self.minimum_tokens { read } else { 0 },
            ..Borders::default()
        }
    }
}
