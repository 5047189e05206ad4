//! What may be quoted: every message as pieces, each a line or a stretch of a longer one.

use std::borrow::Cow;

use crate::anchor::is_plain_path;
use crate::files::values;
use crate::lines::lines as lines_of;
use crate::message::{Block, Call, Message, Role};
use crate::provenance::{Source, stretches as stretches_of};
use crate::story::prose::{self, Code};
use crate::story::{command_line, is_plan, without_number};
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
    /// A step of the work, told.
    Deed,
    /// A line inside the arguments of a call.
    Written,
    /// A line of a tool result.
    Result,
    /// A line of a tool result that reports a failure.
    Failure,
    /// A step that failed, told with what came of it.
    Trouble,
    /// A sentence of what somebody else found out for the assistant.
    Report,
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
            Self::User | Self::Assistant | Self::Written | Self::Earlier(_)
        )
    }

    /// Whether it is a line of the log, put together from what other pieces say.
    pub(super) const fn is_composed(self) -> bool {
        matches!(self, Self::Deed | Self::Trouble | Self::Report)
    }

    /// Whether it tells of the work, so that it counts for what it says as well as for what it names.
    pub(super) const fn is_told(self) -> bool {
        match self {
            Self::Assistant | Self::Deed | Self::Trouble | Self::Report => true,
            Self::Earlier(kind) => !matches!(kind, LineKind::Found | LineKind::Listed),
            _ => false,
        }
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
    /// How much of a story it tells, beside what it names.
    pub(super) worth: f64,
}

/// A shorter piece says too little, in bytes.
const SHORTEST: usize = 8;
/// A longer line is quoted in stretches, in bytes.
const LONGEST: usize = 220;
/// Of a message more than twice as long, what follows this is taken to be pasted, in bytes.
const TYPED_BYTES: usize = 2_000;

/// The pieces of a message, in order.
pub(super) fn of<'a>(position: usize, message: &'a Message, each: &mut impl FnMut(Piece<'a>)) {
    let mut place = 0;
    let mut add = |voice, text, place, worth| {
        each(Piece {
            position,
            voice,
            text,
            place,
            worth,
        });
    };
    for block in &message.blocks {
        place += 1;
        match block {
            Block::Text(text) if message.role == Role::Assistant => {
                told(text, Code::LeftOut, &mut place, &mut add);
            }
            Block::Text(text) if message.role == Role::User => {
                for stretch in stretches_of(text) {
                    match stretch.source {
                        Source::Typed => {
                            typed(stretch.text, &mut place, &mut |voice, line, place| {
                                add(voice, Cow::Borrowed(line), place, 0.0);
                            });
                        }
                        Source::Client => {}
                        // A model wrote it, earlier.
                        Source::Summary => told(stretch.text, Code::Told, &mut place, &mut add),
                        Source::Output => {
                            lines(stretch.text, &mut place, &mut |line, place| {
                                add(Voice::Result, Cow::Borrowed(line), place, 0.0);
                            });
                        }
                    }
                }
            }
            Block::Call(call) => of_call(call, &mut place, &mut add),
            Block::Result(result) => {
                let voice = match result.is_error {
                    true => Voice::Failure,
                    false => Voice::Result,
                };
                for text in result.texts() {
                    lines(text, &mut place, &mut |line, place| {
                        add(voice, Cow::Borrowed(line), place, 0.0);
                    });
                }
            }
            _ => {}
        }
    }
}

/// What a model says, sentence by sentence.
fn told<'a>(
    text: &'a str,
    code: Code,
    place: &mut usize,
    add: &mut impl FnMut(Voice, Cow<'a, str>, usize, f64),
) {
    let from = *place;
    prose::units_with(code, text, |number, unit| {
        *place = from + number;
        let text = Cow::Borrowed(unit.text);
        add(Voice::Assistant, text, *place, unit.worth);
    });
}

/// The lines of a text, trimmed; long ones in stretches.
pub(super) fn lines<'a>(text: &'a str, place: &mut usize, each: &mut impl FnMut(&'a str, usize)) {
    // Where a result was shortened before, the marker of a gap says nothing.
    for line in lines_of(text).filter(|line| !line.starts_with("[… ")) {
        stretches(without_number(line).trim(), place, each);
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
    place: &mut usize,
    add: &mut impl FnMut(Voice, Cow<'a, str>, usize, f64),
) {
    *place += 1;
    // The plan is told as it stands.
    if is_plan(call) {
        return;
    }
    let command = command_line(call).filter(|line| line.len() <= LONGEST);
    for value in &values(&call.arguments) {
        // A file has its place in the lists, and a short command in the log.
        if is_plain_path(value) || command.as_deref() == Some(value) {
            continue;
        }
        lines(value, place, &mut |line, place| {
            add(Voice::Written, Cow::Owned(line.to_owned()), place, 0.0);
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
