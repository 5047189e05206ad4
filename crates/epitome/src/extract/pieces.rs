//! What may be quoted: every message as pieces, each a line or a stretch of a longer one.

use std::borrow::Cow;

use super::unbroken;
use super::values::values;
use crate::message::{Block, Call, Message, Role};
use crate::provenance::{Source, stretches as stretches_of};
use crate::summary::LineKind;
use crate::word_cut::{behind_long_word, first_words};

/// Who a piece comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// The user typed it.
    User,
    /// The user pasted it.
    Pasted,
    /// The assistant said it.
    Assistant,
    /// A call: its name and the beginning of its arguments, behind what it is for.
    Call,
    /// A line inside the arguments of a call.
    Written,
    /// A line of a tool result.
    Result,
    /// A line of a tool result that reports a failure.
    Failure,
    /// A failure and what came of it.
    Trouble,
    /// A path of a list of paths, by its last two parts.
    Listed,
    /// A line of an earlier summary.
    Earlier(LineKind),
}

impl Voice {
    /// Whether the user or the assistant chose the words.
    pub(super) const fn is_spoken(self) -> bool {
        matches!(
            self,
            Self::User | Self::Assistant | Self::Call | Self::Written | Self::Earlier(_)
        )
    }

    /// Whether the user sent it.
    pub(super) const fn is_said(self) -> bool {
        matches!(self, Self::User | Self::Pasted)
    }
}

/// A verbatim line, or a stretch of a longer one.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    pub(super) position: usize,
    pub(super) voice: Voice,
    pub(super) text: Cow<'a, str>,
    /// Where it stands in its message: what follows right behind it has the next number.
    pub(super) place: usize,
}

impl Piece<'_> {
    /// A failure and what came of it.
    pub(super) const fn trouble(position: usize, text: String) -> Self {
        Self {
            position,
            voice: Voice::Trouble,
            text: Cow::Owned(text),
            place: 0,
        }
    }
}

/// A shorter piece says too little, in bytes.
const SHORTEST: usize = 8;
/// A longer line is quoted in stretches, in bytes.
const LONGEST: usize = 220;
/// Of a message more than twice as long, what follows this is taken to be pasted, in bytes.
const TYPED_BYTES: usize = 2_000;
/// What is quoted of a call, in characters.
const CALL_CHARS: usize = 240;
/// Longer words before a call are quoted by themselves, in bytes.
const PURPOSE_BYTES: usize = 110;

/// The pieces of a message, in order.
pub(super) fn of<'a>(position: usize, message: &'a Message, each: &mut impl FnMut(Piece<'a>)) {
    let mut purpose = None;
    let mut place = 0;
    for block in &message.blocks {
        place += 1;
        let mut add = |voice, text, place| {
            each(Piece {
                position,
                voice,
                text,
                place,
            });
        };
        match block {
            Block::Text(text) if message.role == Role::Assistant => {
                lines(text, &mut place, &mut |line, place| {
                    add(Voice::Assistant, Cow::Borrowed(line), place);
                });
                purpose = last_sentence(text);
            }
            Block::Text(text) if message.role == Role::User => {
                for stretch in stretches_of(text) {
                    match stretch.source {
                        Source::Typed => {
                            typed(stretch.text, &mut place, &mut |voice, line, place| {
                                add(voice, Cow::Borrowed(line), place);
                            });
                        }
                        Source::Client => {}
                        Source::Output | Source::Summary => {
                            lines(stretch.text, &mut place, &mut |line, place| {
                                add(Voice::Result, Cow::Borrowed(line), place);
                            });
                        }
                    }
                }
            }
            Block::Call(call) => of_call(call, purpose.take(), &mut place, &mut add),
            Block::Result(result) => {
                let voice = match result.is_error {
                    true => Voice::Failure,
                    false => Voice::Result,
                };
                for text in result.texts() {
                    lines(text, &mut place, &mut |line, place| {
                        add(voice, Cow::Borrowed(line), place);
                    });
                }
            }
            _ => {}
        }
    }
}

