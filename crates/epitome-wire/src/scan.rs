//! One linear scan of a body: where its top-level members and its messages stand.
//!
//! Nothing is decoded. Inside a value only strings and brackets are followed, so the scan runs at memory
//! speed; every message that is not known yet is read strictly afterwards.

use std::ops::Range;

use crate::json::JsonError;

/// Follows a JSON text from value to value.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(crate) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) const fn error(&self, what: &'static str) -> JsonError {
        JsonError { what, at: self.at }
    }

    /// Steps over `byte`, or fails.
    pub(crate) fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), JsonError> {
        if self.peek() != Some(byte) {
            return Err(self.error(what));
        }
        self.at += 1;
        Ok(())
    }

    /// Steps over `byte` if it is next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over a string; returns where its contents stand.
    pub(crate) fn string(&mut self) -> Result<Range<usize>, JsonError> {
        self.expect(b'"', "no string")?;
        let start = self.at;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(found) = memchr::memchr(b'"', rest) else {
                return Err(self.error("a string that does not end"));
            };
            let quote = self.at + found;
            self.at = quote + 1;
            let inside = self.bytes.get(start..quote).unwrap_or_default();
            let slashes = inside
                .iter()
                .rev()
                .take_while(|byte| **byte == b'\\')
                .count();
            if slashes % 2 == 0 {
                return Ok(start..quote);
            }
        }
    }

    /// Steps over a value of any kind; returns where it stands.
    pub(crate) fn value(&mut self) -> Result<Range<usize>, JsonError> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b',' | b':' | b' ' | b'\n' | b'\r' | b'\t') if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some(byte) if is_word(byte) => {
                    while self.peek().is_some_and(is_word) {
                        self.at += 1;
                    }
                }
                _ => return Err(self.error("no value")),
            }
            if depth == 0 {
                return Ok(start..self.at);
            }
        }
    }

    /// Steps over an array; returns where each of its items stands.
    pub(crate) fn items(&mut self) -> Result<Vec<Range<usize>>, JsonError> {
        self.expect(b'[', "no array")?;
        let mut items = Vec::new();
        self.space();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            self.space();
            items.push(self.value()?);
            self.space();
            if self.take(b']') {
                return Ok(items);
            }
            self.expect(b',', "an array that does not end")?;
        }
    }
}

const fn is_word(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.')
}
