//! What counts as a summary, of what models answer.

use epitome::{Failure, Meter};
use epitome_wire::Answer;

/// A text this short that begins like one of these is no summary.
const REFUSAL_CHARS: usize = 400;
const REFUSALS: &[&str] = &[
    "i'm sorry",
    "i am sorry",
    "sorry, ",
    "i can't ",
    "i cannot ",
    "i can not ",
    "i'm unable",
    "i am unable",
    "i won't ",
    "as an ai",
    "es tut mir leid",
    "ich kann nicht",
    "je suis désolé",
    "je ne peux pas",
    "lo siento",
    "no puedo",
    "mi dispiace",
    "desculpe",
    "申し訳",
    "抱歉",
    "对不起",
    "很抱歉",
    "죄송",
];

/// Words with which models introduce what they were asked for.
const PREFACES: &[&str] = &[
    "here is",
    "here's",
    "sure",
    "certainly",
    "of course",
    "okay",
    "ok,",
];

/// The text of an answer, if it is one that may stand for `source_tokens` of conversation.
pub(super) fn summary(
    answer: &Answer,
    source_tokens: u64,
    meter: Meter,
) -> Result<String, Failure> {
    match answer.stop.as_deref() {
        Some("refusal" | "content_filter" | "safety") => return Err(Failure::SummaryRefused),
        Some(
            "length"
            | "max_tokens"
            | "max_output_tokens"
            | "incomplete"
            | "model_context_window_exceeded",
        ) => return Err(Failure::SummaryCutOff),
        _ => {}
    }
    let text = bare(&answer.text());
    if text.is_empty() {
        let has_calls = answer.message.calls().next().is_some();
        return Err(if has_calls {
            Failure::SummaryCalledTools
        } else {
            Failure::SummaryEmpty
        });
    }
    if is_refusal(&text) {
        return Err(Failure::SummaryRefused);
    }
    if meter.text(&text) >= source_tokens {
        return Err(Failure::SummaryTooLong);
    }
    Ok(text)
}

/// The text without what models put around it: thinking aloud, fences, tags, a preface.
pub(super) fn bare(text: &str) -> String {
    let mut text = text.to_owned();
    for tag in ["think", "thinking", "analysis", "reasoning"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(start) = text.find(&open) {
            let end = text.get(start..).and_then(|rest| rest.find(&close));
            let end = end.map_or(text.len(), |end| start + end + close.len());
            text.replace_range(start..end, "");
        }
    }
    let mut text = text.trim();
    if let Some((_, inner)) = text.split_once("<summary>")
        && let Some((inner, _)) = inner.rsplit_once("</summary>")
    {
        text = inner.trim();
    }
    if let Some((first, rest)) = text.split_once('\n') {
        let lower = first.to_lowercase();
        let is_preface = PREFACES.iter().any(|preface| lower.starts_with(preface));
        if is_preface && first.trim_end().ends_with(':') && !rest.trim().is_empty() {
            text = rest.trim();
        }
    }
    if text.starts_with("```")
        && let Some((_, inner)) = text.split_once('\n')
        && let Some((inner, behind)) = inner.rsplit_once("```")
        && behind.trim().is_empty()
    {
        text = inner.trim();
    }
    text.to_owned()
}

fn is_refusal(text: &str) -> bool {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    text.chars().count() <= REFUSAL_CHARS && REFUSALS.iter().any(|words| lower.starts_with(words))
}
