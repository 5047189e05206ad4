//! `layer`: a share of the window after reserves; six sections in rounds, each of which takes the last one in.

mod rounds;

use super::{
    AfterFailure, Asking, Design, DesignSettings, DueCount, Events, Keep, Own, Preset,
    SummaryPlace, Trigger,
};
use crate::event::{EventFields, FieldValue, Finished};
use crate::meter::ReferenceMeter;
use crate::reference::layer;
use crate::setting::{Bounds, Field, Fields, Key, Slot, settings};

/// What a summary may take.
const SUMMARY_TOKENS: u64 = 1_000;

pub(super) static DESIGN: Design = Design {
    name: "layer",
    settings: |_| DesignSettings::Layer(LayerSettings::default()),
    trigger: Trigger::Share(layer::Settings::DEFAULT),
    keep: Keep::Last(layer::Settings::DEFAULT.recent_messages_to_keep),
    place: SummaryPlace::AssistantMessage,
    summary_tokens: SUMMARY_TOKENS,
    counts: DueCount::Reference(ReferenceMeter::Layer),
    form: &rounds::FORM,
    events: Events {
        finished_name: "compactionEvent",
        start_lines: |_| Vec::new(),
        done_lines,
        failure_line: |error| {
            format!("[Compaction] Failed, continuing without compaction: {error}")
        },
        finished_fields,
        ..Events::BASE
    },
    asking: Asking {
        template: "rounds",
        system_template: "rounds_system",
        text_template: "rounds",
        // The design numbers from zero; one message at a time keeps the pieces apart.
        transcript: Some(|position, message| {
            let own = layer::transcript(std::slice::from_ref(message));
            own.replacen("[0]", &format!("[{position}]"), 1)
        }),
        temperature: Some(0.3),
        most_tokens: Some(SUMMARY_TOKENS),
        // The reference allows a quarter more than it asks for.
        told_percent: 80,
        // The input as it was.
        after_failure: AfterFailure::Stays,
        ..Asking::BASE
    },
    ..Design::BASE
};

fn done_lines(finished: &Finished) -> Vec<String> {
    let (before, after) = (finished.tokens_before, finished.tokens_after);
    vec![layer::done_line(
        finished.round,
        before,
        after,
        finished.compacted_count,
    )]
}

fn finished_fields(finished: &Finished) -> EventFields {
    let ids = FieldValue::Texts(finished.compacted_message_ids.clone());
    vec![
        ("round", u64::from(finished.round).into()),
        ("tokensBefore", finished.tokens_before.into()),
        ("tokensAfter", finished.tokens_after.into()),
        ("summaryContent", finished.summary.as_str().into()),
        ("compactedMessageIds", ids),
    ]
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

impl LayerSettings {
    /// The settings of the reference's own steps, in a window of `window_tokens`.
    #[must_use]
    pub fn reference(&self, window_tokens: u64) -> layer::Settings {
        layer::Settings {
            model_context_limit: signed(window_tokens),
            system_reserve: signed(self.system_reserve),
            output_reserve: signed(self.output_reserve),
            safety_buffer: signed(self.safety_buffer),
            threshold_percent: self.threshold_percent,
            recent_messages_to_keep: self.recent_messages_to_keep,
        }
    }
}

impl Own for LayerSettings {
    fn choose(&self, preset: &mut Preset) {
        preset.trigger = Trigger::Share(self.reference(layer::DEFAULT_WINDOW_TOKENS));
        preset.keep = Keep::Last(self.recent_messages_to_keep);
    }
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}
