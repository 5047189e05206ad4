//! Words: what the source and the summary are compared by.

pub(super) use crate::hashed::Spread;
use crate::letters::{self, is_surely_small, small};

/// A word in small letters, as a number. Two texts hold the same word if they hold the same key.
pub(super) type Key = u64;

/// A word and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) key: Key,
    /// Whether it is an ordinary word, of letters only and at most the first of them a capital: no name is a part of it.
    pub(super) is_ordinary: bool,
}

impl<'a> Word<'a> {
    /// A character that stands for itself, in a script that does not separate words: it has no capitals.
    fn single(text: &'a str, start: usize, character: char) -> Self {
        let mut state = Mix::default();
        state.add(u64::from(u32::from(character)));
        Self {
            text,
            start,
            key: state.finish(),
            is_ordinary: true,
        }
    }

    /// Whether it is a number, a version, or begins like one: `3`, `1.5`, `200k`.
    pub(super) fn is_numeric(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// The words of a text: runs of letters, digits and `_`; numbers with their points; single characters of scripts that
/// do not separate words.
pub(super) fn words(text: &str) -> Words<'_> {
    Words { text, at: 0 }
}

#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            self.at += rest.iter().position(|byte| kind(*byte) != Kind::Other)?;
            let start = self.at;
            let rest = self.text.get(start..)?;
            if rest.as_bytes().first().is_some_and(|byte| !byte.is_ascii()) {
                let first = rest.chars().next()?;
                if !is_letter(first) {
                    self.at += first.len_utf8();
                    continue;
                }
                if is_unspaced(first) {
                    self.at += first.len_utf8();
                    return Some(Word::single(rest.get(..first.len_utf8())?, start, first));
                }
            }
            if let Some(word) = self.plain() {
                return Some(word);
            }
            let length = length(rest);
            self.at = start + length;
            let whole = rest.get(..length)?;
            let text = bare(whole, '_');
            if text.is_empty() {
                continue;
            }
            let lead = whole.len() - whole.trim_start_matches('_').len();
            return Some(Word {
                text,
                start: start + lead,
                key: key(text),
                is_ordinary: false,
            });
        }
    }
}

/// A text without this sign at either end. Hardly any has it, and looking for it costs more than asking.
pub(super) fn bare(text: &str, sign: char) -> &str {
    match text.starts_with(sign) || text.ends_with(sign) {
        true => text.trim_matches(sign),
        false => text,
    }
}

impl<'a> Words<'a> {
    /// The word here, if it is only letters behind one that begins no number, or only digits: most words are, and they
    /// are read in one go.
    fn plain(&mut self) -> Option<Word<'a>> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let first = *rest.first()?;
        let is_version = matches!(first, b'v' | b'V')
            && rest.get(1).is_some_and(|next| kind(*next) == Kind::Digit);
        let is_number = kind(first) == Kind::Digit;
        if first == b'_' || is_version {
            return None;
        }
        let mut state = Mix::default();
        let mut length = 0;
        let mut is_ordinary = !is_number;
        // Most words are small letters behind the first.
        if first.is_ascii_alphabetic() {
            state.add(u64::from(first.to_ascii_lowercase()));
            length = 1;
            while let Some(byte) = rest.get(length).filter(|byte| byte.is_ascii_lowercase()) {
                state.add(u64::from(*byte));
                length += 1;
            }
        }
        while let Some(byte) = rest.get(length) {
            match kind(*byte) {
                Kind::Digit => {
                    is_ordinary = false;
                    state.add(u64::from(*byte));
                }
                Kind::Letter if !is_number => {
                    is_ordinary &= byte.is_ascii_lowercase();
                    state.add(u64::from(byte.to_ascii_lowercase()));
                }
                Kind::Other if !(is_number && matches!(*byte, b'.' | b',')) => break,
                Kind::Wide if !is_number => {
                    let c = self.text.get(self.at + length..)?.chars().next()?;
                    if is_unspaced(c) || !is_letter(c) {
                        break;
                    }
                    small(c, |lower| state.add(u64::from(u32::from(lower))));
                    is_ordinary &= is_surely_small(c) || length == 0;
                    length += c.len_utf8();
                    continue;
                }
                _ => return None,
            }
            length += 1;
        }
        if length == 0 {
            return None;
        }
        if rest.get(length - 1) == Some(&b'_') {
            return None;
        }
        let start = self.at;
        self.at += length;
        Some(Word {
            text: self.text.get(start..self.at)?,
            start,
            key: state.finish(),
            is_ordinary: is_ordinary && !may_be_hash(rest.get(..length)?),
        })
    }
}

/// Whether a word of letters may be a hash: it happens.
fn may_be_hash(word: &[u8]) -> bool {
    word.len() > 7 && word.iter().all(u8::is_ascii_hexdigit)
}

/// What a byte may be part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No word.
    Other,
    /// A letter of ASCII, or `_`.
    Letter,
    Digit,
    /// A character outside ASCII.
    Wide,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        let character = byte as u8;
        let kind = if character.is_ascii_alphabetic() || character == b'_' {
            Kind::Letter
        } else if character.is_ascii_digit() {
            Kind::Digit
        } else if character.is_ascii() {
            Kind::Other
        } else {
            Kind::Wide
        };
        // The loop keeps within the table; a constant cannot use anything else.
        #[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
        {
            kinds[byte] = kind;
        }
        byte += 1;
    }
    kinds
};

fn kind(byte: u8) -> Kind {
    KINDS.get(usize::from(byte)).copied().unwrap_or(Kind::Other)
}

/// Bytes of the word that `rest` begins with.
fn length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // Only what is a number so far goes on behind a point or comma.
    let mut is_number = true;
    let mut groups = true;
    for (at, character) in rest.char_indices() {
        let goes_on = match character {
            '.' => is_number && at > 0 && digit(at - 1) && digit(at + 1),
            ',' => {
                is_number
                    && groups
                    && digit(at.wrapping_sub(1))
                    && (at + 1..at + 4).all(digit)
                    && !digit(at + 4)
            }
            c if c.is_ascii_digit() => true,
            c => {
                is_number &= at == 0 && matches!(c, 'v' | 'V');
                is_letter(c) && !is_unspaced(c)
            }
        };
        groups &= character != '.';
        if !goes_on {
            return at;
        }
    }
    rest.len()
}

fn is_letter(c: char) -> bool {
    c == '_' || letters::is_letter(c)
}

/// Whether a script that does not separate words uses it.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0EFF | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

/// The key of a word. Groups of thousands do not count: `1,234` is `1234`.
pub(super) fn key(text: &str) -> Key {
    let mut state = Mix::default();
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    for character in text.chars() {
        if character.is_ascii() {
            if !(is_number && character == ',') {
                state.add(u64::from(character.to_ascii_lowercase()));
            }
        } else {
            small(character, |lower| state.add(u64::from(u32::from(lower))));
        }
    }
    state.finish()
}

/// The key of two things, one behind the other.
pub(super) fn pair(first: Key, second: Key) -> Key {
    let mut state = Mix(first);
    state.add(second);
    state.finish()
}

#[derive(Clone, Copy, Debug)]
struct Mix(u64);

impl Default for Mix {
    fn default() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }
}

impl Mix {
    const fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }

    const fn finish(self) -> Key {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    }
}
