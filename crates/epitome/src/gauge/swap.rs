//! When to show a compaction that is ready, and how small to make one: room, prices, and what is expected next.

use super::Reading;
use crate::log::Log;
use crate::message::Role;
use crate::model::{CacheRule, Model};
use crate::window::Lines;

/// A conversation uses about this share of its window, in percent, before anything is given up to save money.
const LEAST_USE_PERCENT: u64 = 65;
/// What was paid too much must come to this share of what showing it would have cost at once, in percent.
const LEAST_PAID_PERCENT: u128 = 50;
/// After a compaction the conversation should last as many requests as writing it anew costs in readings, within these
/// bounds.
const FEWEST_REQUESTS: u64 = 4;
const MOST_REQUESTS: u64 = 16;
/// The room behind a compaction lies between these shares of the hard line, in percent.
const LEAST_ROOM_PERCENT: u64 = 45;
const MOST_ROOM_PERCENT: u64 = 65;
/// One that is made ahead leaves more, by what the conversation may still grow; but not less than this of the hard line.
const LEAST_TARGET_PERCENT: u64 = 15;
/// Where the last step alone is larger than that, this share of the hard line may be used.
const MOST_TARGET_PERCENT: u64 = 97;

/// What a cached token costs to read and to write, in any unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CachePrices {
    /// Read from the cache.
    pub read: u64,
    /// Written to it, or sent where nothing is cached.
    pub write: u64,
}

impl CachePrices {
    /// Where nothing is known the cache counts as warm and writing it as dear.
    pub const UNKNOWN: Self = Self {
        read: 100,
        write: 1_250,
    };

    /// The prices of a model.
    #[must_use]
    pub fn of(model: Option<&Model>) -> Self {
        let Some(model) = model else {
            return Self::UNKNOWN;
        };
        let prices = model.prices;
        let input = prices.input.filter(|price| *price > 0);
        let read = match model.cache {
            Some(CacheRule::None) => input,
            _ => prices.cache_read.filter(|price| *price > 0),
        };
        match (input, read) {
            (Some(input), Some(read)) => Self {
                read,
                write: prices.cache_write_5m.unwrap_or(input).max(input),
            },
            _ => Self::UNKNOWN,
        }
    }

    /// How many readings one writing costs.
    const fn readings(self) -> u64 {
        self.write
            .div_ceil(if self.read == 0 { 1 } else { self.read })
    }
}

/// What a conversation grows by from one request to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Real tokens; at least one.
    pub tokens: u64,
}

/// Growth is taken over so many of the newest answers.
const RECENT_ANSWERS: u64 = 8;

impl Growth {
    /// The mean over the newest answers of a conversation that is as large as `reading` says.
    #[must_use]
    pub fn recent(log: &Log, reading: &Reading) -> Self {
        let mut answers = 0;
        let mut from = log.len();
        while from > 0 && answers < RECENT_ANSWERS {
            from -= 1;
            // An answer may be several entries in a row.
            let is_answer = log.role(from) == Some(Role::Assistant)
                && log.role(from + 1) != Some(Role::Assistant);
            answers += u64::from(is_answer);
        }
        let estimated = log.tokens(from..log.len());
        let ratio = reading.size_tokens as f64 / reading.estimated_tokens.max(1) as f64;
        Self::mean((estimated as f64 * ratio) as u64, answers)
    }

    /// The mean over a conversation of so many tokens that took so many answers.
    #[must_use]
    pub const fn mean(tokens: u64, answers: u64) -> Self {
        let answers = if answers == 0 { 1 } else { answers };
        let tokens = tokens / answers;
        Self {
            tokens: if tokens == 0 { 1 } else { tokens },
        }
    }
}

/// What requests took since a compaction lies ready, in real tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// More than they would have taken with it.
    pub excess_tokens: u64,
    /// In all.
    pub sent_tokens: u64,
    /// What was new in them, and would have been written on either view.
    pub new_tokens: u64,
    /// The newest of them, in all; at first the last one before.
    pub last_tokens: u64,
}

impl Waited {
    /// Nothing was sent since; the last request before took so much.
    #[must_use]
    pub const fn since(last_tokens: u64) -> Self {
        Self {
            excess_tokens: 0,
            sent_tokens: 0,
            new_tokens: 0,
            last_tokens,
        }
    }

    /// A request of this size went out without it, by so much too large.
    pub const fn add(&mut self, request_tokens: u64, excess_tokens: u64) {
        self.new_tokens = self.new_tokens.saturating_add(self.new_in(request_tokens));
        self.excess_tokens = self.excess_tokens.saturating_add(excess_tokens);
        self.sent_tokens = self.sent_tokens.saturating_add(request_tokens);
        self.last_tokens = request_tokens;
    }

    /// What is new in a request that takes so much.
    #[must_use]
    pub const fn new_in(&self, request_tokens: u64) -> u64 {
        request_tokens.saturating_sub(self.last_tokens)
    }
}

