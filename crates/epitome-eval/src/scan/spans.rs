//! Identifiers that are more than one word: addresses, UUIDs, versions; and the words themselves.

use std::ops::Range;

use crate::ident::Kind;
use crate::text::{is_boundary, is_digit, is_space, is_word, run_end};

const SCHEME: [char; 4] = ['h', 't', 't', 'p'];
const AFTER_SCHEME: [char; 3] = [':', '/', '/'];
/// Hexadecimal digits between the hyphens of a UUID.
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// `http://` or `https://` and what follows, up to a blank, a quote or a closing bracket.
pub(super) fn urls(text: &[char]) -> Vec<Range<usize>> {
    starts(text, |at| {
        let rest = text.get(at..)?.strip_prefix(&SCHEME)?;
        let rest = rest.strip_prefix(&['s']).unwrap_or(rest);
        let rest = rest.strip_prefix(&AFTER_SCHEME)?;
        let from = text.len() - rest.len();
        let end = run_end(text, from, is_in_url);
        (end > from).then_some(end)
    })
}

fn is_in_url(character: char) -> bool {
    !is_space(character)
        && !matches!(
            character,
            '"' | '\'' | '<' | '>' | ')' | ']' | '}' | '`' | '\\' | '|'
        )
}

pub(super) fn uuids(text: &[char]) -> Vec<Range<usize>> {
    starts(text, |at| {
        if !text.get(at).is_some_and(|c| is_hex(*c)) || !is_boundary(text, at) {
            return None;
        }
        let mut end = at;
        for (group, digits) in UUID_GROUPS.into_iter().enumerate() {
            if group > 0 {
                text.get(end).filter(|character| **character == '-')?;
                end += 1;
            }
            let found = text.get(end..end + digits)?;
            if !found.iter().all(|character| is_hex(*character)) {
                return None;
            }
            end += digits;
        }
        is_boundary(text, end).then_some(end)
    })
}

/// Lower-case hexadecimal.
pub(super) const fn is_hex(character: char) -> bool {
    matches!(character, '0'..='9' | 'a'..='f')
}

pub(super) fn emails(text: &[char]) -> Vec<Range<usize>> {
    let is_local = |c: char| is_word(c) || matches!(c, '.' | '+' | '-');
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let local_end = run_end(text, at, is_local);
        let place = after_local(text, local_end).and_then(|end| {
            let start = (at..local_end).find(|start| is_boundary(text, *start))?;
            Some(start..end)
        });
        at = match place {
            Some(place) => {
                let end = place.end;
                found.push(place);
                end
            }
            None => local_end.max(at + 1),
        };
    }
    found
}

/// The end of `@domain.tld`, which begins at `at`.
fn after_local(text: &[char], at: usize) -> Option<usize> {
    text.get(at).filter(|character| **character == '@')?;
    let host_end = run_end(text, at + 1, |c| is_word(c) || c == '-');
    if host_end == at + 1 || text.get(host_end) != Some(&'.') {
        return None;
    }
    let end = run_end(text, host_end + 1, |c| is_word(c) || c == '.');
    (host_end + 2..=end)
        .rev()
        .find(|end| is_boundary(text, *end))
}

/// Numbers joined by dots, with or without a `v`.
pub(super) fn versions(text: &[char]) -> Vec<Range<usize>> {
    starts(text, |at| {
        let first = *text.get(at)?;
        if first != 'v' && !is_digit(first) || !is_boundary(text, at) {
            return None;
        }
        let from = at + usize::from(first == 'v');
        let mut end = run_end(text, from, is_digit);
        if end == from {
            return None;
        }
        let mut last_good = None;
        while text.get(end) == Some(&'.') {
            let next = run_end(text, end + 1, is_digit);
            if next == end + 1 {
                break;
            }
            end = next;
            // Digits that run into letters are not a part of a version.
            if is_boundary(text, end) {
                last_good = Some(end);
            }
        }
        last_good
    })
}

/// Runs of letters, digits and underscores.
pub(super) fn words(text: &[char]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = run_end(text, at, |character| !is_word(character));
        at = run_end(text, start, is_word);
        (start < at).then_some(start..at)
    })
}

/// A code may have a `#` in front, which belongs to it.
pub(super) fn start_with_sign(kind: Kind, text: &[char], start: usize) -> usize {
    match start.checked_sub(1) {
        Some(before) if kind == Kind::Code && text.get(before) == Some(&'#') => before,
        _ => start,
    }
}

/// Matches that do not overlap: at every position the one that `end_at` gives, from left to right.
pub(super) fn starts(text: &[char], end_at: impl Fn(usize) -> Option<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at = match end_at(at) {
            Some(end) => {
                found.push(at..end);
                end
            }
            None => at + 1,
        };
    }
    found
}
