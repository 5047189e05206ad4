//! What the model gets: which entries stay, which are trimmed, and where the summary stands.

use std::ops::Range;

use crate::log::TRIMMED_RESULT_TOKENS;
use crate::message::{Block, Message, ResultPart, Role};
use crate::meter::Meter;
use crate::plan::{Layout, Plan};
use crate::reference::micro::ACKNOWLEDGEMENT;

/// The messages a model gets, as references into the log. Entries are positions, never copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// What the view is made of, in order.
    pub items: Vec<ViewItem>,
}

/// One stretch of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewItem {
    /// Entries exactly as they were sent.
    Entries(Range<usize>),
    /// One entry with some of its tool results shortened.
    Trimmed(usize, Vec<Trim>),
    /// The summary, as a message of the user's role.
    Summary,
    /// The summary, as a message of the assistant's role.
    AssistantSummary,
    /// One entry with the summary behind its first text; what an earlier summary put there goes.
    Merged(usize),
    /// A message that nobody sent, to keep the roles in order.
    Inserted(Role, &'static str),
}

/// A tool result's text with its middle left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// Which block of the message.
    pub block: usize,
    /// Which part of the tool result.
    pub part: usize,
    /// Characters kept at the beginning.
    pub head_chars: usize,
    /// Characters kept at the end.
    pub tail_chars: usize,
}

impl Trim {
    /// The text that stands for what was left out.
    #[must_use]
    pub fn marker(omitted_chars: usize) -> String {
        format!("\n[… {omitted_chars} characters left out …]\n")
    }
}

impl View {
    /// The view that `plan` leads to, with `trims` on entries that stay (sorted by position).
    #[must_use]
    pub fn of(plan: &Plan, len: usize, trims: &[(usize, Vec<Trim>)]) -> Self {
        let mut items = Vec::new();
        match (plan.layout, plan.head.end.checked_sub(1)) {
            (Layout::Merged, Some(first)) => {
                push_range(&mut items, plan.head.start..first);
                items.push(ViewItem::Merged(first));
                if plan.tail_starts_with_user {
                    items.push(ViewItem::Inserted(Role::Assistant, ACKNOWLEDGEMENT));
                }
            }
            (Layout::AssistantMessage, _) => {
                push_range(&mut items, plan.head.clone());
                items.push(ViewItem::AssistantSummary);
            }
            (Layout::UserMessage | Layout::Merged, _) => {
                push_range(&mut items, plan.head.clone());
                items.push(ViewItem::Summary);
            }
        }
        for &note in &plan.notes {
            push_range(&mut items, note..note + 1);
        }
        let mut from = plan.span.end;
        for (position, trim) in trims {
            push_range(&mut items, from..*position);
            items.push(ViewItem::Trimmed(*position, trim.clone()));
            from = position + 1;
        }
        push_range(&mut items, from..len);
        Self { items }
    }
}

fn push_range(items: &mut Vec<ViewItem>, range: Range<usize>) {
    if range.is_empty() {
        return;
    }
    if let Some(ViewItem::Entries(last)) = items.last_mut()
        && last.end == range.start
    {
        last.end = range.end;
        return;
    }
    items.push(ViewItem::Entries(range));
}

/// Chooses which tool results to shorten so that `excess_tokens` come off, largest first.
///
/// `messages` are the entries that stay, with their positions. Returns nothing when nothing must go.
#[must_use]
pub fn trims(
    messages: &[(usize, &Message)],
    excess_tokens: u64,
    meter: Meter,
) -> Vec<(usize, Vec<Trim>)> {
    if excess_tokens == 0 {
        return Vec::new();
    }
    let mut candidates: Vec<Candidate<'_>> = messages
        .iter()
        .flat_map(|(position, message)| result_texts(*position, message))
        .map(|(position, block, part, text)| Candidate {
            position,
            block,
            part,
            text,
            tokens: meter.text(text),
        })
        .filter(|candidate| candidate.tokens > TRIMMED_RESULT_TOKENS)
        .collect();
    let level = water_level(&candidates, excess_tokens);
    candidates.retain(|candidate| candidate.tokens > level);
    let mut out: Vec<(usize, Vec<Trim>)> = Vec::new();
    for candidate in &candidates {
        let trim = candidate.trim(level, meter);
        match out.last_mut() {
            Some((position, trims)) if *position == candidate.position => trims.push(trim),
            _ => out.push((candidate.position, vec![trim])),
        }
    }
    out
}

