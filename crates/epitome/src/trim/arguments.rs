//! The arguments of a call in fewer words: long strings inside them are cut in the middle, so that what was JSON is JSON.

use std::ops::Range;

use super::{Kept, patch};
use crate::meter::Meter;

/// Of a string that is cut, at least this many characters stay.
const LEAST_CHARS: usize = 24;
/// Of what stays of a string, this part is its end.
const END_PART: usize = 3;

/// The arguments in at most `tokens`, as far as that goes.
pub(crate) fn within(arguments: &str, tokens: u64, meter: Meter) -> String {
    let Some(strings) = strings(arguments) else {
        return match patch::is_patch(arguments) {
            true => patch::within(arguments, tokens, meter),
            false => Kept::within(arguments, tokens, meter).of(arguments),
        };
    };
    let longest = strings.iter().map(Range::len).max().unwrap_or(0);
    let (mut low, mut high) = (LEAST_CHARS, longest.max(LEAST_CHARS));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match meter.text(&cut(arguments, &strings, middle)) <= tokens {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    cut(arguments, &strings, low)
}

/// The arguments as short as they can be.
pub(crate) fn shortest(arguments: &str, least_tokens: u64, meter: Meter) -> String {
    match strings(arguments) {
        Some(strings) => cut(arguments, &strings, LEAST_CHARS),
        None => Kept::within(arguments, least_tokens, meter).of(arguments),
    }
}

/// The sign for what was left out. It has no character that JSON would spell otherwise.
fn marker(omitted_chars: usize) -> String {
    format!(" [… {omitted_chars} characters left out …] ")
}

/// Where the contents of the strings stand that are values, in bytes; `None` where this is no JSON.
fn strings(arguments: &str) -> Option<Vec<Range<usize>>> {
    if !arguments.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let bytes = arguments.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = position(bytes, at, |byte| byte == b'"').map(|quote| quote + 1) {
        let mut end = start;
        loop {
            end = position(bytes, end, |byte| matches!(byte, b'"' | b'\\'))?;
            match bytes.get(end) {
                Some(b'\\') => end += 2,
                _ => break,
            }
        }
        at = end + 1;
        let next = position(bytes, at, |byte| !byte.is_ascii_whitespace());
        let is_name = next.and_then(|next| bytes.get(next)) == Some(&b':');
        if !is_name {
            found.push(start..end);
        }
    }
    Some(found)
}

fn position(bytes: &[u8], from: usize, is: impl Fn(u8) -> bool) -> Option<usize> {
    let found = bytes.get(from..)?.iter().position(|byte| is(*byte))?;
    Some(from + found)
}

/// The arguments with at most `chars` characters of every string, as they are spelled.
fn cut(arguments: &str, strings: &[Range<usize>], chars: usize) -> String {
    let mut out = String::new();
    let mut from = 0;
    for range in strings {
        let Some(gap) = gap(arguments, range.clone(), chars) else {
            continue;
        };
        let gone = arguments.get(gap.clone()).unwrap_or_default();
        out.push_str(arguments.get(from..gap.start).unwrap_or_default());
        out.push_str(&marker(gone.chars().count()));
        from = gap.end;
    }
    out.push_str(arguments.get(from..).unwrap_or_default());
    out
}

/// What goes of a string, never a part of an escape; nothing where the sign for it would take as much.
fn gap(arguments: &str, range: Range<usize>, chars: usize) -> Option<Range<usize>> {
    let text = arguments.get(range.clone())?;
    if text.len() <= chars {
        return None;
    }
    let all = text.chars().count();
    let (head_chars, tail_chars) = (chars - chars / END_PART, chars / END_PART);
    let mut head = None;
    let mut borders = borders(text);
    let tail = borders.find(|(at, before)| {
        if *before <= head_chars {
            head = Some((*at, *before));
        }
        all - before <= tail_chars
    });
    let (start, before) = head?;
    let (end, until) = tail.unwrap_or((text.len(), all));
    let gone = until.checked_sub(before)?;
    (gone > marker(gone).chars().count()).then_some(range.start + start..range.start + end)
}

/// Where a string may be cut: its bytes and its characters before each such place.
fn borders(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut characters = text.char_indices().enumerate();
    // A pair of escapes that is one character stays together.
    let mut is_half = false;
    std::iter::from_fn(move || {
        loop {
            let (before, (at, character)) = characters.next()?;
            let is_border = !is_half;
            is_half = false;
            if character == '\\' && matches!(characters.next(), Some((_, (_, 'u')))) {
                let digits = characters.by_ref().take(4);
                let digits: String = digits.map(|(_, (_, one))| one).collect();
                let unit = u32::from_str_radix(&digits, 16).unwrap_or_default();
                is_half = (0xD800..0xDC00).contains(&unit);
            }
            if is_border {
                return Some((at, before));
            }
        }
    })
}
