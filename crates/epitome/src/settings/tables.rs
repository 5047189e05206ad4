//! Every setting there is, one row each: name, type, default, bounds, aliases, meaning.

use super::field::{Field, Fields, Slot, choices, settings};
use super::key::{Bounds, Key, Kind};
use super::value::Value;
use crate::preset::Preset;
use crate::preset_name::PresetName;
use crate::reference::{micro, openclaw, vibe};
use crate::threshold::Threshold;

settings! {
    /// What every preset can be told.
    CommonSettings in "" {
        /// Tokens of the context window. `auto` is what the model table says of the model, and the window that the
        /// preset assumes where the table does not know it.
        window: Option<u64> = None, Bounds::Within(1.0, 1e12), ["context_window", "model_context_limit"];
        /// What happens when no summary can be written: our ladder of weaker summaries, or the outcome of the
        /// reference design.
        on_failure: OnFailure = OnFailure::Ladder, Bounds::Any, [];
        /// How often a request that the provider refused as too long is compacted and sent again.
        overflow_attempts: u64 = 3, Bounds::AtLeast(0), [];
        /// Whether the host's own turn waits for the summary. If not, it goes out on the last good view.
        wait: bool = false, Bounds::Any, [];
        /// The most tokens that a summary may take. `auto` is what the budget leaves, in `openclaw` eight tenths of
        /// the reserve.
        summary_tokens: Option<u64> = None, Bounds::AtLeast(1), [];
        /// The temperature of the summariser's request; `auto` sends none.
        summary_temperature: Option<f64> = None, Bounds::Within(0.0, 2.0), [];
        /// The model that writes summaries; null is the conversation's own.
        summary_model: Option<String> = None, Bounds::Any, ["compaction_model"];
    }
}

choices! {
    /// What happens when no summary can be written.
    OnFailure {
        /// A weaker summary, down to the built-in one.
        Ladder = "ladder",
        /// What the reference design does: rethrow, a fixed text, trimming, or the input as it was.
        Reference = "reference",
    }
}

settings! {
    /// What `default` can be told.
    DefaultSettings in "" {
        /// The size from which a conversation is compacted; `auto` is the hard line of the window.
        threshold: Option<Threshold> = None, Bounds::Any, [];
        /// Tokens kept free for the answer, but never more than a quarter of the window.
        reserve_tokens: u64 = 20_000, Bounds::AtLeast(0), [];
        /// The share of the hard line from which a compaction is prepared in the background.
        prepare_share: f64 = 0.85, Bounds::Share, [];
    }
}

settings! {
    /// What `vibe` can be told.
    VibeSettings in "" {
        /// Reported context tokens from which a conversation is compacted. Zero or less switches compaction and its
        /// warning off.
        auto_compact_threshold: i64 = vibe::THRESHOLD_TOKENS, Bounds::Any, [];
        /// Whether the user is warned at half the threshold.
        context_warnings: bool = false, Bounds::Any, [];
    }
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

settings! {
    /// What `micro` can be told.
    MicroSettings in "" {
        /// Estimated tokens above which a conversation is compacted. Zero or less switches compaction off.
        compaction_threshold_tokens: i64 = 80_000, Bounds::Any, [];
        /// Messages at the end that stay.
        protected_tail_messages: usize = micro::TAIL_MESSAGES, Bounds::AtLeast(1), [];
        /// Whether a conversation over the threshold is summarised. If not, it is only trimmed.
        compaction_enabled: bool = true, Bounds::Any, [];
        /// Messages that a trimmed view shows at most: the first and the newest.
        max_conversation_messages: usize = micro::MAX_MESSAGES, Bounds::AtLeast(2), [];
        /// Characters from which a tool result is cut in the view.
        max_tool_result_chars: usize = micro::MAX_RESULT_CHARS, Bounds::AtLeast(1), [];
        /// Characters that the summariser gets at most; the middle is left out.
        summary_input_chars: usize = 100_000, Bounds::AtLeast(1), [];
    }
}

settings! {
    /// What `spacebot` can be told. The tiers go from background over aggressive to emergency.
    SpacebotSettings in "" {
        /// The share of the window from which the oldest 30 % are summarised in the background.
        background_threshold: f64 = 0.80, Bounds::Share, [];
        /// The share of the window from which the oldest 50 % are summarised in the background.
        aggressive_threshold: f64 = 0.85, Bounds::Share, [];
        /// The share of the window from which the oldest 50 % go at once, without a model.
        emergency_threshold: f64 = 0.95, Bounds::Share, [];
    }
}

settings! {
    /// What `layer` can be told.
    LayerSettings in "" {
        /// Tokens kept free for system prompt and tools.
        system_reserve: u64 = 2_000, Bounds::AtLeast(0), [];
        /// Tokens kept free for the answer.
        output_reserve: u64 = 4_000, Bounds::AtLeast(0), [];
        /// Tokens kept free for what the estimate gets wrong.
        safety_buffer: u64 = 5_000, Bounds::AtLeast(0), [];
        /// The share of the rest from which a conversation is compacted.
        threshold_percent: f64 = 0.80, Bounds::Share, [];
        /// Messages at the end that stay.
        recent_messages_to_keep: usize = 10, Bounds::AtLeast(1), [];
    }
}

impl CommonSettings {
    /// The common settings as a preset has them.
    #[must_use]
    pub fn of(preset: PresetName) -> Self {
        let own_tokens = Some(Preset::named(preset).summary_tokens);
        let (overflow_attempts, summary_tokens, summary_temperature) = match preset {
            PresetName::Default => (3, None, None),
            PresetName::Openclaw => (1, None, None),
            PresetName::Vibe | PresetName::Spacebot => (3, own_tokens, None),
            PresetName::Micro => (3, own_tokens, Some(0.0)),
            PresetName::Layer => (3, own_tokens, Some(0.3)),
        };
        Self {
            overflow_attempts,
            summary_tokens,
            summary_temperature,
            wait: Preset::named(preset).waits,
            ..Self::default()
        }
    }
}
