//! `vibe`: one absolute threshold; everything after the system prompt becomes one message, which ends with the last
//! request of the user; the provider counts anew.

use super::{
    AfterFailure, Asking, Design, DesignSettings, DueCount, Events, Keep, Own, Preset, SummaryForm,
    Trigger,
};
use crate::dress::{Dress, Form};
use crate::event::{EventFields, Finished, Started};
use crate::reference::vibe;
use crate::setting::{Bounds, Field, Fields, Key, Slot, settings};

/// What a summary may take.
const SUMMARY_TOKENS: u64 = 8_000;

pub(super) static DESIGN: Design = Design {
    name: "vibe",
    settings: |_| DesignSettings::Vibe(VibeSettings::default()),
    trigger: Trigger::AtLeast(vibe::THRESHOLD_TOKENS),
    keep: Keep::Nothing,
    summary_tokens: SUMMARY_TOKENS,
    counts: DueCount::Reported,
    form: &Form {
        says_last_request: true,
        text: |dress, parts| with_last_request(dress, &parts.layout()),
        overhead_tokens: |dress, meter| meter.text(&with_last_request(dress, "")) + 2,
        ..Form::PLAIN
    },
    events: Events {
        started_name: "CompactStartEvent",
        finished_name: "CompactEndEvent",
        started_fields,
        finished_fields,
        ..Events::BASE
    },
    asking: Asking {
        form: SummaryForm::Aligned,
        template: "seven_sections",
        system_template: "seven_sections",
        most_tokens: Some(SUMMARY_TOKENS),
        // Rethrown.
        after_failure: AfterFailure::Stays,
        recounts: true,
        ..Asking::BASE
    },
    ..Design::BASE
};

fn with_last_request(dress: &Dress<'_>, text: &str) -> String {
    let Some(message) = dress.last_request else {
        return text.to_owned();
    };
    let request = message.spoken().collect::<Vec<_>>().join("\n");
    format!("{}\n\n{}{request}", text.trim_end(), vibe::LAST_REQUEST)
}

fn started_fields(started: &Started) -> EventFields {
    let mut fields = vec![("currentContextTokens", started.context_tokens.into())];
    let threshold = started.threshold_tokens;
    fields.extend(threshold.map(|tokens| ("threshold", tokens.into())));
    fields
}

fn finished_fields(finished: &Finished) -> EventFields {
    vec![
        ("oldContextTokens", finished.tokens_before.into()),
        ("newContextTokens", finished.tokens_after.into()),
        ("summaryLength", finished.summary.chars().count().into()),
    ]
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

impl VibeSettings {
    /// Whether the user wants to be warned.
    #[must_use]
    pub const fn warnings(&self) -> vibe::Warnings {
        if self.context_warnings {
            vibe::Warnings::On
        } else {
            vibe::Warnings::Off
        }
    }
}

impl Own for VibeSettings {
    fn choose(&self, preset: &mut Preset) {
        preset.trigger = Trigger::AtLeast(self.auto_compact_threshold);
    }

    fn warns(&self) -> bool {
        self.context_warnings
    }

    fn windowless_tokens(&self) -> Option<u64> {
        u64::try_from(self.auto_compact_threshold).ok()
    }
}
