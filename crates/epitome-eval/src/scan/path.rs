//! Paths with slashes, and bare file names known by their ending.

use std::ops::Range;

use crate::ident::is_extension;
use crate::text::{is_boundary, is_word, run_end};

/// Paths and file names, from left to right.
pub(super) fn paths(text: &[char]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    // Long runs without a slash are common; their end is looked for once, not once for every start in them.
    let mut stretch_end = 0;
    while at < text.len() {
        if stretch_end <= at {
            stretch_end = run_end(text, at, is_component);
        }
        // A stretch that no slash follows has no path in it, but for a drive.
        let may_be_slashed = stretch_end == at || matches!(text.get(stretch_end), Some('/' | ':'));
        let path = if may_be_slashed {
            slashed(text, at, stretch_end)
        } else {
            None
        };
        at = match path.or_else(|| file_name(text, at)) {
            Some(end) => {
                found.push(at..end);
                stretch_end = 0;
                end
            }
            None => at + 1,
        };
    }
    found
}

fn is_component(character: char) -> bool {
    is_word(character) || matches!(character, '.' | '@' | '+' | '-')
}

/// The end of a path with at least one slash inside that begins at `at`: a drive, a `~` or dots and a slash may
/// come first, as much of them as leaves a path behind.
fn slashed(text: &[char], at: usize, stretch_end: usize) -> Option<usize> {
    let character = |at: usize| text.get(at).copied();
    let first = character(at)?;
    if !is_component(first) && !matches!(first, '/' | '~') {
        return None;
    }
    let has_drive =
        character(at).is_some_and(|c| c.is_ascii_alphabetic()) && character(at + 1) == Some(':');
    let after_drive = has_drive.then_some(at + 2);
    let after_dots = |at: usize| {
        let shortest = match (character(at), character(at + 1)) {
            (Some('~'), _) => [None, Some(at + 1)],
            (Some('.'), Some('.')) => [Some(at + 2), Some(at + 1)],
            (Some('.'), _) => [None, Some(at + 1)],
            _ => [None, None],
        };
        shortest.into_iter().flatten().chain([at])
    };
    let after_slash = |at: usize| {
        let behind = (character(at) == Some('/')).then_some(at + 1);
        behind.into_iter().chain([at])
    };
    after_drive
        .into_iter()
        .chain([at])
        .flat_map(after_dots)
        .flat_map(after_slash)
        .filter(|from| *from >= stretch_end || character(stretch_end) == Some('/'))
        .find_map(|from| components(text, from))
}

/// The end of `a/b/c`, which begins at `from`. It ends in a word: what follows the last slash may be too little.
fn components(text: &[char], from: usize) -> Option<usize> {
    let mut last_starts = Vec::new();
    let mut at = from;
    loop {
        let end = run_end(text, at, is_component);
        if end == at || text.get(end) != Some(&'/') {
            break;
        }
        at = end + 1;
        last_starts.push(at);
    }
    last_starts.into_iter().rev().find_map(|start| {
        let end = run_end(text, start, is_component);
        (start..end)
            .rev()
            .find(|at| text.get(*at).is_some_and(|c| is_word(*c)))
            .map(|last| last + 1)
    })
}

/// The end of a file name that begins at `at`.
fn file_name(text: &[char], at: usize) -> Option<usize> {
    if !text.get(at).is_some_and(|c| is_word(*c)) || !is_boundary(text, at) {
        return None;
    }
    let end = run_end(text, at, |c| is_word(c) || matches!(c, '.' | '-'));
    (at + 1..end)
        .rev()
        .filter(|dot| text.get(*dot) == Some(&'.'))
        .find_map(|dot| {
            let ending_end = run_end(text, dot + 1, is_word);
            let ending: String = text.get(dot + 1..ending_end)?.iter().collect();
            is_extension(&ending).then_some(ending_end)
        })
}
