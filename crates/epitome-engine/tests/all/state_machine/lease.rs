//! Who may work in the background: one engine at a time, and never one that is gone for long.

use super::Act;

/// The lease of a conversation. A life is one engine from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lease {
    Free,
    Held {
        life: usize,
        until_ms: i64,
    },
    /// The work is done: either it waits to be shown, or nothing came of it and the lease is free.
    Ready {
        life: usize,
    },
    /// It is one way or the other: somebody crashed, or took over what had run out.
    Unsure,
}

/// What is known after a step of one engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) life: usize,
    pub(super) was_preparing: bool,
    pub(super) is_preparing: bool,
    pub(super) is_compacted: bool,
    pub(super) is_superseded: bool,
    pub(super) now_ms: i64,
    pub(super) until_ms: i64,
}

impl Lease {
    pub(super) fn after(self, act: &Act, turn: Turn) -> Self {
        let is_own = match self {
            Self::Held { life, .. } | Self::Ready { life } => life == turn.life,
            Self::Free | Self::Unsure => false,
        };
        let has_run_out = matches!(self, Self::Held { until_ms, .. } if until_ms <= turn.now_ms);
        if turn.is_preparing && !turn.was_preparing {
            let may_begin = is_own || has_run_out || !matches!(self, Self::Held { .. });
            assert!(may_begin, "two engines work at once: {self:?}, {turn:?}");
            return Self::Held {
                life: turn.life,
                until_ms: turn.until_ms,
            };
        }
        let lets_go = turn.is_superseded
            || turn.is_compacted
            || matches!(act, Act::Undo | Act::Compact(_) | Act::CompactTwice);
        match self {
            _ if is_own && lets_go => Self::Free,
            Self::Held { life, .. } if is_own && turn.was_preparing && !turn.is_preparing => {
                Self::Ready { life }
            }
            // Somebody may have looked in and let go again.
            Self::Held { .. } if has_run_out && matches!(act, Act::Prepare) => Self::Unsure,
            lease => lease,
        }
    }

    /// After the end of an engine that was in the middle of `act`.
    pub(super) fn after_crash(self, life: usize, act: &Act, now_ms: i64) -> Self {
        match self {
            _ if matches!(act, Act::Push(_)) => self,
            Self::Held {
                life: other,
                until_ms,
            } if other != life && until_ms > now_ms => self,
            _ => Self::Unsure,
        }
    }
}
