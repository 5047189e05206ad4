//! Where a text may be parted: never between a letter and the marks that belong to it.

use std::ops::Range;

const JOINER: char = '\u{200d}';

/// The largest stretch inside `range` that neither begins nor ends within a character as a reader sees it.
pub(super) fn settled(text: &str, range: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = range;
    while start < end && is_inside(text, start) {
        start += next(text, start).map_or(1, char::len_utf8);
    }
    while end > start && is_inside(text, end) {
        end -= last(text, end).map_or(1, char::len_utf8);
    }
    start..end
}

fn is_inside(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (last(text, at), next(text, at)) else {
        return false;
    };
    before == JOINER || belongs_to_the_one_before(after)
}

fn last(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

fn next(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

const fn belongs_to_the_one_before(character: char) -> bool {
    matches!(
        character,
        JOINER
            | '\u{0300}'..='\u{036f}'
            | '\u{0591}'..='\u{05bd}'
            | '\u{064b}'..='\u{065f}'
            | '\u{093e}'..='\u{094d}'
            | '\u{0e31}'
            | '\u{0e34}'..='\u{0e3a}'
            | '\u{0e47}'..='\u{0e4e}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{3099}'..='\u{309a}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
            | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0020}'..='\u{e007f}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}
