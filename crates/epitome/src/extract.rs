//! The built-in summariser: verbatim lines chosen under a budget. No model, no randomness.

mod coverage;

use crate::dress::Dress;
use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::pin::{self, Pin};
use crate::reference::{layer, micro};
use crate::summary::{self, BULLET_TOKENS, Earlier, Line, Parts, Summary};

/// What the built-in summariser works from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The entries to be summarised, with their positions.
    pub span: &'a [(usize, &'a Message)],
    /// The entry before them, where a summary may stand inside it.
    pub before: Option<&'a Message>,
    /// Whether the first request has to be carried in the summary.
    pub carries_task: bool,
    /// Whether the newest request of the user is inside the span.
    pub holds_latest_request: bool,
    /// What the user wants kept in mind.
    pub focus: Option<&'a str>,
    /// How the text is dressed for its place.
    pub dress: Dress<'a>,
    /// What the text may cost.
    pub budget_tokens: u64,
    /// How it is counted.
    pub meter: Meter,
}

/// The share of the budget that instructions may take, in percent: they come before everything else.
const PINS_PERCENT: u64 = 66;
/// The share of the rest that the words of the user may take, in percent.
const SAID_PERCENT: u64 = 40;
/// The longest quotation of one message of the user.
const SAID_CHARS: usize = 360;
/// The longest quotation of the first or the newest request.
const REQUEST_CHARS: usize = 4_000;
/// The longest quotation of the assistant's last words.
const LAST_WORDS_CHARS: usize = 600;
/// Bytes without a space beyond which a text is taken to have no words to cut between.
const LONGEST_WORD: usize = 160;

