//! Messages as a text that a summariser can read.

use epitome::reference::micro;
use epitome::{Block, Design, Kept, Message, Meter, ResultPart, ToolResult};

/// The longest that the arguments of a call are shown, in characters.
const ARGUMENTS_CHARS: usize = 500;

/// How much of a message is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Previews {
    /// The longest text of one message, in characters.
    pub message_chars: usize,
    /// What is shown of one result, and of the arguments of one call.
    pub results: Results,
}

/// What is shown of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// Its beginning and its end.
    Preview,
    /// At most so many tokens: its ends, and lines in between that report errors and totals.
    Tokens {
        /// At most so many.
        most: u64,
        /// By this meter.
        meter: Meter,
    },
}

impl Default for Previews {
    fn default() -> Self {
        Self {
            message_chars: 20_000,
            results: Results::Preview,
        }
    }
}

/// The messages as a text: who speaks, what was said, called and returned. Results are previewed, media are markers;
/// thinking, and what a client put in by itself, is left out.
///
/// ```
/// use epitome::{Message, PresetName, Role};
/// use epitome_engine::summarise::{Previews, transcript};
///
/// let hello = Message::text(Role::User, "Good morning");
/// let text = transcript(&[(3, &hello)], PresetName::Default, Previews::default());
/// assert_eq!(text, ["[4] user:\nGood morning"]);
/// ```
#[must_use]
pub fn transcript(
    messages: &[(usize, &Message)],
    design: impl Into<&'static Design>,
    previews: Previews,
) -> Vec<String> {
    if let Some(own) = design.into().asking.transcript {
        let shown = messages.iter();
        return shown
            .map(|(position, message)| own(*position, message))
            .collect();
    }
    let shown = messages.iter().filter_map(|(position, message)| {
        let text = said(message, previews);
        let role = message.role.as_str();
        (!text.is_empty()).then(|| format!("[{}] {role}:\n{text}", position + 1))
    });
    shown.collect()
}

fn said(message: &Message, previews: Previews) -> String {
    let mut lines: Vec<String> = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text(text) if !text.trim().is_empty() => {
                lines.push(cut_middle(text.trim(), previews.message_chars));
            }
            Block::Call(call) => {
                let arguments = match previews.results {
                    Results::Preview => cut_middle(&call.arguments, ARGUMENTS_CHARS),
                    Results::Tokens { .. } => shortened(&call.arguments, previews.results),
                };
                lines.push(format!("[calls {} {arguments}]", call.name));
            }
            Block::Result(result) => lines.push(result_text(result, previews.results)),
            Block::Media(media) => lines.push(format!("[{}]", media.kind)),
            _ => {}
        }
    }
    lines.join("\n")
}

/// A text as far as it is shown.
fn shortened(text: &str, results: Results) -> String {
    match results {
        Results::Preview => micro::preview(text),
        Results::Tokens { most, meter } if meter.text(text) > most => {
            Kept::within(text, most, meter).of(text)
        }
        Results::Tokens { .. } => text.to_owned(),
    }
}

fn result_text(result: &ToolResult, results: Results) -> String {
    let parts = result.parts.iter().map(|part| match part {
        ResultPart::Text(text) => shortened(text, results),
        ResultPart::Media(media) => format!("[{}]", media.kind),
        ResultPart::Opaque { .. } => String::from("[…]"),
    });
    let word = if result.is_error { "failed" } else { "result" };
    format!("[{word}] {}", parts.collect::<Vec<_>>().join("\n"))
}

/// A text of at most about `chars` characters: its beginning and its end.
pub(super) fn cut_middle(text: &str, chars: usize) -> String {
    let count = text.chars().count();
    if count <= chars {
        return text.to_owned();
    }
    let head = chars * 7 / 10;
    let tail = chars - head;
    let beginning: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!(
        "{beginning}\n[… {} characters left out …]\n{end}",
        count - head - tail
    )
}
