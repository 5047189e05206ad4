//! Whether the source supports a mark: verbatim, as the end of a path, with a line, elided, or as a dotted join.

use super::ground::Ground;
use super::mark::{AnchorKind, Mark, is_file};
use super::number::Number;
use super::word::{Key, Word, words};

/// What the source says about a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    /// It has it.
    Given,
    /// It does not have it.
    Lacking,
    /// It cannot tell: a small number that counts something of its own.
    Open,
}

impl Support {
    pub(super) const fn of(given: bool) -> Self {
        if given { Self::Given } else { Self::Lacking }
    }
}

/// Where a mark stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    /// The line.
    pub(super) line: &'a str,
    /// Its words, if it has numbers.
    pub(super) words: &'a [Word<'a>],
    /// Words of the files that this line and those before it are about.
    pub(super) scope: &'a [Key],
}

/// Asks `ground` about a mark.
pub(super) fn support(ground: &Ground, mark: &Mark<'_>, place: Surroundings<'_>) -> Support {
    if mark.kind == AnchorKind::Number {
        return Number::new(mark, place).support(ground);
    }
    let mut found: Vec<Word<'_>> = words(mark.text).collect();
    if mark.is_cut {
        // Nobody knows how the last word ends.
        found.pop();
    }
    Support::of(match mark.kind {
        AnchorKind::Path => path(ground, mark.text, &found),
        AnchorKind::Identifier => identifier(ground, mark.text, &found),
        AnchorKind::Url | AnchorKind::Number => {
            breaks(ground, &found).is_some_and(|breaks| breaks.is_empty())
        }
    })
}

/// The places where two words that the source has do not stand next to each other in it; `None` when it lacks a word.
fn breaks(ground: &Ground, found: &[Word<'_>]) -> Option<Vec<usize>> {
    let is_known = |word: &Word<'_>| ground.knows(word.key) || ground.knows_part(word.key);
    if !found.iter().all(is_known) {
        return None;
    }
    let gaps = found.windows(2).enumerate().filter(|(_, two)| match two {
        [first, second] => !ground.has_pair(first.key, second.key),
        _ => false,
    });
    Some(gaps.map(|(at, _)| at + 1).collect())
}

/// A path may be put together from a folder and what was named inside it: one joint, not inside the name of the file.
fn path(ground: &Ground, text: &str, found: &[Word<'_>]) -> bool {
    let Some(breaks) = breaks(ground, found) else {
        return false;
    };
    let name = text.trim_end_matches('/').rsplit('/').next();
    let name = name.unwrap_or(text);
    let name_words = words(name).count();
    match breaks.as_slice() {
        [] => true,
        [joint] => {
            let is_inside_name = *joint + name_words > found.len();
            let joins_file = !is_file(name) || *joint + name_words == found.len();
            !is_inside_name && (joins_file || found.len() > name_words + 2)
        }
        _ => false,
    }
}

fn identifier(ground: &Ground, text: &str, found: &[Word<'_>]) -> bool {
    let Some(breaks) = breaks(ground, found) else {
        return false;
    };
    let is_join = text.contains('.') || text.contains("::") || text.contains('@');
    breaks.is_empty() || is_join
}
