//! What a conversation took so far: tokens, speed, money.

use epitome::reference::vibe::Stats;
use epitome::{Prices, Usage};

/// No report of one call is believed beyond this, so that sums cannot run over.
const BELIEVED_TOKENS: u64 = 1 << 40;

/// Running statistics of a conversation.
///
/// *Input*: [`Statistics::update`] after each turn, [`Statistics::summary_call`] after each call of a summariser,
/// [`Statistics::compacted`] after each compaction. Prices are those of the model that was called.
///
/// ```
/// use epitome::{Prices, Usage};
/// use epitome_engine::Statistics;
///
/// let prices = Prices { input: Some(3_000), output: Some(15_000), ..Prices::default() };
/// let mut statistics = Statistics::default();
/// let usage = Usage { fresh_tokens: 1_000, output_tokens: 100, ..Usage::default() };
/// statistics.update(usage, 2.0, &prices);
/// assert_eq!(statistics.tokens.context_tokens, 1_100);
/// assert_eq!(statistics.tokens.tokens_per_second, 50.0);
/// assert_eq!(statistics.spent_nanodollars(), 4_500_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Tokens and steps. A call of a summariser is a step and is in the sums of the session.
    pub tokens: Stats,
    /// Compactions so far.
    pub compactions: u64,
    /// Compactions there were when memories were last saved before one: they are saved once for each count.
    pub flushed_at: Option<u64>,
    /// Calls of summarisers; they are among the steps.
    pub summary_calls: u64,
    /// What the turns cost.
    pub turn_nanodollars: u64,
    /// What the calls of summarisers cost.
    pub summary_nanodollars: u64,
    /// Calls whose price is not known, so that they are missing in the cost.
    pub unpriced_calls: u64,
}

impl Statistics {
    /// Takes in the usage of a turn that took so many seconds.
    pub fn update(&mut self, usage: Usage, seconds: f64, prices: &Prices) {
        let (prompt, completion) = believed(usage);
        self.tokens.update(prompt, completion, seconds);
        let cost = self.priced(usage, prices);
        self.turn_nanodollars = self.turn_nanodollars.saturating_add(cost);
    }

    /// Takes in the usage of a call that wrote a summary. It is no turn: size and speed of the context stay.
    pub fn summary_call(&mut self, usage: Usage, prices: &Prices) {
        let (prompt, completion) = believed(usage);
        self.tokens.steps += 1;
        self.tokens.session_prompt_tokens += prompt;
        self.tokens.session_completion_tokens += completion;
        self.summary_calls += 1;
        let cost = self.priced(usage, prices);
        self.summary_nanodollars = self.summary_nanodollars.saturating_add(cost);
    }

    /// A compaction landed that left `context_tokens`, by a probe or by a recount.
    pub const fn compacted(&mut self, context_tokens: u64) {
        self.compactions += 1;
        self.tokens.context_tokens = context_tokens;
    }

    /// Memories were saved before the next compaction.
    pub const fn flushed(&mut self) {
        self.flushed_at = Some(self.compactions);
    }

    /// Turns so far: steps that wrote no summary.
    #[must_use]
    pub const fn turns(&self) -> u64 {
        self.tokens.steps.saturating_sub(self.summary_calls)
    }

    /// What everything cost, as far as prices are known.
    #[must_use]
    pub const fn spent_nanodollars(&self) -> u64 {
        self.turn_nanodollars
            .saturating_add(self.summary_nanodollars)
    }

    fn priced(&mut self, usage: Usage, prices: &Prices) -> u64 {
        cost_nanodollars(usage, prices).unwrap_or_else(|| {
            self.unpriced_calls += 1;
            0
        })
    }
}

/// What a call cost, if the prices of what it used are known. Where the cache has no price of its own it costs what
/// input does; writing is taken at its usual lifetime. Input beyond the model's long mark costs the long price as a
/// whole.
#[must_use]
pub fn cost_nanodollars(usage: Usage, prices: &Prices) -> Option<u64> {
    let is_long = |from: u64| usage.input_tokens() > from;
    let long = prices.long_input.filter(|long| is_long(long.from_tokens));
    let input = long.map(|long| long.nanodollars).or(prices.input);
    let parts = [
        (usage.fresh_tokens, input),
        (usage.cache_read_tokens, prices.cache_read.or(input)),
        (usage.cache_write_tokens, prices.cache_write_5m.or(input)),
        (usage.output_tokens, prices.output),
    ];
    parts.into_iter().try_fold(0_u64, |sum, part| match part {
        (0, _) => Some(sum),
        (tokens, price) => Some(sum.saturating_add(tokens.saturating_mul(price?))),
    })
}

fn believed(usage: Usage) -> (u64, u64) {
    (
        usage.input_tokens().min(BELIEVED_TOKENS),
        usage.output_tokens.min(BELIEVED_TOKENS),
    )
}
