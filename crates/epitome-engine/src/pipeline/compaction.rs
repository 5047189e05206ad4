//! Middlewares around compaction: the compaction itself, the warning before it, the memories saved before it.

use epitome::reference::openclaw;
use epitome::reference::vibe::{self, BeforeTurn, Warnings};
use epitome::{Decision, Event, PresetName, Reason, Threshold, WarningCycle};

use super::{Action, Middleware, ResetReason, TurnContext};

/// Compacts when it is time: when the session says so, or from a threshold on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoCompact {
    threshold_tokens: Option<i64>,
}

impl AutoCompact {
    /// Compacts from so many tokens on, whatever the session says; 0 or less is never.
    #[must_use]
    pub const fn at(threshold_tokens: i64) -> Self {
        Self {
            threshold_tokens: Some(threshold_tokens),
        }
    }
}

impl Middleware for AutoCompact {
    fn name(&self) -> &str {
        "auto_compact"
    }

    fn before_turn(&mut self, context: &TurnContext<'_>) -> Action {
        let tokens = i64::try_from(context.context_tokens).unwrap_or(i64::MAX);
        match (self.threshold_tokens, context.decision) {
            (Some(threshold), _) => match vibe::before_turn(tokens, threshold, Warnings::Off) {
                BeforeTurn::Compact => Action::Compact {
                    reason: Reason::Threshold,
                },
                BeforeTurn::Continue | BeforeTurn::Warn => Action::Continue,
            },
            (None, Decision::Compact(reason)) => Action::Compact { reason },
            // What is only prepared runs beside the turn: nothing happens before it.
            (None, Decision::Proceed | Decision::Prepare) => Action::Continue,
        }
    }
}

/// Tells the model once per cycle that half of the threshold is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextWarning {
    cycle: WarningCycle,
}

impl ContextWarning {
    /// Warns at half of `threshold` in a window; a threshold that is off switches it off.
    #[must_use]
    pub fn new(threshold: Threshold, window_tokens: u64) -> Self {
        Self {
            cycle: WarningCycle::new(threshold, window_tokens, Warnings::On),
        }
    }
}

impl Middleware for ContextWarning {
    fn name(&self) -> &str {
        "context_warning"
    }

    fn before_turn(&mut self, context: &TurnContext<'_>) -> Action {
        let context_tokens = context.context_tokens;
        match (
            self.cycle.before_turn(context_tokens),
            self.cycle.threshold_tokens(),
        ) {
            (BeforeTurn::Warn, Some(threshold_tokens)) => {
                let warning = Event::Warning {
                    context_tokens,
                    threshold_tokens,
                };
                Action::Inject(warning.lines(PresetName::default()).join("\n"))
            }
            _ => Action::Continue,
        }
    }

    fn reset(&mut self, reason: ResetReason) {
        if reason == ResetReason::Compact {
            self.cycle.compacted();
        }
    }
}

/// Asks for a memory flush once per cycle, shortly before the line at which a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFlush {
    window_tokens: u64,
    reserve_tokens: u64,
    soft_tokens: u64,
    /// Compactions when it last asked.
    flushed_at: Option<u64>,
}

impl MemoryFlush {
    /// A flush from [`openclaw::FLUSH_SOFT_TOKENS`] below the window less its reserve.
    #[must_use]
    pub const fn new(window_tokens: u64, reserve_tokens: u64) -> Self {
        Self {
            window_tokens,
            reserve_tokens,
            soft_tokens: openclaw::FLUSH_SOFT_TOKENS,
            flushed_at: None,
        }
    }

    /// The same, so many tokens before the line.
    #[must_use]
    pub const fn with_soft_tokens(mut self, soft_tokens: u64) -> Self {
        self.soft_tokens = soft_tokens;
        self
    }
}

impl Middleware for MemoryFlush {
    fn name(&self) -> &str {
        "memory_flush"
    }

    fn before_turn(&mut self, context: &TurnContext<'_>) -> Action {
        let is_due = openclaw::is_flush_due(
            context.context_tokens,
            self.window_tokens,
            self.reserve_tokens,
            self.soft_tokens,
            context.compactions,
            self.flushed_at.max(context.statistics.flushed_at),
        );
        if !is_due {
            return Action::Continue;
        }
        self.flushed_at = Some(context.compactions);
        Action::FlushMemory
    }
}
