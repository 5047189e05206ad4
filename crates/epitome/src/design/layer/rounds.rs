//! The text of a summary in rounds.

use crate::dress::Form;
use crate::message::{Message, Role};
use crate::reference::layer;
use crate::summary::{Line, NAMED, Parts, bullet};

/// A round of one structured summary.
pub(super) const FORM: Form = Form {
    required_sections: REQUIRED_SECTIONS,
    round_of: Some(last_round),
    text: |dress, parts| round_text(dress.round, parts),
    // The headings of the rounds take the place of the plain ones.
    overhead_tokens: |_, _| 60,
    ..Form::PLAIN
};

/// Words that make a line one about trouble.
const TROUBLE: &[&str] = &[
    "error",
    "failed",
    "failure",
    "exception",
    "panic",
    "traceback",
];

/// The sections that a summary must have: the last one is for errors, and there may be none.
const REQUIRED_SECTIONS: &[&str] = ROUND_SECTIONS.split_at(5).0;

/// The round that an earlier summary says it is.
fn last_round(message: &Message) -> u32 {
    Some(message)
        .filter(|message| message.role == Role::Assistant)
        .and_then(|message| message.spoken().next())
        .and_then(|text| text.strip_prefix(layer::SUMMARY_MARK))
        .and_then(|rest| rest.trim_start().strip_prefix("(Compaction Round "))
        .and_then(|rest| rest.split(')').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

/// The sections of a summary in rounds.
const ROUND_SECTIONS: [&str; 6] = [
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
        .chain(parts.changed.iter().map(text_of))
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
    let root = parts.root.iter();
    let state: Vec<String> = root
        .cloned()
        .chain(parts.standing.iter().map(text_of))
        .chain(parts.newest.iter().map(text_of))
        .chain(parts.last_words.iter().map(text_of))
        .collect();
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
        state.join("\n"),
        parts.latest_request.clone().unwrap_or_default(),
        strs(&trouble),
    ];
    for (heading, body) in ROUND_SECTIONS.iter().zip(bodies) {
        out.push_str(&format!("\n### {heading}\n{}\n", body.trim_end()));
    }
    out
}
