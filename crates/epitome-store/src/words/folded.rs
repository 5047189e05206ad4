//! A word without case and accents, as SQLite's index keeps it.

use unicode_normalization::UnicodeNormalization as _;

/// The word in small letters, and those of the Latin alphabet without their accents. Other scripts keep their marks: in them
/// another mark is another letter.
pub(crate) fn folded(word: &str) -> String {
    let mut small = String::new();
    fold_into(word, &mut small);
    small
}

/// The same in the place of what stands in `small`.
pub(super) fn fold_into(word: &str, small: &mut String) {
    small.clear();
    if word.is_ascii() {
        small.push_str(word);
        small.make_ascii_lowercase();
        return;
    }
    let letters = word.chars().flat_map(char::to_lowercase);
    let kept = letters.filter(|one| !super::is_accent(*one));
    small.extend(kept.map(without_accents));
}

fn without_accents(character: char) -> char {
    let base = character.nfd().next();
    base.filter(char::is_ascii_alphabetic).unwrap_or(character)
}
