//! Messages in fewer words: what stays of a result, of a text, or of the arguments of a call, with a marker for every
//! gap.
//!
//! A trim is a decision about a view; the log keeps the whole. What stays are stretches of the original, in order and
//! letter for letter, so that a wire can splice the rest away.

pub(crate) mod arguments;
mod border;
mod choose;
mod fit;
mod json;
mod notable;
mod patch;

pub(crate) use choose::{argument_tokens, cap, trims_among, trims_over};
pub use choose::{trims, trims_beyond};

use std::borrow::Cow;
use std::ops::Range;

use crate::files::values;
use crate::message::{Block, Message, ResultPart};
use crate::word_cut::whole_words;

/// Tokens that always remain of a text that is trimmed.
pub(crate) const TRIMMED_TOKENS: u64 = 48;

/// What becomes of one part of a message: of a tool result, of a text, or of the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trim {
    /// Which block of the message.
    pub block: usize,
    /// Which part of the tool result; zero where the block is a text or a call.
    pub part: usize,
    /// What is seen of it.
    pub shown: Shown,
}

/// What is seen of a part that is not shown whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Shown {
    /// Some of its text, with a marker for each gap.
    Kept(Kept),
    /// What stands for all of it, be it a line for a text or a medium, or arguments in fewer words.
    Placeholder(String),
}

/// The stretches of a text that stay, counted in characters.
///
/// ```
/// use epitome::Kept;
///
/// let kept = Kept { head_chars: 2, between: vec![4..6], tail_chars: 1 };
/// assert_eq!(kept.gaps(10), [2..4, 6..9]);
/// assert_eq!(
///     kept.of("0123456789"),
///     "01\n[… 2 characters left out …]\n45\n[… 3 characters left out …]\n9"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kept {
    /// Characters kept at the beginning.
    pub head_chars: usize,
    /// What is kept between the ends, in order.
    pub between: Vec<Range<usize>>,
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

impl Kept {
    /// The stretches of a text of `chars` characters that go, in order; a marker stands for each.
    #[must_use]
    pub fn gaps(&self, chars: usize) -> Vec<Range<usize>> {
        let tail = chars.saturating_sub(self.tail_chars);
        let mut gaps = Vec::with_capacity(self.between.len() + 1);
        let mut from = self.head_chars;
        let between = self.between.iter().filter(|range| !range.is_empty());
        for kept in between.chain([&(tail..chars.max(tail))]) {
            let end = kept.start.min(tail);
            if from < end {
                gaps.push(from..end);
            }
            from = from.max(kept.end);
        }
        gaps
    }

    /// What is seen of `text`.
    #[must_use]
    pub fn of(&self, text: &str) -> String {
        let mut out = String::new();
        let (mut rest, mut at) = (text, 0);
        for gap in self.gaps(text.chars().count()) {
            let (kept, after) = split_at_char(rest, gap.start - at);
            out.push_str(kept);
            out.push_str(&Trim::marker(gap.len()));
            (_, rest) = split_at_char(after, gap.len());
            at = gap.end;
        }
        out + rest
    }
}

impl Kept {
    /// The stretches of `text` that stay, in order, without halves of words: for quotations.
    pub(crate) fn stretches<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut out = Vec::new();
        let (mut rest, mut at, mut before) = (text, 0, "");
        for gap in self.gaps(text.chars().count()) {
            let (kept, after) = split_at_char(rest, gap.start - at);
            out.push(whole_words(before, kept, after));
            (before, rest) = split_at_char(after, gap.len());
            at = gap.end;
        }
        out.push(whole_words(before, rest, ""));
        out.retain(|stretch| !stretch.trim().is_empty());
        out
    }
}

fn split_at_char(text: &str, chars: usize) -> (&str, &str) {
    let at = text.char_indices().nth(chars).map_or(text.len(), |c| c.0);
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// A message shortened as [`Trim`] says. Trims of parts that are not there change nothing.
#[must_use]
pub fn trimmed(message: &Message, trims: &[Trim]) -> Message {
    let mut message = message.clone();
    for trim in trims {
        match (message.blocks.get_mut(trim.block), &trim.shown) {
            (Some(Block::Result(result)), shown) => {
                if let Some(part) = result.parts.get_mut(trim.part) {
                    trim_part(part, shown);
                }
            }
            (Some(Block::Text(text)), Shown::Kept(kept)) => *text = kept.of(text),
            (Some(Block::Call(call)), Shown::Placeholder(arguments)) => {
                call.arguments = arguments.as_str().into();
            }
            _ => {}
        }
    }
    message
}

fn trim_part(part: &mut ResultPart, shown: &Shown) {
    match (shown, &*part) {
        (Shown::Kept(kept), ResultPart::Text(text)) => *part = ResultPart::Text(kept.of(text)),
        (Shown::Placeholder(line), ResultPart::Text(_) | ResultPart::Media(_)) => {
            *part = ResultPart::Text(line.clone());
        }
        _ => {}
    }
}

/// What trimming leaves out of a message, stretch by stretch, without halves of words.
pub(crate) fn omitted<'a>(message: &'a Message, trims: &[Trim]) -> Vec<Cow<'a, str>> {
    let mut out = Vec::new();
    for trim in trims {
        let text = match message.blocks.get(trim.block) {
            Some(Block::Result(result)) => match result.parts.get(trim.part) {
                Some(ResultPart::Text(text)) => text,
                _ => continue,
            },
            Some(Block::Text(text)) => text,
            Some(Block::Call(call)) => {
                out.extend(values(&call.arguments));
                continue;
            }
            _ => continue,
        };
        match &trim.shown {
            Shown::Placeholder(_) => out.push(Cow::Borrowed(text.as_str())),
            Shown::Kept(kept) => {
                let (mut rest, mut at) = (text.as_str(), 0);
                for gap in kept.gaps(text.chars().count()) {
                    let (kept, after) = split_at_char(rest, gap.start - at);
                    let (gone, after) = split_at_char(after, gap.len());
                    out.push(Cow::Borrowed(whole_words(kept, gone, after)));
                    (rest, at) = (after, gap.end);
                }
            }
        }
    }
    out
}