/// The arithmetic of showing a compaction before it must be shown. It is kept with the compaction, so that anybody
/// can do the sum again.
///
/// Nobody knows how long a conversation goes on. One that is shown at once may end before the new prefix has paid for
/// itself; one that never is pays for what it no longer needs on every request. So it is shown when
///
/// - all that was spent since it lay ready, this request included, is as much as showing it now costs, and
/// - what of that was too much is half of what showing it would have cost at once.
///
/// The first alone bounds the cost by twice the best in hindsight, whatever comes; so does waiting until what was too much is all of
/// that price, and everything between the two: the argument is in `epitome-cost`, beside the numbers. The second is for those who
/// end soon: they are left alone longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Swap {
    /// What a request takes now.
    pub before_tokens: u64,
    /// What it would take.
    pub after_tokens: u64,
    /// What of that the provider's cache does not have.
    pub rewritten_tokens: u64,
    /// What of that is new in this request: it is written on either view.
    #[cfg_attr(feature = "serde", serde(default))]
    pub new_tokens: u64,
    /// What requests took too much since it lies ready, all together.
    #[cfg_attr(feature = "serde", serde(default))]
    pub waited_tokens: u64,
    /// What they took in all.
    #[cfg_attr(feature = "serde", serde(default))]
    pub sent_tokens: u64,
    /// What was new in them.
    #[cfg_attr(feature = "serde", serde(default))]
    pub written_tokens: u64,
    /// How many requests are expected before the hard line makes it necessary anyway.
    pub requests: u64,
    /// What tokens cost.
    pub prices: CachePrices,
    /// The window.
    pub window_tokens: u64,
}

impl Swap {
    /// What the requests since it lies ready cost too much, this one included.
    #[must_use]
    pub const fn paid(&self) -> u128 {
        (self.waited_tokens as u128 + self.excess_tokens() as u128) * self.prices.read as u128
    }

    /// What they cost in all.
    #[must_use]
    pub const fn spent(&self) -> u128 {
        let sent = self.sent_tokens as u128 + self.before_tokens as u128;
        let new = self.written_tokens as u128 + self.new_tokens as u128;
        sent * self.prices.read as u128 + new * self.dearer()
    }

    /// What writing the new prefix costs more than reading it would.
    #[must_use]
    pub const fn price(&self) -> u128 {
        self.rewritten_tokens.saturating_sub(self.new_tokens) as u128 * self.dearer()
    }

    /// What that would have been when it came to lie ready.
    const fn first_price(&self) -> u128 {
        let since = self.new_tokens.saturating_add(self.written_tokens);
        self.rewritten_tokens.saturating_sub(since) as u128 * self.dearer()
    }

    const fn dearer(&self) -> u128 {
        self.prices.write.saturating_sub(self.prices.read) as u128
    }

    /// Whether it pays: see [`Swap`]. Before that the window is used.
    #[must_use]
    pub const fn pays(&self) -> bool {
        let used = self.before_tokens as u128 * 100;
        used >= self.window_tokens as u128 * LEAST_USE_PERCENT as u128
            && self.after_tokens < self.before_tokens
            && self.spent() >= self.price()
            && self.paid() * 100 >= self.first_price() * LEAST_PAID_PERCENT
    }

    /// What the request that goes out without it takes too much.
    #[must_use]
    pub const fn excess_tokens(&self) -> u64 {
        self.before_tokens.saturating_sub(self.after_tokens)
    }
}

/// How small a compaction should make a conversation. Real tokens of the whole request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// What it aims for.
    pub tokens: u64,
    /// What it may take where the last step alone is larger than that.
    pub most_tokens: u64,
}

impl Target {
    /// The target below `lines` for a conversation that grows by `growth`. One that is made `ahead_tokens` before the
    /// line leaves as much room as a fresh one would when the line is reached.
    #[must_use]
    pub fn below(lines: Lines, ahead_tokens: u64, growth: Growth, prices: CachePrices) -> Self {
        let hard = lines.hard_tokens;
        let percent = |share: u64| (u128::from(hard) * u128::from(share) / 100) as u64;
        let requests = prices.readings().clamp(FEWEST_REQUESTS, MOST_REQUESTS);
        let room = growth
            .tokens
            .saturating_mul(requests)
            .clamp(percent(LEAST_ROOM_PERCENT), percent(MOST_ROOM_PERCENT));
        let tokens = (hard - room).saturating_sub(ahead_tokens);
        Self {
            tokens: tokens.max(percent(LEAST_TARGET_PERCENT)),
            most_tokens: percent(MOST_TARGET_PERCENT),
        }
    }
}

/// Whether a provider's cache of a conversation that was idle for so long is surely gone: longer than the longest that
/// this provider may hold it. Where nothing is known it counts as warm. The one rule for everybody.
#[must_use]
pub fn is_surely_cold(idle_ms: i64, cache: Option<CacheRule>) -> bool {
    let lifetime_ms = cache.and_then(CacheRule::longest_lifetime_ms);
    lifetime_ms.is_some_and(|lifetime| u64::try_from(idle_ms).is_ok_and(|idle| idle > lifetime))
}
