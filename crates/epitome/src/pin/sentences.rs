//! The sentences of a typed text: what is code, quotation, log or markup is left out.

use super::class::Class;
use super::languages::{lists, may_begin_listed, starts_with_listed};
use super::reading::Strength;
use super::typed::lines;

/// Up to this many characters a message is taken to be typed. In a longer one only rules that say that they stand
/// count: it is a plan, a report or a paste, and most of it describes.
const TYPED_MESSAGE_CHARS: usize = 1_600;
/// A sentence of this many words or fewer may only underline the one before it.
const TAIL_WORDS: usize = 4;
/// None of them is longer than this.
const TAIL_CHARS: usize = 48;
/// A sentence of a typed text and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    /// The sentence, trimmed, without the mark of a list.
    pub(super) text: &'a str,
    /// Its place in a list.
    pub(super) item: Item<'a>,
    /// The kind of text it stands in.
    pub(super) register: Register,
}

/// Whether a sentence is an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// It is not.
    No,
    /// It is, under this line.
    Under(&'a str),
    /// It has a box that is not ticked.
    Open,
    /// It has a box that is ticked.
    Ticked,
}

/// The kind of text a sentence stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    /// A message as people type them.
    Typed,
    /// A document.
    Document,
}

impl Register {
    fn of(text: &str) -> Self {
        if text.len() <= TYPED_MESSAGE_CHARS {
            return Self::Typed;
        }
        match text.char_indices().nth(TYPED_MESSAGE_CHARS) {
            None => Self::Typed,
            Some(_) => Self::Document,
        }
    }

    /// Whether a sentence that says so counts as a rule in such a text.
    pub(super) fn admits(self, strength: Option<Strength>) -> bool {
        match self {
            Self::Typed => strength.is_some(),
            Self::Document => strength == Some(Strength::Explicit),
        }
    }
}

/// The sentences of `text`, in order.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let register = Register::of(text);
    let mut heading = "";
    lines(text).flat_map(move |line| {
        let line = line.trim();
        let (mut item, mut bare) = without_mark(line);
        match item {
            Item::No if !line.is_empty() => heading = line,
            Item::Under(_) => item = Item::Under(heading),
            _ => {}
        }
        if line.starts_with('#') {
            // A heading names what follows.
            bare = "";
        }
        split_line(bare).map(move |text| Piece {
            text,
            item,
            register,
        })
    })
}

/// A line without the mark of a list, and what the mark says.
fn without_mark(line: &str) -> (Item<'_>, &str) {
    let Some(rest) = after_bullet(line).or_else(|| after_number(line)) else {
        return (Item::No, line);
    };
    for (mark, item) in [
        ("[ ]", Item::Open),
        ("[x]", Item::Ticked),
        ("[X]", Item::Ticked),
    ] {
        if let Some(text) = rest.strip_prefix(mark) {
            return (item, text.trim_start());
        }
    }
    (Item::Under(""), rest)
}

fn after_bullet(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '•', '–', '+', '·'])?;
    rest.starts_with(char::is_whitespace)
        .then(|| rest.trim_start())
}

fn after_number(line: &str) -> Option<&str> {
    let line = line.strip_prefix('(').unwrap_or(line);
    let digits = line
        .find(|c: char| !c.is_ascii_digit())
        .filter(|end| (1..=2).contains(end))?;
    let rest = line.get(digits..)?.strip_prefix(['.', ')', '、'])?;
    (rest.starts_with(char::is_whitespace) || line.contains('、')).then(|| rest.trim_start())
}

/// The sentences of a line. One that only underlines the one before it stays with it.
fn split_line(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let mut end = sentence_end(rest)?;
        while let Some(tail) = rest.get(end..).filter(|tail| is_tail(tail)) {
            end += sentence_end(tail).unwrap_or(tail.len());
        }
        let (sentence, tail) = rest.split_at_checked(end)?;
        rest = tail;
        Some(sentence.trim())
    })
    .filter(|sentence| !sentence.is_empty())
}

/// Whether a character that begins with this byte may end a sentence.
const fn may_end(byte: &u8) -> bool {
    matches!(byte, b'.' | b'!' | b'?' | 0xE3 | 0xEF)
}

/// Where the first sentence of `text` ends: after `.`, `!`, `?` when a space follows, and after their full-width forms.
fn sentence_end(text: &str) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    let mut from = 0;
    while let Some(at) = text.as_bytes().get(from..)?.iter().position(may_end) {
        let at = from + at;
        let mut characters = text.get(at..)?.char_indices().map(|(on, c)| (at + on, c));
        let (_, character) = characters.next()?;
        let mut characters = characters.peekable();
        let mut after = at + character.len_utf8();
        let ends = match character {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                while let Some((at, close)) = characters
                    .next_if(|(_, c)| matches!(c, '"' | '”' | '\'' | ')' | '»' | '!' | '?' | '.'))
                {
                    after = at + close.len_utf8();
                }
                let spaced = characters
                    .peek()
                    .is_none_or(|(_, next)| next.is_whitespace());
                spaced && !(character == '.' && is_abbreviation(text.get(..at).unwrap_or_default()))
            }
            _ => false,
        };
        if ends {
            while let Some((at, close)) =
                characters.next_if(|(_, c)| matches!(c, '」' | '』' | '）' | '”'))
            {
                after = at + close.len_utf8();
            }
            return Some(after);
        }
        from = after;
    }
    Some(text.len())
}

fn is_abbreviation(before: &str) -> bool {
    let start = before
        .rfind(|c: char| c.is_whitespace() || c == '(')
        .map_or(0, |at| at + 1);
    let word = before
        .get(start..)
        .unwrap_or_default()
        .trim_start_matches(|c: char| !c.is_alphanumeric());
    let letters = word.chars().count();
    letters <= 6
        && (letters == 1 && word.chars().all(char::is_lowercase)
            || lists(Class::Abbreviation, &word.to_lowercase()))
}

fn is_tail(text: &str) -> bool {
    let text = text.trim_start();
    if !may_begin_listed(Class::Tail, text) {
        return false;
    }
    let start = first_chars(text, TAIL_CHARS);
    let end = sentence_end(start).unwrap_or(0);
    let sentence = start.get(..end).unwrap_or_default().trim();
    if sentence.is_empty() || sentence.split_whitespace().count() > TAIL_WORDS {
        return false;
    }
    let lower = sentence.to_lowercase();
    let bare = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    starts_with_listed(Class::Tail, bare, |rest, tail| {
        let may_go_on = tail.starts_with("not") || tail.starts_with("ni");
        rest.is_empty() || may_go_on && rest.starts_with(' ')
    })
}

/// At most `count` characters of a text.
fn first_chars(text: &str, count: usize) -> &str {
    let end = text.char_indices().nth(count).map(|(end, _)| end);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}
