//! What the user said that stays in force, word for word.

use crate::message::Message;
use crate::meter::Meter;

/// A sentence of the user that is kept verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The entry it was typed in.
    pub position: usize,
    /// The sentence, exactly as typed.
    pub text: String,
}

/// Sentences outside these lengths are no rules: too little to go by, or a paste.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=400;
/// Rules stand in what a person types, and that is short; a long message is mostly pasted material.
const TYPED_CHARS: usize = 6_000;

/// Words that make a sentence a standing instruction wherever they stand in it.
const MARKERS: &[&str] = &[
    "always",
    "never",
    "must",
    "mustn't",
    "from now on",
    "at all times",
    "under no circumstances",
    "make sure",
    "immer",
    "niemals",
    "siempre",
    "nunca",
    "toujours",
    "jamais",
];
/// Words that do so only at the beginning of a sentence.
const OPENERS: &[&str] = &[
    "do not ",
    "don't ",
    "please do not ",
    "please don't ",
    "only use ",
    "remember ",
    "no matter ",
];
/// Words of scripts that do not separate words.
const UNSPACED_MARKERS: &[&str] = &[
    "必ず",
    "絶対",
    "常に",
    "必须",
    "务必",
    "不要",
    "永远",
    "반드시",
    "절대",
];

/// The standing instructions among the messages of the user, oldest first, each sentence once.
///
/// Only what a person typed is looked at: tool output and injected text never become an instruction.
#[must_use]
pub fn find<'a>(messages: impl IntoIterator<Item = (usize, &'a Message)>) -> Vec<Pin> {
    let mut pins: Vec<Pin> = Vec::new();
    for (position, message) in messages {
        if !message.is_typed_by_user() {
            continue;
        }
        for text in message.spoken() {
            for sentence in sentences(typed_part(text)).filter(|s| is_standing(s)) {
                if !pins.iter().any(|pin| pin.text == sentence) {
                    pins.push(Pin {
                        position,
                        text: sentence.to_owned(),
                    });
                }
            }
        }
    }
    pins
}

/// Keeps the pins that fit `cap_tokens`, the newest first in line, and returns them oldest first.
#[must_use]
pub fn cap(pins: Vec<Pin>, cap_tokens: u64, meter: Meter) -> Vec<Pin> {
    let mut left = cap_tokens;
    let mut kept: Vec<Pin> = pins
        .into_iter()
        .rev()
        .filter(|pin| match left.checked_sub(meter.text(&pin.text) + 2) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
        .collect();
    kept.reverse();
    kept
}

fn typed_part(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(TYPED_CHARS)
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// Sentences of `text` outside fenced code, trimmed.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines()
        .filter(move |line| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            !fence && !fenced
        })
        .flat_map(split_line)
        .map(|sentence| sentence.trim().trim_start_matches(['-', '*', '•', ' ']))
        .filter(|sentence| !sentence.is_empty())
}

/// Splits after `.`, `!`, `?` when a space follows, and after their full-width forms.
fn split_line(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut ends = rest.char_indices().filter_map(|(at, c)| {
            let after = at + c.len_utf8();
            let breaks = match c {
                '。' | '！' | '？' => true,
                '.' | '!' | '?' => rest.get(after..).is_some_and(|r| r.starts_with(' ')),
                _ => false,
            };
            breaks.then_some(after)
        });
        let (sentence, tail) = rest.split_at(ends.next().unwrap_or(rest.len()));
        rest = tail;
        Some(sentence)
    })
}

pub(crate) fn is_standing(sentence: &str) -> bool {
    if !LENGTHS.contains(&sentence.chars().count()) || sentence.ends_with('?') {
        // Scripts without spaces say a whole rule in a few characters.
        return !sentence.ends_with(['?', '？']) && is_unspaced_rule(sentence);
    }
    let lower = sentence.to_lowercase();
    MARKERS.iter().any(|marker| has_words(&lower, marker))
        || OPENERS.iter().any(|opener| lower.starts_with(opener))
        || is_use_for(&lower)
        || is_unspaced_rule(sentence)
}

fn is_unspaced_rule(sentence: &str) -> bool {
    sentence.chars().count() >= 4
        && UNSPACED_MARKERS
            .iter()
            .any(|marker| sentence.contains(marker))
}

/// "Use tabs for indentation", "use X instead of Y".
fn is_use_for(lower: &str) -> bool {
    let starts = lower.starts_with("use ") || lower.starts_with("please use ");
    starts && (lower.contains(" for ") || lower.contains(" instead ") || lower.contains(" in "))
}

/// Whether `marker` stands in `text` between word borders.
fn has_words(text: &str, marker: &str) -> bool {
    text.match_indices(marker).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + marker.len()..).and_then(|t| t.chars().next());
        let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        is_border(before) && is_border(after)
    })
}
