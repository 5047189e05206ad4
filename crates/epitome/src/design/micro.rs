//! `micro`: one estimate; the first message and the newest stay; the summary stands inside the first.

use super::{
    AfterFailure, Asking, Design, DesignSettings, DueCount, Events, Keep, Own, Preset,
    SummaryPlace, Trigger,
};
use crate::dress::Form;
use crate::event::{Finished, Started};
use crate::meter::ReferenceMeter;
use crate::pruning::{EntryCap, PruneSettings};
use crate::reference::micro;
use crate::setting::{Bounds, Field, Fields, Key, Slot, settings};

/// What a summary may take.
const SUMMARY_TOKENS: u64 = 4_096;

pub(super) static DESIGN: Design = Design {
    name: "micro",
    settings: |_| DesignSettings::Micro(MicroSettings::default()),
    trigger: Trigger::Above(micro::THRESHOLD_TOKENS),
    keep: Keep::FirstAndLast(micro::TAIL_MESSAGES),
    place: SummaryPlace::FirstMessage,
    summary_tokens: SUMMARY_TOKENS,
    most_messages: Some(micro::MAX_MESSAGES),
    counts: DueCount::Reference(ReferenceMeter::Micro),
    form: &Form {
        text: |_, parts| between_marks(&parts.layout()),
        overhead_tokens: |_, meter| meter.text(&between_marks("")) + 2,
        ..Form::PLAIN
    },
    events: Events {
        start_lines,
        done_lines,
        failure_line: micro::failure_line,
        ..Events::BASE
    },
    prune: |_| PruneSettings {
        entry_cap: EntryCap::Chars(micro::MAX_RESULT_CHARS),
        ..PruneSettings::off()
    },
    asking: Asking {
        template: "narrative",
        system_template: "narrative",
        temperature: Some(0.0),
        most_tokens: Some(SUMMARY_TOKENS),
        // Trimmed by the host of the conversation.
        after_failure: AfterFailure::Stays,
        ..Asking::BASE
    },
    ..Design::BASE
};

fn between_marks(text: &str) -> String {
    let (open, close) = (micro::OPEN_MARK, micro::CLOSE_MARK);
    format!("\n\n{open}\n{}\n{close}", text.trim_end())
}

fn start_lines(started: &Started) -> Vec<String> {
    let threshold = started.threshold_tokens;
    vec![micro::start_line(
        started.context_tokens,
        threshold.unwrap_or(micro::THRESHOLD_TOKENS),
        started.compacting_count,
    )]
}

fn done_lines(finished: &Finished) -> Vec<String> {
    let freed = finished.tokens_before.saturating_sub(finished.tokens_after);
    vec![micro::done_line(
        finished.compacted_count,
        finished.summary_tokens,
        freed,
    )]
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

impl Own for MicroSettings {
    fn choose(&self, preset: &mut Preset) {
        preset.trigger = match u64::try_from(self.compaction_threshold_tokens) {
            Ok(tokens @ 1..) if self.compaction_enabled => Trigger::Above(tokens),
            _ => Trigger::Never,
        };
        preset.keep = Keep::FirstAndLast(self.protected_tail_messages);
        preset.most_messages = Some(self.max_conversation_messages);
    }

    fn prune(&self, settings: &mut PruneSettings) {
        settings.entry_cap = EntryCap::Chars(self.max_tool_result_chars);
    }

    fn input_chars(&self) -> Option<usize> {
        Some(self.summary_input_chars)
    }
}
