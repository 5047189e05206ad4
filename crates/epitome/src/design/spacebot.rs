//! `spacebot`: three tiers of usage; the oldest share goes, in the background; summaries stack, memories are saved.

use super::{
    Asking, Design, DesignSettings, DueCount, FilePlace, Keep, Own, Preset, SummaryPlace, Trigger,
};
use crate::dress::Form;
use crate::meter::ReferenceMeter;
use crate::reference::spacebot;
use crate::setting::{Bounds, Field, Fields, Key, SettingsError, Slot, settings};

/// What a summary may take.
const SUMMARY_TOKENS: u64 = 2_000;

pub(super) static DESIGN: Design = Design {
    name: "spacebot",
    settings: |_| DesignSettings::Spacebot(SpacebotSettings::default()),
    trigger: Trigger::Tiers(spacebot::Thresholds::DEFAULT),
    keep: Keep::AllButOldest(spacebot::Tier::Background.fraction()),
    place: SummaryPlace::Stack,
    summary_tokens: SUMMARY_TOKENS,
    counts: DueCount::Reference(ReferenceMeter::Spacebot),
    waits: false,
    form: &Form {
        text: |_, parts| marked(&parts.layout()),
        overhead_tokens: |_, meter| meter.text(&marked("")) + 2,
        ..Form::PLAIN
    },
    asking: Asking {
        template: "worker",
        system_template: "worker",
        most_tokens: Some(SUMMARY_TOKENS),
        saves_memories: true,
        ..Asking::BASE
    },
    file: FilePlace {
        way: &["defaults", "compaction"],
        agent_way: Some(&["compaction"]),
        has_window_above: true,
    },
    ..Design::BASE
};

fn marked(text: &str) -> String {
    format!("{}{text}", spacebot::SUMMARY_MARK)
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

impl SpacebotSettings {
    /// The three tiers.
    #[must_use]
    pub const fn thresholds(&self) -> spacebot::Thresholds {
        spacebot::Thresholds {
            background: self.background_threshold,
            aggressive: self.aggressive_threshold,
            emergency: self.emergency_threshold,
        }
    }
}

impl Own for SpacebotSettings {
    fn choose(&self, preset: &mut Preset) {
        preset.trigger = Trigger::Tiers(self.thresholds());
    }

    fn check(&self, written: &dyn Fn(&str) -> String) -> Result<(), SettingsError> {
        let tiers = [
            ("background_threshold", self.background_threshold),
            ("aggressive_threshold", self.aggressive_threshold),
            ("emergency_threshold", self.emergency_threshold),
        ];
        for pair in tiers.windows(2) {
            if let [(lower, lower_value), (upper, upper_value)] = *pair
                && lower_value > upper_value
            {
                return Err(SettingsError::TiersOutOfOrder {
                    lower: written(lower),
                    lower_value,
                    upper: written(upper),
                    upper_value,
                });
            }
        }
        Ok(())
    }
}
