//! A compaction that is ready: whether it is shown now.

use super::{Decision, Prepared, Session};
use crate::gauge::Swap;
use crate::plan::{leading_system, unseen_tokens};
use crate::preset_name::PresetName;
use crate::reason::Reason;

/// What is known of the provider's cache of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheState {
    /// It may still be there, or nobody knows.
    Warm,
    /// It is surely gone: see [`is_surely_cold`](crate::is_surely_cold).
    Cold,
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

impl Session {
    /// Whether a compaction that was prepared ahead of the line is to be shown before the next request, and why.
    /// `None`: the request goes out on the view as it is, or, where the line is reached, a fresh compaction leaves more
    /// room.
    #[must_use]
    pub fn shows(&self, prepared: &Prepared, cache: CacheState) -> Option<ShowNow> {
        if self.preset.name != PresetName::Default {
            return Some(ShowNow::Design);
        }
        let swap = self.swap(prepared)?;
        if let Decision::Compact(reason) = self.decide() {
            let is_roomy = swap.after_tokens <= self.fresh_tokens();
            return is_roomy.then_some(ShowNow::Must(reason));
        }
        if !self.reading().nears_the_line() {
            return None;
        }
        match cache {
            CacheState::Cold => Some(ShowNow::Cold),
            CacheState::Warm => swap.pays().then_some(ShowNow::Pays(swap)),
        }
    }

    /// The sum of showing it now.
    fn swap(&self, prepared: &Prepared) -> Option<Swap> {
        let reading = self.reading();
        let lines = reading.lines?;
        let log = &self.shown.log;
        let plan = &prepared.compaction.plan;
        let apart = self.frame_tokens + log.tokens(0..leading_system(log));
        let since = log.tokens(prepared.shown.min(log.len())..log.len());
        let after = apart + prepared.compaction.tokens_after + since;
        let kept = self.frame_tokens + log.tokens(0..plan.head.end.min(log.len()));
        Some(Swap::of(
            &reading,
            lines,
            reading.real(after),
            reading.real(kept),
            self.growth(&reading),
            self.cache_prices,
            self.window(),
        ))
    }

    /// What a fresh compaction would leave.
    fn fresh_tokens(&self) -> u64 {
        let log = &self.shown.log;
        let room = self.room(Reason::HardLine);
        let apart = self.frame_tokens + log.tokens(0..leading_system(log));
        let wanted = room
            .target_tokens
            .saturating_add(unseen_tokens(log))
            .min(room.most_tokens);
        self.reading().real(apart + wanted.max(room.target_tokens))
    }
}
