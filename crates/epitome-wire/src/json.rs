//! JSON with positions: every value knows the bytes it was read from.
//!
//! Reading gives borrowed slices; nothing is converted, so nothing can be lost. Strict (RFC 8259), with a
//! depth limit. Only new messages are read this way; known ones are recognised by their digest.

mod compact;
mod number;
mod text;

use std::ops::Range;

pub(crate) use compact::compacted;
pub(crate) use number::same_number_key;
pub use text::{Text, escape, quoted};

/// A JSON value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Value<'a> {
    /// Its bytes, as positions in the text that was read.
    pub range: Range<usize>,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it is spelled.
    Number(&'a str),
    /// A string.
    Text(Text<'a>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object: members in order, repetitions included.
    Object(Vec<(Text<'a>, Value<'a>)>),
}

/// Where and why reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct JsonError {
    /// What was expected or wrong.
    pub what: &'static str,
    /// The byte position.
    pub at: usize,
}

const DEPTH: usize = 128;

/// Reads one value; only white space may follow it.
///
/// # Errors
/// [`JsonError`] says what is wrong and where.
pub fn read(source: &[u8]) -> Result<Value<'_>, JsonError> {
    read_within(source, 0..source.len())
}

/// Reads one value as strictly as [`read`], and keeps its own members or items but nothing inside them: those that are
/// objects or arrays are empty. For who only wants to know what something is.
///
/// # Errors
/// Those of [`read`], for the same texts.
pub fn read_outline(source: &[u8]) -> Result<Value<'_>, JsonError> {
    read_to_depth(source, 0..source.len(), 1)
}

/// Reads the value that fills `range` of `source`; positions refer to `source`.
///
/// # Errors
/// [`JsonError`] says what is wrong and where.
pub fn read_within(source: &[u8], range: Range<usize>) -> Result<Value<'_>, JsonError> {
    read_to_depth(source, range, DEPTH)
}

fn read_to_depth(
    source: &[u8],
    range: Range<usize>,
    kept_depth: usize,
) -> Result<Value<'_>, JsonError> {
    let slice = source.get(range.clone()).unwrap_or_default();
    let text = std::str::from_utf8(slice).map_err(|error| JsonError {
        what: "text that is not UTF-8",
        at: range.start + error.valid_up_to(),
    })?;
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        base: range.start,
        kept_depth,
    };
    reader.space();
    let value = reader.value(0)?;
    reader.space();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.error("more text after the value")),
    }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    base: usize,
    /// How deep what was read is kept.
    kept_depth: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    const fn error(&self, what: &'static str) -> JsonError {
        JsonError {
            what,
            at: self.base + self.at,
        }
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, JsonError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'"') => Kind::Text(self.string()?),
            Some(b'{') if depth < DEPTH => self.object(depth + 1)?,
            Some(b'[') if depth < DEPTH => self.array(depth + 1)?,
            Some(b'{' | b'[') => return Err(self.error("nesting that is too deep")),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Kind::Bool(true))?,
            Some(b'f') => self.word("false", Kind::Bool(false))?,
            Some(b'n') => self.word("null", Kind::Null)?,
            _ => return Err(self.error("no value")),
        };
        Ok(Value {
            range: self.base + start..self.base + self.at,
            kind,
        })
    }

    fn word(&mut self, word: &str, kind: Kind<'a>) -> Result<Kind<'a>, JsonError> {
        if self.slice(self.at..self.at + word.len()) != word {
            return Err(self.error("no value"));
        }
        self.at += word.len();
        Ok(kind)
    }

    fn object(&mut self, depth: usize) -> Result<Kind<'a>, JsonError> {
        self.at += 1;
        let mut members = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Object(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.error("no member name"));
            }
            let name = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.error("no colon after a member name"));
            }
            self.at += 1;
            self.space();
            let value = self.value(depth)?;
            if depth <= self.kept_depth {
                members.push((name, value));
            }
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Kind::Object(members));
                }
                _ => return Err(self.error("an object that does not end")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind<'a>, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Array(items));
        }
        loop {
            self.space();
            let value = self.value(depth)?;
            if depth <= self.kept_depth {
                items.push(value);
            }
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Kind::Array(items));
                }
                _ => return Err(self.error("an array that does not end")),
            }
        }
    }

    fn number(&mut self) -> Result<Kind<'a>, JsonError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(self.error("a number without digits")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(Kind::Number(self.slice(start..self.at)))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error("a number without digits"));
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Text<'a>, JsonError> {
        let start = self.at + 1;
        let mut escaped = false;
        self.at = start;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let near = rest.iter().take(NEAR_BYTES);
            let near = near.take_while(|byte| is_plain(**byte)).count();
            if !matches!(rest.get(near), Some(b'"' | b'\\')) {
                let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
                    self.at = self.bytes.len();
                    return Err(self.error("a string that does not end"));
                };
                // To the end without stopping, so that many bytes are compared at once.
                let plain = rest.get(..found).unwrap_or_default();
                if plain.iter().fold(false, |has, byte| has | (*byte < 0x20)) {
                    return Err(self.error("a control character in a string"));
                }
                self.at += found;
            } else {
                self.at += near;
            }
            if self.peek() == Some(b'"') {
                let raw = self.slice(start..self.at);
                self.at += 1;
                return Ok(Text::new(raw, self.base + start, escaped));
            }
            escaped = true;
            self.escape()?;
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let digits = self.bytes.get(self.at + 1..self.at + 5).unwrap_or_default();
                if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(self.error("a broken \\u escape"));
                }
                self.at += 5;
            }
            _ => return Err(self.error("an unknown escape")),
        }
        Ok(())
    }
}

/// So many bytes of a string are looked at one by one first: in code and in JSON inside JSON the next escape is near.
const NEAR_BYTES: usize = 16;

/// Whether a byte stands for itself in a string.
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut byte = 0;
    while byte < plain.len() {
        // The loop keeps within the table; a constant cannot use anything else.
        #[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
        {
            plain[byte] = !matches!(byte as u8, b'"' | b'\\' | 0..0x20);
        }
        byte += 1;
    }
    plain
};

#[inline]
fn is_plain(byte: u8) -> bool {
    PLAIN.get(usize::from(byte)).copied().unwrap_or_default()
}

impl<'a> Value<'a> {
    /// The value of a member; the last one where a name is repeated, as most readers do.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.members()
            .iter()
            .rev()
            .find(|(key, _)| key.is(name))
            .map(|(_, value)| value)
    }

    /// The members, if it is an object.
    #[must_use]
    pub fn members(&self) -> &[(Text<'a>, Self)] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// The items, if it is an array.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::Array(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is a string.
    #[must_use]
    pub const fn as_text(&self) -> Option<&Text<'a>> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The decoded text of a member that is a string.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.get(name).and_then(Self::as_text).map(Text::decode)
    }

    /// The member as a whole number.
    #[must_use]
    pub fn whole_number(&self, name: &str) -> Option<u64> {
        match self.get(name)?.kind {
            Kind::Number(number) => number
                .parse()
                .ok()
                .or_else(|| number.parse::<f64>().ok().map(|n| n.max(0.0) as u64)),
            _ => None,
        }
    }

    /// Whether it is `null`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }
}
