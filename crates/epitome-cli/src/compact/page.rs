//! What `epitome compact` shows a person: what became of the conversation, where the work stands, sizes.

use epitome::reference::vibe::grouped;
use epitome::{Compaction, Earlier, Message};

use crate::terminal::width;

/// The longest line of the page, in characters.
const LINE_CHARS: usize = 160;
/// How many instructions are listed.
const INSTRUCTIONS: usize = 8;
/// The width of the bars where there is room for it, in characters, and what stands beside them.
const BAR_CHARS: usize = 40;
const BESIDE_CHARS: usize = 21;
/// The section of a summary that says where the work stands.
const STANDING_HEADING: &str = "## Record: where the work stands";

/// Where the work stands: the newest request, and what the summary says of plan, checks and version control.
pub(super) fn standing(compaction: &Compaction) -> Vec<String> {
    let text = &compaction.summary.text;
    let mut lines = Vec::new();
    if let Some(request) = Earlier::read(text).and_then(|earlier| earlier.said.last().cloned()) {
        lines.push(format!("  asked last: {}", short(&request)));
    }
    let section = text.split(STANDING_HEADING).nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let items = section.lines().filter(|line| line.starts_with("- "));
    lines.extend(items.map(|line| format!("  {}", short(line.trim_start_matches("- ")))));
    with_heading("where the work stands", lines)
}

/// What stays word for word, because the user said that it holds.
pub(super) fn instructions(compaction: &Compaction) -> Vec<String> {
    let pins = compaction.pins.iter();
    let mut lines: Vec<String> = pins
        .take(INSTRUCTIONS)
        .map(|pin| format!("  {}", short(&pin.text)))
        .collect();
    let more = compaction.pins.len().saturating_sub(INSTRUCTIONS);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    if !compaction.demoted.is_empty() {
        let count = compaction.demoted.len();
        lines.push(format!("  {count} more had no room and can be recalled"));
    }
    with_heading("instructions in force, word for word", lines)
}

/// Bars for what there was and what there is.
pub(super) fn sizes(before: u64, after: u64, summary: u64) -> Vec<String> {
    let room = width().map_or(BAR_CHARS, |columns| columns.saturating_sub(BESIDE_CHARS));
    let width = room.min(BAR_CHARS);
    let bar = |name: &str, tokens: u64| {
        let filled = (tokens * width as u64).div_ceil(before.max(1));
        let filled = usize::try_from(filled).unwrap_or(width).min(width);
        format!(
            "  {name:<8} {:<width$} {:>9}",
            "#".repeat(filled),
            grouped(tokens)
        )
    };
    let kept = after.saturating_sub(summary);
    let lines = vec![
        bar("before", before),
        bar("after", after),
        bar("summary", summary),
        bar("kept", kept),
    ];
    with_heading("tokens", lines)
}

/// What was found of what the user wants kept in mind.
pub(super) fn focus(focus: &str, messages: &[Message], compaction: &Compaction) -> Vec<String> {
    let words: Vec<String> = focus
        .split(|one: char| !one.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .map(str::to_lowercase)
        .collect();
    let speaks = |text: &str| {
        let lower = text.to_lowercase();
        words.iter().any(|word| lower.contains(word))
    };
    let span = messages.get(compaction.plan.span.clone());
    let found = span.unwrap_or_default().iter().filter(|message| {
        let results = message.results().flat_map(|result| result.texts());
        let calls = message.calls().map(|call| call.arguments.as_ref());
        message.spoken().chain(calls).chain(results).any(speaks)
    });
    let (found, all) = (found.count(), compaction.plan.span.len());
    let lines = compaction.summary.text.lines();
    let kept = lines.filter(|line| speaks(line)).count();
    vec![match found {
        0 => format!(
            "focus \"{}\": none of the {all} messages that went speaks of it",
            short(focus)
        ),
        _ => format!(
            "focus \"{}\": {found} of the {all} messages that went speak of it; {kept} lines of the summary do",
            short(focus)
        ),
    }]
}

fn with_heading(heading: &str, lines: Vec<String>) -> Vec<String> {
    match lines.is_empty() {
        true => lines,
        false => [String::new(), format!("{heading}:")]
            .into_iter()
            .chain(lines)
            .collect(),
    }
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default().trim_end()),
        None => line,
    }
}
