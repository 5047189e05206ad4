//! `diary`: a toy design. From 3,000 tokens on it writes a page about everything but the last four messages, in the
//! voice of the assistant, and tells people so.

use epitome::settings::{Bounds, Key, Kind, Value};
use epitome::{
    Asking, Design, EntryCap, EventFields, Events, Finished, Form, Keep, Knob, Knobs, Message,
    Parts, PruneSettings, Role, SummaryPlace, Trigger,
};

/// The line from which a page is written.
pub(super) const LINE_TOKENS: i64 = 3_000;
/// Messages that stay.
pub(super) const KEPT_MESSAGES: usize = 4;

const MARK: &str = "Dear diary, page ";

pub(super) static DESIGN: Design = Design {
    name: "diary",
    trigger: Trigger::AtLeast(LINE_TOKENS),
    keep: Keep::Last(KEPT_MESSAGES),
    place: SummaryPlace::AssistantMessage,
    summary_tokens: 600,
    form: &Form {
        round_of: Some(page_of),
        text: |dress, parts| page(dress.round, parts),
        overhead_tokens: |dress, meter| meter.text(&page(dress.round, &Parts::default())),
        ..Form::PLAIN
    },
    events: Events {
        started_name: "pen_taken",
        finished_name: "page_written",
        start_lines: |started| {
            vec![format!(
                "Writing about {} messages",
                started.compacting_count
            )]
        },
        done_lines: |finished| vec![format!("Page {} is written", finished.round)],
        failure_line: |error| format!("The ink ran out: {error}"),
        finished_fields,
        ..Events::BASE
    },
    prune: |window_tokens| PruneSettings {
        entry_cap: EntryCap::Tokens(window_tokens / 10),
        ..PruneSettings::off()
    },
    asking: Asking {
        temperature: Some(1.0),
        ..Asking::BASE
    },
    knobs: Knobs {
        rows: &[
            Knob {
                key: Key::new(
                    "page_line",
                    Kind::Whole,
                    Bounds::AtLeast(100),
                    "Tokens from which a page is written.",
                ),
                default: Value::Whole(LINE_TOKENS),
            },
            Knob {
                key: Key::new(
                    "voice",
                    Kind::Choice(&["assistant", "user"]),
                    Bounds::Any,
                    "Who speaks on a page.",
                ),
                default: Value::Text(String::new()),
            },
        ],
        choose: |set, preset| {
            preset.trigger = Trigger::AtLeast(set.whole("page_line"));
            if set.text("voice") == "user" {
                preset.place = SummaryPlace::UserMessage;
            }
        },
    },
    ..Design::BASE
};

fn page(number: u32, parts: &Parts) -> String {
    let task = parts.task.as_deref().unwrap_or("nothing");
    let mut page = format!("{MARK}{number}\nI was asked: {task}\n");
    if let Some(written) = &parts.written {
        page.push_str(&format!("I wrote: {written}\n"));
    }
    for line in &parts.record {
        page.push_str(&format!("I noted: {}\n", line.text));
    }
    page
}

fn page_of(message: &Message) -> u32 {
    let text = message.spoken().next().unwrap_or_default();
    let number = text
        .strip_prefix(MARK)
        .and_then(|rest| rest.lines().next())
        .and_then(|number| number.parse().ok());
    number
        .filter(|_| message.role == Role::Assistant)
        .unwrap_or(0)
}

fn finished_fields(finished: &Finished) -> EventFields {
    vec![("page", u64::from(finished.round).into())]
}
