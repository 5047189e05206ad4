//! Strings: raw, decoded, escaped, and where they may be cut.

use std::borrow::Cow;
use std::ops::Range;

/// A JSON string as it is spelled, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    raw: &'a str,
    start: usize,
    is_escaped: bool,
}

impl<'a> Text<'a> {
    pub(crate) const fn new(raw: &'a str, start: usize, is_escaped: bool) -> Self {
        Self {
            raw,
            start,
            is_escaped,
        }
    }

    /// Where its contents stand, quotes excluded.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start..self.start + self.raw.len()
    }

    /// Whether it says `text`.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        if self.is_escaped {
            self.decode() == text
        } else {
            self.raw == text
        }
    }

    /// What it says. A lone surrogate, which no text can hold, becomes U+FFFD.
    #[must_use]
    pub fn decode(&self) -> Cow<'a, str> {
        if !self.is_escaped {
            return Cow::Borrowed(self.raw);
        }
        let mut out = String::with_capacity(self.raw.len());
        for piece in self.pieces() {
            match piece.unit {
                Unit::Plain(text) => out.push_str(text),
                Unit::Char(character) => out.push(character),
                Unit::LoneSurrogate(_) => out.push(char::REPLACEMENT_CHARACTER),
            }
        }
        Cow::Owned(out)
    }

    /// What it says as bytes that are equal exactly when the strings are: UTF-8, with lone surrogates in
    /// the generalised form.
    #[must_use]
    pub fn decode_exact(&self) -> Cow<'a, [u8]> {
        if !self.is_escaped {
            return Cow::Borrowed(self.raw.as_bytes());
        }
        let mut out = Vec::with_capacity(self.raw.len());
        for piece in self.pieces() {
            match piece.unit {
                Unit::Plain(text) => out.extend_from_slice(text.as_bytes()),
                Unit::Char(character) => {
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Unit::LoneSurrogate(unit) => out.extend_from_slice(&[
                    0xE0 | (unit >> 12) as u8,
                    0x80 | ((unit >> 6) & 0x3F) as u8,
                    0x80 | (unit & 0x3F) as u8,
                ]),
            }
        }
        Cow::Owned(out)
    }

    /// The position in the source before decoded character `index`, never inside an escape; the end of the
    /// string when there are fewer characters.
    #[must_use]
    pub fn position_of_char(&self, index: usize) -> usize {
        let end = self.start + self.raw.len();
        self.positions_of_chars([index]).next().unwrap_or(end)
    }

    /// As [`Text::position_of_char`], for many characters in one pass; `indices` never fall.
    pub fn positions_of_chars(
        &self,
        indices: impl IntoIterator<Item = usize>,
    ) -> impl Iterator<Item = usize> {
        let end = self.start + self.raw.len();
        let mut borders = self.borders().enumerate().peekable();
        indices.into_iter().map(move |index| {
            while borders.next_if(|(at, _)| *at < index).is_some() {}
            borders.peek().map_or(end, |(_, position)| *position)
        })
    }

    /// Where each decoded character begins in the source.
    fn borders(&self) -> impl Iterator<Item = usize> {
        let start = self.start;
        self.pieces().flat_map(move |piece| {
            let text = match piece.unit {
                Unit::Plain(text) => text,
                // An escape is one character, wherever it is spelled.
                Unit::Char(_) | Unit::LoneSurrogate(_) => "\\",
            };
            text.char_indices()
                .map(move |(at, _)| start + piece.at + at)
        })
    }

    const fn pieces(&self) -> Pieces<'a> {
        Pieces {
            raw: self.raw,
            at: 0,
        }
    }
}

struct Piece<'a> {
    at: usize,
    unit: Unit<'a>,
}

enum Unit<'a> {
    Plain(&'a str),
    Char(char),
    LoneSurrogate(u16),
}

struct Pieces<'a> {
    raw: &'a str,
    at: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = self.raw.get(self.at..).filter(|rest| !rest.is_empty())?;
        let at = self.at;
        let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        if plain > 0 {
            self.at += plain;
            let unit = Unit::Plain(rest.get(..plain).unwrap_or_default());
            return Some(Piece { at, unit });
        }
        let (unit, length) = escaped_unit(rest);
        self.at += length;
        Some(Piece { at, unit })
    }
}

/// The character an escape stands for, and the length of its spelling. The reader has checked the form.
fn escaped_unit(rest: &str) -> (Unit<'_>, usize) {
    let simple = |character| (Unit::Char(character), 2);
    match rest.as_bytes().get(1) {
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => {
            let high = hex(rest, 2);
            if (0xD800..0xDC00).contains(&high) && rest.get(6..8) == Some("\\u") {
                let low = hex(rest, 8);
                let pair = char::decode_utf16([high, low]).next().and_then(Result::ok);
                if let Some(character) = pair {
                    return (Unit::Char(character), 12);
                }
            }
            match char::from_u32(u32::from(high)) {
                Some(character) => (Unit::Char(character), 6),
                None => (Unit::LoneSurrogate(high), 6),
            }
        }
        Some(other) => simple(char::from(*other)),
        None => (Unit::Char('\\'), 1),
    }
}

fn hex(rest: &str, at: usize) -> u16 {
    rest.get(at..at + 4)
        .and_then(|digits| u16::from_str_radix(digits, 16).ok())
        .unwrap_or(0)
}

/// A text as a JSON string, quotes included.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut bytes = vec![b'"'];
    escape(text, &mut bytes);
    bytes.push(b'"');
    String::from_utf8(bytes).unwrap_or_default()
}

/// Appends `text` as the contents of a JSON string, quotes excluded. What needs no escape is copied as it is.
pub fn escape(text: &str, out: &mut Vec<u8>) {
    let needs_escape = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
    let mut rest = text.as_bytes();
    out.reserve(rest.len());
    while let Some(at) = rest.iter().position(needs_escape) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        match special.first() {
            Some(b'"') => out.extend_from_slice(b"\\\""),
            Some(b'\\') => out.extend_from_slice(b"\\\\"),
            Some(b'\n') => out.extend_from_slice(b"\\n"),
            Some(b'\r') => out.extend_from_slice(b"\\r"),
            Some(b'\t') => out.extend_from_slice(b"\\t"),
            Some(control) => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
            None => {}
        }
        rest = special.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}
