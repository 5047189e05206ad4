//! How OpenAI's encodings take a text apart before they encode it: letters with a mark before them, up to three
//! digits, signs, line ends, white space.

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input, PatternID};

/// What a word may be in the newer encoding, in order of preference.
pub(super) const O200K: [&str; 6] = [
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+$",
];
/// The same in the older one.
pub(super) const CL100K: [&str; 6] = [
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    r"[^\r\n\p{L}\p{N}]?\p{L}+",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"\s*[\r\n]+",
    r"\s+$",
];
/// White space before a word: its last character belongs to the word. Both encodings say so with a look-ahead, which
/// this pattern does by a character too many.
const SPACE_BEFORE: &str = r"\s+\s";
const SPACE_BEFORE_ID: PatternID = PatternID::new_unchecked(1);
const SPACE: &str = r"\s+";

#[derive(Debug)]
pub(super) struct Splitter {
    regex: Regex,
}

impl Splitter {
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants, and a test compiles each"
    )]
    pub(super) fn new(alternatives: &[&str]) -> Self {
        let patterns = [&alternatives.join("|"), SPACE_BEFORE, SPACE];
        Self {
            regex: Regex::new_many(&patterns).expect("patterns of ours"),
        }
    }

    /// The words of a text; laid end to end they are the text.
    pub(super) fn words<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
            let input = Input::new(text).range(at..).anchored(Anchored::Yes);
            let word = match self.regex.search(&input) {
                Some(found) if found.pattern() == SPACE_BEFORE_ID => {
                    let with_next = text.get(found.range()).unwrap_or(rest);
                    let last = with_next.chars().next_back().map_or(0, char::len_utf8);
                    with_next.get(..with_next.len() - last).unwrap_or(with_next)
                }
                Some(found) => text.get(found.range()).unwrap_or(rest),
                // Every character is a letter, a number, white space or a sign; should one be none, it ends the text.
                None => rest,
            };
            at += word.len().max(1);
            Some(word)
        })
    }
}
