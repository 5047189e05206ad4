//! What every design can be told, one row each: name, type, default, bounds, aliases, meaning. The rows of a single
//! design stand with it.

use crate::design::Design;
use crate::setting::{Bounds, Field, Fields, Key, Kind, Slot, Value, choices, settings};

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

impl CommonSettings {
    /// The common settings as a design has them.
    #[must_use]
    pub fn of(design: impl Into<&'static Design>) -> Self {
        let design = design.into();
        Self {
            overflow_attempts: design.overflow_attempts,
            summary_tokens: design.asking.most_tokens,
            summary_temperature: design.asking.temperature,
            wait: design.waits,
            ..Self::default()
        }
    }
}