/// The lines of a text, trimmed; long ones in stretches.
pub(super) fn lines<'a>(text: &'a str, place: &mut usize, each: &mut impl FnMut(&'a str, usize)) {
    // Where a result was shortened before, the marker of a gap says nothing.
    for line in text.lines().filter(|line| !line.starts_with("[… ")) {
        stretches(line.trim(), place, each);
    }
}

/// What the user sent: most of a long message is pasted.
fn typed<'a>(text: &'a str, place: &mut usize, each: &mut impl FnMut(Voice, &'a str, usize)) {
    let voice = Voice::User;
    let mut at = 0;
    for line in text.lines() {
        at += line.len();
        if text.len() > 2 * TYPED_BYTES && at > TYPED_BYTES {
            stretches(line.trim(), place, &mut |piece, place| {
                each(Voice::Pasted, piece, place);
            });
        } else {
            let mut rest = line.trim();
            while rest.len() > LONGEST
                && let Some(end) = sentences_end(rest)
                && let Some((piece, behind)) = rest.split_at_checked(end)
            {
                *place += 1;
                each(voice, piece, *place);
                rest = behind.trim_start();
            }
            stretches(rest, place, &mut |piece, place| {
                each(voice, piece, place);
            });
        }
    }
}

fn of_call<'a>(
    call: &Call,
    purpose: Option<&str>,
    place: &mut usize,
    add: &mut impl FnMut(Voice, Cow<'a, str>, usize),
) {
    let values = values(&call.arguments);
    let mut head = match purpose {
        Some(purpose) => format!("{purpose} "),
        None => String::new(),
    };
    let from = head.chars().count();
    let full = head.len() + LONGEST;
    head.push_str(&call.name);
    for value in &values {
        if head.len() > full {
            break;
        }
        head.push(' ');
        head.push_str(first_words(value, LONGEST));
    }
    let head = unbroken(&head);
    let head = first_words(&head, from + CALL_CHARS).to_owned();
    add(Voice::Call, Cow::Owned(head), *place);
    *place += 1;
    for value in &values {
        lines(value, place, &mut |line, place| {
            add(Voice::Written, Cow::Owned(line.to_owned()), place);
        });
    }
}

/// A line, or the stretches of a long one.
fn stretches<'a>(line: &'a str, place: &mut usize, each: &mut impl FnMut(&'a str, usize)) {
    let mut rest = line;
    while rest.len() > LONGEST {
        let mut piece = first_words(rest, LONGEST);
        // A whole sentence reads better than one and half of the next.
        if let Some(end) = piece
            .rfind(['.', '!', '?', ';'])
            .filter(|end| *end > piece.len() / 2)
            && let (whole, behind) = piece.split_at(end + 1)
            && behind.starts_with(' ')
        {
            piece = whole;
        }
        if piece.is_empty() {
            // One long word: its beginning is no use.
            rest = behind_long_word(rest);
            continue;
        }
        *place += 1;
        if piece.len() >= SHORTEST {
            each(piece, *place);
        }
        rest = rest.get(piece.len()..).unwrap_or_default().trim_start();
    }
    *place += usize::from(!rest.is_empty());
    if rest.len() >= SHORTEST {
        each(rest, *place);
    }
}

/// The end of the last sentence that ends within a stretch, or else of the first one, if that is no longer than two.
fn sentences_end(text: &str) -> Option<usize> {
    let mut last = None;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if at > 2 * LONGEST || at > LONGEST && last.is_some() {
            break;
        }
        let next = characters.peek().map_or(' ', |(_, next)| *next);
        let ends = match character {
            '.' | '!' | '?' | ';' => next == ' ',
            '。' | '！' | '？' => !matches!(next, '」' | '』' | '）'),
            _ => false,
        };
        if ends && at >= SHORTEST {
            last = Some(at + character.len_utf8());
        }
    }
    last
}

/// The end of what was said before a call, if it is short: it tells what the call is for.
fn last_sentence(text: &str) -> Option<&str> {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let before = line.trim_end_matches(['.', '!', '?', ':']).rfind(". ");
    let sentence = line.get(before.map_or(0, |at| at + 2)..)?;
    (sentence.len() <= PURPOSE_BYTES).then_some(sentence)
}
