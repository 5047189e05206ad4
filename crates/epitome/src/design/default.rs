//! `default`, ours: prepares early in the background, shows it when it pays or must be.

use super::{Asking, Design, DesignSettings, Own, Preset, Trigger};
use crate::dress::Form;
use crate::pruning::{EntryCap, OldResults, PruneSettings};
use crate::reference::layer;
use crate::setting::{Bounds, Field, Fields, Key, Slot, settings};
use crate::threshold::Threshold;
use crate::window::Margins;

pub(super) static DESIGN: Design = Design {
    name: "default",
    settings: |_| DesignSettings::Default(DefaultSettings::default()),
    guards: true,
    shows_at_once: false,
    waits: false,
    asking: Asking {
        shows_results: true,
        ..Asking::BASE
    },
    form: &Form {
        completes: true,
        ..Form::PLAIN
    },
    prune: |window_tokens| PruneSettings {
        entry_cap: EntryCap::Tokens((window_tokens / 16).clamp(1_000, 25_000)),
        old: OldResults::Replace { keep_steps: 8 },
        smallest_saving_tokens: window_tokens / 8,
        ..PruneSettings::off()
    },
    ..Design::BASE
};

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

impl Own for DefaultSettings {
    fn choose(&self, preset: &mut Preset) {
        preset.trigger = match self.threshold {
            None => Trigger::HardLine,
            Some(Threshold::Off) => Trigger::Never,
            Some(Threshold::Tokens(tokens)) => {
                Trigger::AtLeast(i64::try_from(tokens).unwrap_or(i64::MAX))
            }
            Some(Threshold::Below(reserve)) => Trigger::WindowLess(reserve),
            Some(Threshold::Share(hundredths)) => Trigger::Share(layer::Settings {
                model_context_limit: 0,
                system_reserve: 0,
                output_reserve: 0,
                safety_buffer: 0,
                threshold_percent: f64::from(hundredths) / 10_000.0,
                recent_messages_to_keep: 0,
            }),
        };
    }

    fn margins(&self) -> Margins {
        Margins {
            reserve_tokens: self.reserve_tokens,
            prepare_share: self.prepare_share,
        }
    }
}