struct Candidate<'a> {
    position: usize,
    block: usize,
    part: usize,
    text: &'a str,
    tokens: u64,
}

impl Candidate<'_> {
    /// Keeps a third of `tokens` in front and the rest behind: errors and totals stand at the end.
    fn trim(&self, tokens: u64, meter: Meter) -> Trim {
        let chars = self.text.chars().count();
        let marker = meter.text(&Trim::marker(chars)) + 2;
        let room = tokens.saturating_sub(marker);
        let head_chars = meter.prefix(self.text, room / 3).chars().count();
        let tail = meter.suffix(self.text, room - room / 3);
        Trim {
            block: self.block,
            part: self.part,
            head_chars,
            // Two halves of one encoded run are cheaper than the run, so both may fit and still must part.
            tail_chars: tail
                .chars()
                .count()
                .min(chars.saturating_sub(head_chars + 1)),
        }
    }
}

/// The size to which all larger results are cut so that at least `excess_tokens` go.
fn water_level(candidates: &[Candidate<'_>], excess_tokens: u64) -> u64 {
    let gain = |level: u64| -> u64 {
        candidates
            .iter()
            .map(|candidate| candidate.tokens.saturating_sub(level))
            .sum()
    };
    let mut low = TRIMMED_RESULT_TOKENS;
    let mut high = candidates.iter().map(|c| c.tokens).max().unwrap_or(low);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if gain(middle) >= excess_tokens {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

fn result_texts(
    position: usize,
    message: &Message,
) -> impl Iterator<Item = (usize, usize, usize, &str)> {
    message
        .blocks
        .iter()
        .enumerate()
        .filter_map(|(at, block)| match block {
            Block::Result(result) => Some((at, result)),
            _ => None,
        })
        .flat_map(move |(block, result)| {
            result
                .parts
                .iter()
                .enumerate()
                .filter_map(move |(part, content)| match content {
                    ResultPart::Text(text) => Some((position, block, part, text.as_str())),
                    _ => None,
                })
        })
}

/// A message with its tool results shortened, as [`Trim`] says.
#[must_use]
pub fn trimmed(message: &Message, trims: &[Trim]) -> Message {
    let mut message = message.clone();
    for trim in trims {
        if let Some(Block::Result(result)) = message.blocks.get_mut(trim.block)
            && let Some(ResultPart::Text(text)) = result.parts.get_mut(trim.part)
        {
            *text = trimmed_text(text, *trim);
        }
    }
    message
}

/// What trimming leaves out of a message.
pub(crate) fn omitted<'a>(message: &'a Message, trims: &[Trim]) -> Vec<&'a str> {
    let texts = trims
        .iter()
        .filter_map(|trim| match message.blocks.get(trim.block) {
            Some(Block::Result(result)) => match result.parts.get(trim.part) {
                Some(ResultPart::Text(text)) => Some((text, trim)),
                _ => None,
            },
            _ => None,
        });
    texts
        .filter_map(|(text, trim)| {
            let at = |chars: usize| {
                text.char_indices()
                    .nth(chars)
                    .map_or(text.len(), |(at, _)| at)
            };
            let end = text.chars().count().saturating_sub(trim.tail_chars);
            text.get(at(trim.head_chars)..at(end))
        })
        .collect()
}

fn trimmed_text(text: &str, trim: Trim) -> String {
    let chars = text.chars().count();
    let omitted = chars.saturating_sub(trim.head_chars + trim.tail_chars);
    let head: String = text.chars().take(trim.head_chars).collect();
    let tail: String = text
        .chars()
        .skip(chars - trim.tail_chars.min(chars))
        .collect();
    format!("{head}{}{tail}", Trim::marker(omitted))
}
