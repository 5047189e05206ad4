//! What a provider counted.

/// What a provider counted for one request and its answer.
///
/// Anthropic reports fresh, read and written tokens apart; OpenAI's `prompt_tokens` has them all, and is
/// `fresh_tokens` here with nothing beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Input neither read from the cache nor written to it.
    pub fresh_tokens: u64,
    /// Input read from the cache.
    pub cache_read_tokens: u64,
    /// Input written to the cache.
    pub cache_write_tokens: u64,
    /// The answer.
    pub output_tokens: u64,
}

impl Usage {
    /// The whole input, cached or not: what stands against the window.
    #[must_use]
    pub const fn input_tokens(self) -> u64 {
        self.fresh_tokens
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
    }

    /// Input and answer: the size of the conversation after the turn.
    #[must_use]
    pub const fn context_tokens(self) -> u64 {
        self.input_tokens().saturating_add(self.output_tokens)
    }
}
