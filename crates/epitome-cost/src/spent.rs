//! What came of a request, and its price.

use epitome::{Prices, Usage};

/// What of a request was read from the cache, written to it, and neither; and what was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Read from the cache.
    pub read_tokens: u64,
    /// Written to the cache for its usual time.
    pub written_5m_tokens: u64,
    /// Written to the cache for an hour.
    pub written_1h_tokens: u64,
    /// Neither.
    pub fresh_tokens: u64,
    /// The answer.
    pub output_tokens: u64,
}

impl Spent {
    /// All that went in.
    #[must_use]
    pub const fn input_tokens(&self) -> u64 {
        self.read_tokens + self.written_tokens() + self.fresh_tokens
    }

    /// Written to the cache for any time.
    #[must_use]
    pub const fn written_tokens(&self) -> u64 {
        self.written_5m_tokens + self.written_1h_tokens
    }

    /// As a provider reports it.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        Usage {
            fresh_tokens: self.fresh_tokens,
            cache_read_tokens: self.read_tokens,
            cache_write_tokens: self.written_tokens(),
            output_tokens: self.output_tokens,
        }
    }

    /// What it costs, in billionths of a dollar; `None` where a price that it takes is not known. A request above the
    /// size where long input begins is priced as long from its first token on, and what is read and written of it gets
    /// dearer as input does. What is written where no price of writing is known costs what fresh input does.
    #[must_use]
    pub fn nanodollars(&self, prices: &Prices) -> Option<u64> {
        let is_long = |from_tokens| self.input_tokens() > from_tokens;
        let long = prices.long_input.filter(|long| is_long(long.from_tokens));
        let scaled = |price: u64| match (long, prices.input) {
            (Some(long), Some(input)) if input > 0 => {
                let price = u128::from(price) * u128::from(long.nanodollars);
                u64::try_from(price.div_ceil(u128::from(input))).unwrap_or(u64::MAX)
            }
            _ => price,
        };
        let of = |tokens: u64, price: Option<u64>| match tokens {
            0 => Some(0),
            tokens => price.map(|price| tokens.saturating_mul(price)),
        };
        let input = prices.input.map(scaled);
        let written_5m = prices.cache_write_5m.map(scaled).or(input);
        let sums = [
            of(self.fresh_tokens, input),
            of(self.read_tokens, prices.cache_read.map(scaled)),
            of(self.written_5m_tokens, written_5m),
            of(
                self.written_1h_tokens,
                prices.cache_write_1h.map(scaled).or(written_5m),
            ),
            of(self.output_tokens, prices.output),
        ];
        sums.into_iter()
            .try_fold(0_u64, |sum, part| Some(sum.saturating_add(part?)))
    }
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.read_tokens += other.read_tokens;
        self.written_5m_tokens += other.written_5m_tokens;
        self.written_1h_tokens += other.written_1h_tokens;
        self.fresh_tokens += other.fresh_tokens;
        self.output_tokens += other.output_tokens;
    }
}

#[cfg(test)]
#[path = "spent_tests.rs"]
mod tests;