impl Source<'_> {
    /// Writes the summary. Its text never costs more than the budget; where the budget is too small even
    /// for the frame, only the frame is left.
    #[must_use]
    pub fn summarise(&self) -> Summary {
        let mut parts = Parts {
            covers: self.covers(),
            ..Parts::default()
        };
        let overhead = Parts::overhead_tokens(self.meter) + self.dress.overhead_tokens(self.meter);
        let mut left = self.budget_tokens.saturating_sub(overhead + BULLET_TOKENS);
        let earlier = self.earlier();

        let cap = left * PINS_PERCENT / 100;
        parts.pins = pin::cap(self.pins(&earlier), cap, self.meter).kept;
        left = left.saturating_sub(parts.pins.iter().map(|p| self.cost(&p.text)).sum());
        if self.carries_task {
            parts.task = self.first_request(&earlier, left / 3);
            left = left.saturating_sub(parts.task.iter().map(|t| self.cost(t)).sum());
        }
        if self.holds_latest_request && !self.dress.says_last_request() {
            parts.latest_request = self.latest_request(left / 2);
            left = left.saturating_sub(parts.latest_request.iter().map(|t| self.cost(t)).sum());
        }
        parts.last_words = self.last_words(left / 6);
        left = left.saturating_sub(parts.last_words.iter().map(|l| self.cost(&l.text)).sum());

        parts.said = self.said(&earlier, &parts.pins, left * SAID_PERCENT / 100);
        left = left.saturating_sub(parts.said.iter().map(|l| self.cost(&l.text)).sum());
        parts.record = coverage::choose(self, &earlier, &parts, left);

        let mut sources: Vec<usize> = parts
            .said
            .iter()
            .chain(&parts.record)
            .chain(&parts.last_words)
            .map(|line| line.position)
            .chain(parts.pins.iter().filter_map(Pin::entry))
            .collect();
        sources.sort_unstable();
        sources.dedup();
        Summary {
            text: self.dress.apply(&parts),
            sources,
        }
    }

    fn cost(&self, text: &str) -> u64 {
        self.meter.text(text) + BULLET_TOKENS
    }

    fn covers(&self) -> (usize, usize) {
        let first = self.span.first().map_or(0, |(position, _)| position + 1);
        let last = self.span.last().map_or(0, |(position, _)| position + 1);
        (first, last)
    }

    /// An earlier summary of ours counts only where we put it: in front of the span, or in the message before it.
    fn earlier(&self) -> Earlier {
        let first = self.front().next().map(|(_, message)| message);
        let text = |message: Option<&'_ Message>, role: Role| {
            message
                .filter(|message| message.role == role)
                .and_then(|message| message.spoken().next().map(str::to_owned))
        };
        let own = text(first, Role::User).filter(|text| summary::is_own(text));
        let merged =
            || text(self.before, Role::User).filter(|text| text.contains(micro::OPEN_MARK));
        own.or_else(merged)
            .and_then(|text| Earlier::read(&text))
            .or_else(|| Earlier::read_round(&text(first, Role::Assistant)?))
            .unwrap_or_default()
    }

    /// The span without the opening that stands before an assistant's summary.
    fn front(&self) -> impl DoubleEndedIterator<Item = (usize, &Message)> {
        let is_opening = |message: &Message| message.spoken().next() == Some(layer::OPENING);
        let skipped = usize::from(
            self.span
                .first()
                .is_some_and(|(_, first)| is_opening(first)),
        );
        self.span
            .iter()
            .skip(skipped)
            .map(|(position, message)| (*position, *message))
    }

    /// The entries that somebody really sent: an earlier summary of ours is not one of them.
    fn entries(&self) -> impl DoubleEndedIterator<Item = (usize, &Message)> {
        let summary = self
            .front()
            .next()
            .filter(|(_, message)| message.spoken().next().is_some_and(is_earlier_summary))
            .map(|(position, _)| position);
        self.front()
            .filter(move |(position, _)| Some(*position) != summary)
    }

    fn first_position(&self) -> usize {
        self.span.first().map_or(0, |(position, _)| *position)
    }

    fn pins(&self, earlier: &Earlier) -> Vec<Pin> {
        let position = self.first_position();
        let carried = |text: &String| Pin::carried(position, text.clone());
        let earlier = earlier.pins.iter().map(carried).collect();
        pin::carry(earlier, self.entries())
    }

    fn typed(&self) -> impl DoubleEndedIterator<Item = (usize, String)> {
        self.entries()
            .filter(|(_, message)| message.is_typed_by_user())
            .map(|(position, message)| (position, message.spoken().collect::<Vec<_>>().join("\n")))
    }

    fn first_request(&self, earlier: &Earlier, cap_tokens: u64) -> Option<String> {
        let text = match &earlier.task {
            Some(task) => task.clone(),
            None => self.typed().next()?.1,
        };
        Some(self.shortened(&text, REQUEST_CHARS, cap_tokens)).filter(|text| !text.is_empty())
    }

    fn latest_request(&self, cap_tokens: u64) -> Option<String> {
        let (_, text) = self.typed().next_back()?;
        Some(self.shortened(&text, REQUEST_CHARS, cap_tokens)).filter(|text| !text.is_empty())
    }

    fn last_words(&self, cap_tokens: u64) -> Option<Line> {
        let (position, message) = self.entries().rfind(|(_, message)| {
            message.role == Role::Assistant && message.spoken().any(|text| !text.trim().is_empty())
        })?;
        let text = message.spoken().collect::<Vec<_>>().join("\n");
        let text = self.shortened(text.trim(), LAST_WORDS_CHARS, cap_tokens);
        (!text.is_empty()).then_some(Line { position, text })
    }

    /// The words of the user, newest first in line for room, oldest first in the text.
    fn said(&self, earlier: &Earlier, pins: &[Pin], budget_tokens: u64) -> Vec<Line> {
        let position = self.first_position();
        let old = earlier.said.iter().map(|text| (position, text.clone()));
        let mut left = budget_tokens;
        let mut lines: Vec<Line> = Vec::new();
        let mut typed: Vec<(usize, String)> = self.typed().collect();
        if self.holds_latest_request {
            // It stands in front already.
            typed.pop();
        }
        let all: Vec<(usize, String)> = old.chain(typed).collect();
        for (position, text) in all.into_iter().rev() {
            let text = without_pins(&text, pins);
            let text = self.shortened(&one_line(&text), SAID_CHARS, left);
            if text.is_empty() || lines.iter().any(|line| line.text == text) {
                continue;
            }
            let Some(rest) = left.checked_sub(self.cost(&text)) else {
                break;
            };
            left = rest;
            lines.push(Line { position, text });
        }
        lines.reverse();
        lines
    }

    /// The beginning of `text` within both limits, with a sign where it was cut.
    fn shortened(&self, text: &str, chars: usize, tokens: u64) -> String {
        let room = tokens.saturating_sub(BULLET_TOKENS + 1);
        let fitting = self.meter.prefix(text, room).chars().count();
        let cut = first_words(text, fitting.min(chars));
        if cut.len() == text.len() {
            text.to_owned()
        } else if cut.trim().len() < 8 {
            String::new()
        } else {
            format!("{} …", cut.trim_end())
        }
    }
}

/// A text without the sentences that stand among the instructions already.
fn without_pins(text: &str, pins: &[Pin]) -> String {
    let mut out = text.to_owned();
    for pin in pins.iter().filter(|pin| text.contains(&pin.text)) {
        out = out.replace(&pin.text, if out.trim() == pin.text { "" } else { "[…]" });
    }
    out
}

fn is_earlier_summary(text: &str) -> bool {
    summary::is_own(text) || text.starts_with(layer::SUMMARY_MARK)
}

/// At most `chars` characters of a text, cut between words, so that no name is cut in two. A script
/// without spaces is cut between characters.
pub(crate) fn first_words(text: &str, chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars) else {
        return text;
    };
    let cut = text.get(..end).unwrap_or(text);
    let word_end = cut.rfind(char::is_whitespace).unwrap_or(0);
    if cut.len() - word_end > LONGEST_WORD {
        return cut;
    }
    cut.get(..word_end).unwrap_or(cut)
}

/// Joins the lines of a text, so that it fits a bullet.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
