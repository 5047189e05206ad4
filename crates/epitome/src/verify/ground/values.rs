//! A call as one line, as people and summaries write it: what it is called and the values it is given.

use std::borrow::Cow;

use crate::files;

/// Bytes of a call that are read as one line. What is longer is text that was written, and read line by line.
const HEAD_BYTES: usize = 600;

/// `Read src/main.rs 275 200`: the name of a tool and the values of its arguments, without their names.
pub(super) fn head(name: &str, arguments: &str) -> String {
    let mut line = name.to_owned();
    let mut rest = arguments;
    while line.len() < HEAD_BYTES {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "{}[],:".contains(c));
        let (value, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_at(string_bytes(quoted)),
            None => rest.split_at(rest.find([',', '}', ']']).unwrap_or(rest.len())),
        };
        if rest.is_empty() {
            break;
        }
        let behind = behind.strip_prefix('"').unwrap_or(behind);
        if !behind.trim_start().starts_with(':') {
            line.push(' ');
            plain(value, &mut line);
        }
        rest = behind;
    }
    line
}

/// Bytes before the quote that ends a string.
fn string_bytes(quoted: &str) -> usize {
    let behind = files::behind_string(quoted);
    behind.map_or(quoted.len(), |behind| quoted.len() - behind.len() - 1)
}

/// Longer strings are texts, which are read by themselves without their escapes.
const TEXT_BYTES: usize = 200;

/// Arguments as they are spelled, without the texts in them.
pub(super) fn without_texts(arguments: &str) -> Cow<'_, str> {
    if arguments.len() < TEXT_BYTES || !arguments.trim_start().starts_with(['{', '[']) {
        return Cow::Borrowed(arguments);
    }
    let mut spelled = String::new();
    let mut rest = arguments;
    while let Some(quote) = memchr::memchr(b'"', rest.as_bytes()) {
        let (before, quoted) = rest.split_at(quote + 1);
        spelled.push_str(before);
        let bytes = string_bytes(quoted);
        let (value, behind) = quoted.split_at(bytes);
        if value.len() < TEXT_BYTES || behind.is_empty() {
            spelled.push_str(value);
        }
        let quote = usize::from(!behind.is_empty());
        let (closing, behind) = behind.split_at(quote);
        spelled.push_str(closing);
        rest = behind;
    }
    spelled.push_str(rest);
    Cow::Owned(spelled)
}

/// A value without its escapes, on one line, as far as there is room.
fn plain(value: &str, line: &mut String) {
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if line.len() >= HEAD_BYTES {
            return;
        }
        match character {
            '\\' => match characters.next() {
                Some('n' | 't' | 'r' | 'b' | 'f') | None => line.push(' '),
                Some('u') => {
                    let digits = characters.as_str().get(..4).unwrap_or_default();
                    let unit = u32::from_str_radix(digits, 16).ok();
                    line.push(unit.and_then(char::from_u32).unwrap_or(' '));
                    characters = characters.as_str().get(4..).unwrap_or_default().chars();
                }
                Some(other) => line.push(other),
            },
            other => line.push(other),
        }
    }
}
