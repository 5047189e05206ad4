//! `openclaw`: the window less a reserve; recent tokens and split turns; an entry in a session file.

use super::{
    AfterFailure, Asking, Design, DesignSettings, DueCount, Events, FilePlace, Keep, Own, Preset,
    Trigger,
};
use crate::dress::Form;
use crate::event::{EventFields, Finished, Started};
use crate::meter::ReferenceMeter;
use crate::reason::Reason;
use crate::reference::openclaw;
use crate::setting::{Bounds, Field, Fields, Key, Kind, Slot, Value, choices, settings};
use crate::summary::Parts;
use crate::window::Window;

pub(super) static DESIGN: Design = Design {
    name: "openclaw",
    settings: |_| DesignSettings::Openclaw(OpenclawSettings::default()),
    trigger: Trigger::WindowLess(openclaw::RESERVE_FLOOR_TOKENS),
    keep: Keep::RecentTokens(openclaw::KEEP_RECENT_TOKENS),
    summary_tokens: summary_tokens(openclaw::RESERVE_FLOOR_TOKENS),
    counts: DueCount::Reference(ReferenceMeter::OpenClaw),
    guards: true,
    assumed_window: Window::configured(openclaw::DEFAULT_WINDOW_TOKENS),
    form: &Form {
        lists_files: true,
        overhead_tokens: |_, meter| Parts::entry_heading_tokens(meter),
        ..Form::PLAIN
    },
    events: Events {
        started_name: "before_compaction",
        finished_name: "after_compaction",
        start_lines,
        done_lines,
        failure_line: |error| format!("auto-compaction failed: {error}"),
        started_fields,
        finished_fields,
        pruning_names: [
            "droppedChunks",
            "droppedMessages",
            "droppedTokens",
            "keptTokens",
            "budgetTokens",
        ],
        tells_memory_flush: false,
    },
    asking: Asking {
        after_failure: AfterFailure::Note(openclaw::FALLBACK_SUMMARY),
        ..Asking::BASE
    },
    overflow_attempts: 1,
    file: FilePlace {
        way: &["agents", "defaults", "compaction"],
        ..FilePlace::OUTERMOST
    },
    ..Design::BASE
};

/// What a summary may take of a reserve.
const fn summary_tokens(reserve_tokens: u64) -> u64 {
    reserve_tokens.saturating_mul(8) / 10
}

fn start_lines(started: &Started) -> Vec<String> {
    match started.reason {
        Reason::Overflow => {
            vec!["context overflow detected; attempting auto-compaction".to_owned()]
        }
        _ => (Events::BASE.start_lines)(started),
    }
}

fn done_lines(finished: &Finished) -> Vec<String> {
    let mut lines = (Events::BASE.done_lines)(finished);
    if finished.reason == Reason::Overflow {
        lines.push("auto-compaction succeeded; retrying prompt".to_owned());
    }
    lines
}

fn started_fields(started: &Started) -> EventFields {
    vec![
        ("messageCount", started.message_count.into()),
        ("tokenCount", started.context_tokens.into()),
    ]
}

fn finished_fields(finished: &Finished) -> EventFields {
    vec![
        ("messageCount", finished.message_count.into()),
        ("tokenCount", finished.tokens_after.into()),
        ("compactedCount", finished.compacted_count.into()),
    ]
}

settings! {
    /// What `openclaw` can be told.
    OpenclawSettings in "" {
        /// One pass over the history, or chunks, share pruning and an audit.
        mode: CompactionMode = CompactionMode::OnePass, Bounds::Any, [];
        /// Tokens kept free of the window, raised to the floor.
        reserve_tokens: u64 = 16_384, Bounds::AtLeast(0), [];
        /// The reserve never falls below this; zero switches the floor off.
        reserve_tokens_floor: u64 = openclaw::RESERVE_FLOOR_TOKENS, Bounds::AtLeast(0), [];
        /// The newest tokens that stay.
        keep_recent_tokens: u64 = openclaw::KEEP_RECENT_TOKENS, Bounds::AtLeast(1), [];
        /// The share of the window that history may take in `safeguard`.
        max_history_share: f64 = openclaw::HISTORY_SHARE, Bounds::Within(0.1, 0.9), [];
    } groups {
        /// The turn before a compaction in which the model may save what should last.
        memory_flush: MemoryFlushSettings,
    }
}

choices! {
    /// How `openclaw` summarises.
    CompactionMode {
        /// One pass.
        OnePass = "default",
        /// Chunks, share pruning and an audit.
        Safeguard = "safeguard",
    }
}

settings! {
    /// What `openclaw` can be told about the memory flush.
    MemoryFlushSettings in "memory_flush" {
        /// Whether there is one.
        enabled: bool = true, Bounds::Any, [];
        /// How many tokens before the compaction line it runs.
        soft_threshold_tokens: u64 = openclaw::FLUSH_SOFT_TOKENS, Bounds::AtLeast(0), [];
        /// What the model is asked; null is the built-in text.
        prompt: Option<String> = None, Bounds::Any, [];
        /// What is added to the system prompt for that turn; null is the built-in text.
        system_prompt: Option<String> = None, Bounds::Any, [];
    }
}

impl OpenclawSettings {
    /// The reserve in force: what is set, raised to the floor.
    #[must_use]
    pub const fn reserve(&self) -> u64 {
        openclaw::reserve(self.reserve_tokens, self.reserve_tokens_floor).0
    }
}

impl Own for OpenclawSettings {
    fn choose(&self, preset: &mut Preset) {
        preset.trigger = Trigger::WindowLess(self.reserve());
        preset.keep = Keep::RecentTokens(self.keep_recent_tokens);
        preset.summary_tokens = summary_tokens(self.reserve());
        preset.history_share = self.is_staged().then_some(self.max_history_share);
    }

    fn is_staged(&self) -> bool {
        self.mode == CompactionMode::Safeguard
    }
}
