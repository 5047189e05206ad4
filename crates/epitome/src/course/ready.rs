//! A compaction that is ready: whether it is shown now.

use super::{Course, Decision, Sight};
use crate::gauge::{Reading, Swap, Waited};
use crate::log::Log;
use crate::message::Role;
use crate::plan::unseen_tokens;
use crate::reason::Reason;

/// What is known of the provider's cache of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheState {
    /// It may still be there, or nobody knows.
    Warm,
    /// It is surely gone: see [`is_surely_cold`](crate::is_surely_cold).
    Cold,
}

/// What is known of a compaction that is ready, by the meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyFacts {
    /// What the whole request would take with it.
    pub after_tokens: u64,
    /// What of that stands in front and stays as it is now.
    pub kept_tokens: u64,
    /// How many entries of the log the request had that it was made on. What went out since is read from the answers behind
    /// them: nobody has to remember it, and all who share a conversation do the same sum.
    pub seen_entries: usize,
}

/// Why a compaction that is ready is shown now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowNow {
    /// The conversation has to be compacted, and this leaves as much room as a fresh compaction would.
    Must(Reason),
    /// Nothing is lost by it: the provider's cache is gone.
    Cold,
    /// It saves more than it costs.
    Pays(Swap),
    /// The design shows what is ready.
    Design,
}

impl ShowNow {
    /// The sum, where it was one.
    #[must_use]
    pub const fn swap(self) -> Option<Swap> {
        match self {
            Self::Pays(swap) => Some(swap),
            Self::Must(_) | Self::Cold | Self::Design => None,
        }
    }
}

impl Course {
    /// Whether a compaction that is ready is to be shown before the next request, and why. `None`: the request goes out
    /// on the view as it is, or, where the line is reached, a fresh compaction leaves more room.
    #[must_use]
    pub fn shows(
        &self,
        sight: &Sight<'_>,
        ready: &ReadyFacts,
        cache: CacheState,
    ) -> Option<ShowNow> {
        if self.preset.shows_at_once {
            return Some(ShowNow::Design);
        }
        let swap = self.swap(sight, ready);
        if let Ok(Decision::Compact(reason)) = self.due(sight) {
            let is_roomy = swap.after_tokens <= self.fresh_tokens(sight);
            return is_roomy.then_some(ShowNow::Must(reason));
        }
        if !self.reading(sight).nears_the_line() {
            return None;
        }
        match cache {
            CacheState::Cold => Some(ShowNow::Cold),
            CacheState::Warm => swap.pays().then_some(ShowNow::Pays(swap)),
        }
    }

    /// The sum of showing it now.
    #[must_use]
    pub fn swap(&self, sight: &Sight<'_>, ready: &ReadyFacts) -> Swap {
        let reading = self.reading(sight);
        let after_tokens = reading.real(ready.after_tokens);
        let excess_tokens = reading.size_tokens.saturating_sub(after_tokens);
        let waited = waited(sight.log, ready.seen_entries, &reading, excess_tokens);
        let left = reading.lines.map_or(0, |lines| {
            lines.hard_tokens.saturating_sub(reading.size_tokens)
        });
        Swap {
            before_tokens: reading.size_tokens,
            after_tokens,
            rewritten_tokens: after_tokens.saturating_sub(reading.real(ready.kept_tokens)),
            new_tokens: waited.new_in(reading.size_tokens),
            waited_tokens: waited.excess_tokens,
            sent_tokens: waited.sent_tokens,
            written_tokens: waited.new_tokens,
            requests: left / self.growth(sight, &reading).tokens.max(1),
            prices: self.cache_prices,
            window_tokens: self.window().tokens,
        }
    }

    /// What a fresh compaction would leave.
    fn fresh_tokens(&self, sight: &Sight<'_>) -> u64 {
        let room = self.room(sight, Reason::HardLine);
        let wanted = room
            .target_tokens
            .saturating_add(unseen_tokens(sight.log))
            .min(room.most_tokens);
        let apart = self.apart_tokens(sight);
        self.reading(sight)
            .real(apart + wanted.max(room.target_tokens))
    }
}

/// What requests took since one that had the first `seen` entries: each answer behind them was one. All were too large by as
/// much, since both views grow alike.
fn waited(log: &Log, seen: usize, reading: &Reading, excess_tokens: u64) -> Waited {
    let seen = seen.min(log.len());
    let size_of = |end: usize| {
        let since = reading.real(log.tokens(end..log.len()));
        reading.size_tokens.saturating_sub(since)
    };
    let mut waited = Waited::since(size_of(seen));
    // What stands right behind them is the answer to that request itself.
    let mut is_answering = true;
    for at in seen..log.len() {
        let is_answer = log.role(at) == Some(Role::Assistant);
        // An answer may be several entries in a row.
        if is_answer && !is_answering {
            waited.add(size_of(at), excess_tokens);
        }
        is_answering = is_answer;
    }
    waited
}
