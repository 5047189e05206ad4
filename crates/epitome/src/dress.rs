//! The form a summary takes in each design.

use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::plan::Plan;
use crate::preset_name::PresetName;
use crate::reference::{layer, micro, spacebot, vibe};
use crate::summary::{Line, NAMED, Parts, bullet};

/// How the text of a summary is dressed for its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dress<'a> {
    /// As it is.
    #[default]
    Plain,
    /// With the files that were read and the tools that failed, and the beginning of a split turn by itself.
    Entry,
    /// With the last request of the user behind it.
    LastRequest(Option<&'a Message>),
    /// Between marks, to stand inside a message.
    Marked,
    /// With a mark in front, to stand in a stack.
    Stacked,
    /// As round `n` of one structured summary.
    Round(u32),
}

/// Words that make a line one about trouble.
const TROUBLE: &[&str] = &[
    "error",
    "failed",
    "failure",
    "exception",
    "panic",
    "traceback",
];

impl<'a> Dress<'a> {
    /// The dress of a preset for a conversation.
    #[must_use]
    pub fn of(preset: PresetName, messages: &[&'a Message], plan: &Plan) -> Self {
        match preset {
            PresetName::Default => Self::Plain,
            PresetName::Openclaw => Self::Entry,
            PresetName::Vibe => {
                let covered = messages.get(..plan.span.end).unwrap_or(messages);
                Self::LastRequest(
                    covered
                        .iter()
                        .copied()
                        .rev()
                        .find(|message| message.is_typed_by_user()),
                )
            }
            PresetName::Micro => Self::Marked,
            PresetName::Spacebot => Self::Stacked,
            PresetName::Layer => {
                let front = messages.iter().skip(plan.span.start).take(2);
                Self::Round(
                    1 + front
                        .map(|message| last_round(Some(message)))
                        .max()
                        .unwrap_or(0),
                )
            }
        }
    }

    /// Whether the last request of the user has a place of its own in this form.
    #[must_use]
    pub const fn says_last_request(&self) -> bool {
        matches!(self, Self::LastRequest(_))
    }

    /// Whether the files that were read and the tools that failed are listed.
    #[must_use]
    pub const fn lists_files(&self) -> bool {
        matches!(self, Self::Entry)
    }

    /// What the dress costs.
    #[must_use]
    pub fn overhead_tokens(&self, meter: Meter) -> u64 {
        match self {
            Self::Plain => 0,
            Self::Entry => Parts::entry_heading_tokens(meter),
            // The headings of the rounds take the place of the plain ones.
            Self::Round(_) => 60,
            _ => meter.text(&self.around("")) + 2,
        }
    }

    /// The text of a summary in this dress.
    #[must_use]
    pub fn apply(&self, parts: &Parts) -> String {
        match self {
            Self::Round(round) => round_text(*round, parts),
            _ => self.around(&parts.layout()),
        }
    }

    fn around(&self, text: &str) -> String {
        match self {
            Self::Plain | Self::Entry | Self::Round(_) => text.to_owned(),
            Self::LastRequest(None) => text.to_owned(),
            Self::LastRequest(Some(message)) => {
                let request = message.spoken().collect::<Vec<_>>().join("\n");
                format!("{}\n\n{}{request}", text.trim_end(), vibe::LAST_REQUEST)
            }
            Self::Marked => format!(
                "\n\n{}\n{}\n{}",
                micro::OPEN_MARK,
                text.trim_end(),
                micro::CLOSE_MARK
            ),
            Self::Stacked => format!("{}{text}", spacebot::SUMMARY_MARK),
        }
    }
}

/// The round that an earlier summary of this design says it is.
fn last_round(message: Option<&Message>) -> u32 {
    message
        .filter(|message| message.role == Role::Assistant)
        .and_then(|message| message.spoken().next())
        .and_then(|text| text.strip_prefix(layer::SUMMARY_MARK))
        .and_then(|rest| rest.trim_start().strip_prefix("(Compaction Round "))
        .and_then(|rest| rest.split(')').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

/// The sections of a summary in rounds.
pub(crate) const ROUND_SECTIONS: [&str; 6] = [
    "Original Task",
    "Completed Work",
    "Key Technical Decisions",
    "Current State",
    "Pending Work",
    "Errors & Resolutions",
];

fn round_opening(round: u32) -> String {
    let mut out = format!("{}\n", layer::heading(round));
    if round > 1 {
        let earlier = round - 1;
        out.push_str(&format!(
            "This summary incorporates context from {earlier} previous compaction rounds.\n"
        ));
    }
    out
}

/// A summary that somebody wrote, as a round: its own opening gives way to ours, its headings get their level.
fn round_written(round: u32, written: &str) -> String {
    let mut out = round_opening(round);
    for line in written.trim().lines() {
        let name = line.trim_start_matches('#').trim();
        let is_heading = line.starts_with('#');
        if is_heading && name.starts_with("Session Summary") {
            continue;
        }
        match ROUND_SECTIONS.iter().find(|known| **known == name) {
            Some(known) if is_heading => out.push_str(&format!("\n### {known}\n")),
            _ if line.trim().is_empty() => {}
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

fn round_text(round: u32, parts: &Parts) -> String {
    if let Some(written) = &parts.written {
        return round_written(round, written);
    }
    let is_trouble = |line: &&Line| {
        let lower = line.text.to_lowercase();
        TROUBLE.iter().any(|word| lower.contains(word))
    };
    let bullets =
        |lines: Vec<&str>| -> String { lines.iter().map(|line| bullet(line) + "\n").collect() };
    let text_of = |line: &'_ Line| -> String { line.text.clone() };
    let named = parts
        .named
        .iter()
        .map(|line| format!("{NAMED}{}", line.text));
    let done: Vec<String> = named
        .chain(parts.record.iter().filter(|l| !is_trouble(l)).map(text_of))
        .collect();
    let trouble: Vec<String> = parts
        .record
        .iter()
        .filter(is_trouble)
        .map(text_of)
        .collect();
    let decisions: Vec<&str> = parts
        .pins
        .iter()
        .map(|pin| pin.text.as_str())
        .chain(parts.said.iter().map(|line| line.text.as_str()))
        .collect();
    let state = parts
        .last_words
        .as_ref()
        .map_or("", |line| line.text.as_str());
    let mut out = round_opening(round);
    let strs =
        |lines: &'_ [String]| -> String { bullets(lines.iter().map(String::as_str).collect()) };
    let bodies = [
        parts
            .task
            .clone()
            .unwrap_or_else(|| layer::UNKNOWN_TASK.to_owned()),
        strs(&done),
        bullets(decisions),
        state.to_owned(),
        parts.latest_request.clone().unwrap_or_default(),
        strs(&trouble),
    ];
    for (heading, body) in ROUND_SECTIONS.iter().zip(bodies) {
        out.push_str(&format!("\n### {heading}\n{}\n", body.trim_end()));
    }
    out
}
